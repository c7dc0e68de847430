package gallery

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"countersign/views/highlight"
	"countersign/views/ui"
)

// componentStates are what pages are made of, by itself.
func componentStates() []State {
	part := func(name, note string, c templ.Component) State {
		return State{Page: "component", Name: name, Note: note, Part: true, Component: c}
	}
	return []State{
		part(Usual, "Badges, notices, warnings, empty places, secrets, untrusted text, times", words()),
		part("fields", "Fields with help and errors, buttons, a question before an act, a table", fields()),
		part("source", "Source text: short, none, folded, one long line, hostile, to be opened before approving",
			blocks(sources())),
		part("diffs", "Changes: a line, an added and an emptied file, a patch, many, hostile", blocks(diffs())),
		part("trees", "JSON as a tree: types, lengths, depth, hostile names", blocks(trees())),
		part("addresses", "Addresses: plain, user and port, look-alike letters", blocks(addresses())),
		part("markdown", "Everything that Markdown is laid out as, and what it may not do", markdown(everything)),
	}
}

const everything = "# A title\n\n## Below it\n\nA *word*, a **strong** one, `code`, [a link](https://example.org/a?b=c) and ![a picture](https://example.org/x.png).\n\n" +
	"- one\n- two\n  1. inside\n\n> said before\n\n```go\nfunc main() {}\n```\n\n| what | how many |\n|-|-:|\n| logs | 12 |\n\n---\n\n" +
	"<script>alert(1)</script> [no](javascript:alert(1)) " + hostile + "\n"

func sources() []ui.Block {
	lines := make([]string, 90)
	for i := range lines {
		lines[i] = "line " + strconv.Itoa(i+1)
	}
	many := strings.Join(lines, "\n")
	return []ui.Block{
		{Code: ui.Code{
			ID: "short", Label: "A command", Text: "rm -rf build/ && git push --force origin main # \"done\"",
			Language: highlight.LanguageOf("x.sh"),
		}},
		{Code: ui.Code{ID: "none", Label: "Nothing"}},
		{Code: ui.Code{ID: "folded", Label: "Many lines", Text: many, Numbers: true}},
		{Code: ui.Code{ID: "line", Label: "One long line", Text: strings.Repeat("0123456789abcdef", 500)}},
		{Code: ui.Code{ID: "hostile", Label: "Hostile", Text: hostile + "\n" + hostile, Numbers: true}},
		{Code: ui.Code{ID: "closed", Label: "To be opened first", Text: many, Part: "command", OpenURL: "/dev/gallery"}},
		{Code: ui.Code{ID: "opened", Label: "Opened", Text: many, Part: "command", OpenURL: "/dev/gallery", Opened: true}},
		{Code: ui.Code{
			ID: "go", Label: "In colour",
			Text:     "package main\n\n// main says so.\nfunc main() {\n\tprintln(\"hello\", 1.5)\n}\n",
			Language: highlight.LanguageOf("main.go"), Numbers: true,
		}},
	}
}

func diffs() []ui.Block {
	long := strings.Repeat("the same\n", 40)
	patch := "--- a/pay.go\n+++ b/pay.go\n@@ -1,3 +1,3 @@ func Round\n one\n-two\n+three\n four\n"
	read, _ := ui.NewPatch(patch)
	return []ui.Block{
		ui.DiffOf("A line", "func Round(x float64) int {\n\treturn int(x)\n}\n",
			"func Round(x float64) int {\n\treturn int(math.Round(x))\n}\n"),
		ui.DiffOf("A fresh file", "", "one\ntwo\n"),
		ui.DiffOf("Emptied", "one\ntwo\n", ""),
		ui.DiffOf("The same", "one\n", "one\n"),
		ui.DiffOf("Far apart", "first\n"+long+"last\n", "1st\n"+long+strings.Repeat("unbroken", 60)+"\n"),
		ui.DiffOf("Hostile", "safe\n", hostile+"\n"),
		{Code: ui.Code{Label: "A patch", Text: patch}, Diff: read},
	}
}

func trees() []ui.Block {
	deep := strings.Repeat(`{"a":`, 20) + `[1]` + strings.Repeat(`}`, 20)
	var out []ui.Block
	for _, t := range [][2]string{
		{
			"Every type",
			`{"amount":120.00,"big":9007199254740993,"empty":{},"list":[1,"two",null,true,[]],"long":"` +
				strings.Repeat("at length ", 60) + `","note":""}`,
		},
		{"Deep", deep},
		{"Hostile", `{"\u202ekey":"safe \u202egnp.exe","<b>":"</pre><script>alert(1)</script>"}`},
	} {
		tree, _ := ui.NewTree([]byte(t[1]))
		out = append(out, ui.Block{Code: ui.Code{Label: t[0], Text: t[1]}, Tree: tree})
	}
	return out
}

func addresses() []ui.Block {
	var out []ui.Block
	for _, text := range []string{
		"https://example.org/path?q=1#top", "http://user:pass@example.org:8443/", "https://ex\u0430mple.org/",
		"https://example.org@evil.example/" + strings.Repeat("long/", 60), "http://127.0.0.1/\u202Egnp.exe",
	} {
		a, _ := ui.NewAddress(text)
		out = append(out, ui.Block{Code: ui.Code{Label: "Address", Text: text}, Address: a})
	}
	return out
}
