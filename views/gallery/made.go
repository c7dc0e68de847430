package gallery

import (
	"strings"

	"countersign/models"
	"countersign/views/pages/requests"
)

// madeStates are requests whose input is shown made for the tool's kind.
func madeStates() []State {
	page := func(name, note string, risk models.Risk, tool, input string, mend ...func(*requests.Input)) State {
		a := Call(tool, input, func(a *models.Approval) { a.Risk = risk })
		return State{Page: "approval", Name: name, Note: note, Component: approvalPage(a, mend...)}
	}
	opened := func(parts ...string) func(*requests.Input) {
		return func(in *requests.Input) { in.Opened = parts }
	}
	lines := strings.Repeat(`\tsum += price // of one\n`, 30)
	edit := `{"file_path":"shop/pay.go","old_string":"func Sum() int {\n` + lines +
		`\treturn sum\n}","new_string":"func Sum() float64 {\n` + lines + `\treturn sum // \u202Enot rounded\n}"}`
	command := `{"command":"` + strings.Repeat(`if [ -f \"$x\" ]; then rm -rf 'a b' # gone\nfi\n`, 40) +
		`git push --force"}`
	return []State{
		page("code", "A program of several lines, in colour", models.RiskMedium, "Bash",
			`{"command":"for f in $(ls build/); do\n  rm -rf \"build/$f\" # all of it\ndone\ngit push --force origin main && echo 'done' 12","timeout":120000}`),
		page("sql", "A query and where it goes", models.RiskMedium, "query",
			`{"sql":"SELECT a.b, count(*) FROM accounts AS a\nWHERE a.owner = 'O''Neil' -- all\nGROUP BY 1;","database":"postgres://reports@db.example.org:5432/shop"}`),
		page("change", "A change with much that stays, which folds", models.RiskMedium, "Edit", edit),
		page("change-shut", "High risk: what is folded must be opened by a POST first", models.RiskHigh, "Edit", edit),
		page("change-opened", "High risk, and all of it was opened", models.RiskHigh, "Edit", edit,
			opened("block-1", "source")),
		page("long-shut", "Critical: the end of a command must be opened first", models.RiskCritical, "Bash", command),
		page("long-opened", "Critical, and all of it was opened", models.RiskCritical, "Bash", command,
			opened("block-1", "source")),
		page("file", "A new file", models.RiskLow, "Write",
			`{"file_path":"shop/pay.py","content":"def total(prices):\n    \"\"\"All of it.\"\"\"\n    return sum(p for p in prices if p > 0)  # @\n"}`),
		page("edits", "Several changes of one file", models.RiskLow, "MultiEdit",
			`{"file_path":"a.ts","edits":[{"old_string":"const a = 1;","new_string":"const a: number = 2;"},{"old_string":"old();\n","new_string":""}]}`),
		page("patch", "A patch of two files", models.RiskMedium, "apply_patch",
			`{"patch":"diff --git a/x.go b/x.go\nindex 1..2 100644\n--- a/x.go\n+++ b/x.go\n@@ -10,3 +10,4 @@ func f() int {\n \tif a {\n-\t\treturn 1\n+\t\treturn 2\n+\t}\n \n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n"}`),
		page("patch-loose", "A patch as coding agents write them", models.RiskMedium, "apply_patch",
			`{"input":"*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    pass\n+    return 1\n*** Add File: b.txt\n+hello\n*** End Patch\n"}`),
		page("address", "A URL with a name before a host that looks like another", models.RiskHigh, "fetch",
			`{"url":"https://ada:secret@xn--80ak6aa92e.com:8443/login?next=/x#a","method":"POST"}`),
		page("tree", "JSON with all types, laid out", models.RiskMedium, "submit",
			`{"amount":120.00,"big":9007199254740993,"to":{"name":"ACME SA","iban":"CH93 0076"},"lines":[{"n":1,"text":"`+strings.Repeat("long ", 200)+`"},null,true,false,[],{}],"empty":"","k\u202Ey":"<b>"}`),
		page("many-values", "More values than a tree shows", models.RiskLow, "submit",
			`{"values":[`+strings.Repeat("1,", 2000)+`1]}`),
	}
}
