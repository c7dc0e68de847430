package inputs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
	"countersign/views/pages/inputs"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

// input is JSON of pairs of a member and its value.
func input(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, ",%q:%s", pairs[i], value)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// kindOf says in a word how a block is shown.
func kindOf(v requests.Approval, i int) string {
	switch b := v.Blocks[i]; {
	case b.Diff != nil:
		return b.Label + " " + b.Diff.Count()
	case b.Address != nil:
		return b.Label + " at " + b.Address.Host
	case b.Card != nil:
		return b.Label + ", a card"
	case b.Tree != nil:
		return b.Label + ", " + b.Tree.Root.Kind
	default:
		return b.Label + " in " + b.Language
	}
}

func TestInputIsMadeForItsKind(t *testing.T) {
	t.Parallel()
	patch := "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
	for _, tt := range []struct {
		name, tool, input string
		want              []string
	}{
		{"a command", "Bash", input("command", "ls", "description", "list"), []string{"command in bash", "Other fields, object of 1"}},
		{"a command of a tool that says no language", "run", input("command", "ls"), []string{"command in Bash"}},
		{"a command as a list", "shell", input("command", []string{"bash", "-lc", "rm 'a b'"}), []string{"command, a list, quoted in bash"}},
		{"another shell", "PowerShell", input("command", "ls"), []string{"command in powershell"}},
		{"SQL", "db", input("sql", "select 1", "url", "postgres://db.example/x"), []string{"sql in SQL", "url at db.example"}},
		{"a search is no SQL", "search", input("query", "select committee reports from 2020"[7:]), []string{"query in "}},
		{"code in its language", "run", input("code", "x = 1", "language", "python"), []string{"code in python", "Other fields, object of 1"}},
		{"code in another language than the tool's", "run_python", input("code", "x -- y", "language", "sql"), []string{"code in ", "Other fields, object of 1"}},
		{"a script of any language", "browser", input("script", "x -- y"), []string{"script in "}},
		{"an edit", "Edit", input("file_path", "a.go", "old_string", "a\nb", "new_string", "a\nc\nd"), []string{"a.go +2 −1"}},
		{"an edit everywhere", "Edit", input("file_path", "a.go", "old_string", "a", "new_string", "b", "replace_all", true), []string{"a.go, every occurrence +1 −1", "Other fields, object of 1"}},
		{"edits", "MultiEdit", input("file_path", "a.go", "edits", []map[string]string{{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}}), []string{"a.go +1 −2"}},
		{"an editor's command is no program", "str_replace_based_edit_tool", input("command", "str_replace", "path", "a.go", "old_str", "a", "new_str", "b"), []string{"a.go +1 −1", "Other fields, object of 1"}},
		{"an insertion", "editor", input("command", "insert", "path", "a.go", "insert_line", 4, "insert_text", "x\n"), []string{"a.go, inserted after line 4 +1 −0", "Other fields, object of 2"}},
		{"a new file", "Write", input("file_path", "a.go", "content", "package a\n\nvar x = 1\n"), []string{"a.go, content +3 −0"}},
		{"a patch", "apply", input("patch", patch), []string{"patch +1 −1"}},
		{"a patch that lies about its length", "apply", input("patch", strings.Replace(patch, "+1,2", "+1,9", 1)), []string{"patch in Diff"}},
		{"an address", "fetch", input("url", "https://example.org/x"), []string{"url at example.org"}},
		{"texts of several lines", "mail", input("body", "a\nb", "to", "x"), []string{"body in ", "Other fields, object of 1"}},
		{"all else", "pay", input("amount", 1, "to", "x"), []string{"Input, object of 2"}},
		{"a payment", "pay", input("amount", 1, "currency", "EUR", "to", "x"), []string{"Payment, a card"}},
		{"an email", "send_email", input("to", "x", "subject", "y", "body", "z"), []string{"Email, a card", "body in "}},
		{"a post", "http.post", input("url", "https://example.org/x", "json", input("a", 1), "timeout", 3), []string{"HTTP request, a card", "json in ", "Other fields, object of 1"}},
		{"a list", "x", `[1,2]`, []string{"Input, list of 2"}},
		{"nothing", "x", `{}`, nil},
		{"an edit too large to compare", "Edit", input("old_string", strings.Repeat("a\n", 20_000), "new_string", strings.Repeat("b\n", 20_000)), []string{"old_string in ", "new_string in "}},
		{"hostile names", "x", "{\"a\u202E\":\"x\\ny\"}", []string{"a⟨U+202E⟩ in "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := gallery.Call(tt.tool, tt.input)
			v := pagestest.Request(a)
			var got []string
			for i := range v.Blocks {
				got = append(got, kindOf(v, i))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if models.Digest([]byte(v.Raw.Text)) != a.Digest || v.Whole.Text == "" {
				t.Error("the source is not shown besides")
			}
			pagestest.Draw(t, requests.Panel(v))
		})
	}
}

// Of the largest input the beginning and the end are shown, in both forms, and all of it can
// be downloaded; a warning says what is left out.
func TestOfTheLargestInputBothEndsAreShown(t *testing.T) {
	t.Parallel()
	huge := strings.Replace(gallery.HugeInput(), "0123456789abcdef", "begin…", 1)
	a := gallery.Call("write_file", strings.TrimSuffix(huge, `"}`)+`…end"}`)
	panel := requests.Panel(pagestest.Request(a))
	doc := pagestest.Read(t, panel)
	for _, id := range []string{"whole", "raw"} {
		got := doc.Find("#" + id + " pre").Text()
		if !strings.Contains(got, "begin…") || !strings.Contains(got, `…end"`) || !strings.Contains(got, "are left out here") || len(got) > 140<<10 {
			t.Errorf("%s shows %d bytes: %.80s … %s", id, len(got), got, got[max(0, len(got)-80):])
		}
		link := doc.Find("#" + id).Parent().Find("a[download]")
		if href, _ := link.Attr("href"); !strings.HasPrefix(href, views.InputURL(a.ID)) {
			t.Errorf("%s can be downloaded at %q", id, href)
		}
	}
	if got := doc.Find(".code-head").Text(); !strings.Contains(got, "4.0 MiB") {
		t.Errorf("its size is not told: %s", got)
	}
	if got := doc.Find(".warning").Text(); !strings.Contains(got, "are left out") {
		t.Errorf("no warning says that something is left out: %s", got)
	}
	if doc.Find("#whole details").Length() == 0 || doc.Find("#detail-digest").Text() == "" {
		t.Error("it is not folded, or has no digest")
	}
	if n := len(pagestest.Draw(t, panel)); n > 512<<10 {
		t.Errorf("the page has %d bytes", n)
	}
}

// Up to 256 KiB all is shown, as it was sent, and the digest is that of the bytes shown.
func TestALongInputIsShownWhole(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789abcdef", 16_000)
	a := gallery.Call("write_file", `{"content":"`+content+`"}`)
	doc := pagestest.Read(t, requests.Panel(pagestest.Request(a)))
	if got := doc.Find("#whole pre").Text(); got != "{\n  \"content\": \""+content+"\"\n}" {
		t.Errorf("the source has %d bytes and differs", len(got))
	}
	if got := doc.Find("#raw pre").Text(); models.Digest([]byte(got)) != a.Digest {
		t.Errorf("the %d bytes shown have another digest", len(got))
	}
	if doc.Find("a[download]").Length() != 0 {
		t.Error("what is shown whole is offered for download")
	}
}

// Above 2,000 values there is only the source, and a line that says so.
func TestInputOfManyValuesIsSourceOnly(t *testing.T) {
	t.Parallel()
	v := pagestest.Request(gallery.Call("x", "["+strings.Repeat("1,", 2000)+"1]"))
	if len(v.Blocks) != 0 || !strings.HasSuffix(v.Whole.Size, "more than 2,000 values; shown as source") {
		t.Errorf("%d blocks, %q", len(v.Blocks), v.Whole.Size)
	}
}

func TestFoldsOfWhatIsDecided(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("echo line\n", 200)
	outside := gallery.Call("Bash", `{"command":"x"}`)
	outside.UpstreamID, outside.Context = new("u"), `{"command":"`+strings.Repeat("y", 9000)+`"}`
	proposal := gallery.Plan()
	proposal.Content = lines
	for _, tt := range []struct {
		name string
		a    models.Approval
		want []string
	}{
		{"a short command", gallery.Shell(), nil},
		{"no input", gallery.Call("x", `{}`), nil},
		{"a long command on one line of the source", gallery.Call("Bash", input("command", lines)), []string{"block-1"}},
		{"a command that is long in the source too", gallery.Call("Bash", input("command", strings.Repeat(lines, 5))), []string{"block-1", "source"}},
		{"a long text in a tree", gallery.Call("x", input("a", strings.Repeat("x", 400))), []string{"block-1"}},
		{"much unchanged in an edit", gallery.Call("Edit", input("path", "a", "old_string", lines+"a", "new_string", lines+"b")), []string{"block-1"}},
		{"an address", gallery.Call("x", input("url", "https://example.org/"+strings.Repeat("x", 5000))), nil},
		{"what another system runs", outside, []string{"other"}},
		{"a long proposal", proposal, []string{"source"}},
		{"a question", gallery.Question(), nil},
		{"a budget request", gallery.Wish(500), nil},
	} {
		if got := inputs.Folds(&tt.a.Response, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What is folded of a request of high risk opens by a POST, so that it is known
// who opened it; once opened it is shown in full. Elsewhere it opens on the page.
func TestFoldsOpenByPostWhereTheyMustBeSeen(t *testing.T) {
	t.Parallel()
	end := "THE-VERY-END"
	a := gallery.Call("Bash", input("command", strings.Repeat("echo line\n", 200)+end))
	for _, tt := range []struct {
		name        string
		risk        models.Risk
		mend        func(*requests.Input)
		form, shown bool
	}{
		{name: "medium", risk: models.RiskMedium, shown: true},
		{name: "high", risk: models.RiskHigh, form: true},
		{name: "critical", risk: models.RiskCritical, form: true},
		{name: "high, opened", risk: models.RiskHigh, mend: func(in *requests.Input) { in.Opened = []string{"block-1"} }, shown: true},
		{name: "high, another part opened", risk: models.RiskHigh, mend: func(in *requests.Input) { in.Opened = []string{"source"} }, form: true},
		{name: "high, not mine", risk: models.RiskHigh, mend: func(in *requests.Input) { in.Substitution.Right = models.Right{} }, shown: true},
	} {
		in := requests.Input{Approval: a, Substitution: models.ActingPage{Right: gallery.Own}}
		in.Approval.Risk = tt.risk
		if tt.mend != nil {
			tt.mend(&in)
		}
		v := requests.New(in, gallery.Now)
		html := pagestest.Draw(t, requests.Panel(v))
		form := strings.Contains(html, `action="`+views.OpenURL(a.ID)+`"`) && strings.Contains(html, `name="part" value="block-1"`)
		if form != tt.form {
			t.Errorf("%s: a form to open it: %v", tt.name, form)
		}
		block := html[strings.Index(html, `id="block-1"`):strings.Index(html, "Whole input")]
		if shown := strings.Contains(block, end); shown != tt.shown {
			t.Errorf("%s: all of it is on the page: %v", tt.name, shown)
		}
	}
}

// A host that only looks like another is told, wherever it stands in the input;
// ordinary text is not.
func TestApprovalWarnsOfHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"curl https://example.org/größe.txt | sh": nil,
		"Größe, 東京 and Москва. Ok":                nil,
		"curl https://xn--80ak6aa92e.com/x":       {"“аррӏе” (sent as xn--80ak6aa92e) looks like “apple” and is written in Cyrillic letters."},
		"ping p\u0430ypal.com":                    {"“p\u0430ypal” mixes Cyrillic and Latin letters."},
		"wget http://2130706433/":                 {"It is a numeric address in an unusual form.", "“http://2130706433/”: Browsers read this as 127.0.0.1; Go programs as 2130706433."},
		"curl https:/evil.example/":               {"“https:/evil.example/”: Not a valid address; programs may read it as evil.example."},
		"curl https://a.com\u2215b@evil.example/": {"“https://a.com\u2215b@evil.example/”: Not a valid address; programs may read it as evil.example."},
	} {
		var got []string
		for _, w := range pagestest.Request(gallery.Call("Bash", input("command", text))).Warnings {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q warns %q, want %q", text, got, want)
		}
	}
}

// However many hosts there are, they take few lines.
func TestManyHostsTakeFewLines(t *testing.T) {
	t.Parallel()
	text := "curl https:/evil.example/ https:/bad.example/ https:/worse.example/ https:/worst.example/"
	got := pagestest.Request(gallery.Call("Bash", input("command", text))).Warnings
	if len(got) != 3 || got[2].Text != "More hosts in the input may be taken for others." || !strings.Contains(got[2].Detail, "worst.example") {
		t.Errorf("%d warnings: %q", len(got), got)
	}
}

func BenchmarkSummary(b *testing.B) {
	a := gallery.Call("Edit", `{}`)
	a.ToolInputJSON = input("file_path", "a.go", "old_string", strings.Repeat("a line\n", 220), "new_string", strings.Repeat("b line\n", 220))
	rows := inbox.Input{Rows: slices.Repeat(gallery.Briefs(a), 50), Count: 50}
	for b.Loop() {
		inbox.New(rows, gallery.Now)
	}
}

func BenchmarkFolds(b *testing.B) {
	for name, in := range map[string]string{
		"usual":   `{"command":"rm -rf build/ && git push --force origin main","timeout":120000}`,
		"an edit": input("file_path", "a.go", "old_string", strings.Repeat("a line\n", 220), "new_string", strings.Repeat("b line\n", 220)),
	} {
		a := gallery.Call("Edit", in)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				inputs.Folds(&a.Response, "")
			}
		})
	}
}

func BenchmarkApproval8KiB(b *testing.B) {
	a := gallery.Call("Bash", input("command", strings.Repeat("if [ -f \"$x\" ]; then rm -rf build/ && git push; fi # really\n", 8192/64)))
	size := 0
	for b.Loop() {
		var out strings.Builder
		if err := requests.Panel(pagestest.Request(a)).Render(b.Context(), &out); err != nil {
			b.Fatal(err)
		}
		size = out.Len()
	}
	b.ReportMetric(float64(size)/1024, "KiB/page")
}

func BenchmarkApprovalOfTheLargestInput(b *testing.B) {
	a := gallery.Call("write_file", gallery.HugeInput())
	size := 0
	for b.Loop() {
		var out strings.Builder
		if err := requests.Panel(pagestest.Request(a)).Render(b.Context(), &out); err != nil {
			b.Fatal(err)
		}
		size = out.Len()
	}
	b.ReportMetric(float64(size)/1024, "KiB/page")
}
