package web_test

import (
	encoding "encoding/json"
	"os"
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// attack is a request that was made to be drawn otherwise than it is.
type attack struct {
	name  string
	tool  string
	input map[string]any
	words string   // of its description, context and conversation
	shows []string // what its page must show, beside being drawn as it is stored
}

func zalgo(letters, marks int) string {
	return strings.Repeat("a"+strings.Repeat("\u0301\u0316", marks/2), letters)
}

// title is as much of a text as a title may hold.
func title(s string) string {
	cut, _ := ui.Cut(s, 50)
	return cut
}

// attacks are the list of what was tried; a row more is a request more.
var attacks = []attack{
	{name: "paths in a command", tool: "Bash", input: map[string]any{"command": "cp א/1 ב/2 && rm -rf ג/3 # ד 4"}},
	{name: "members and values", tool: "notes.add", input: map[string]any{"ל": "א", "צ 1": "ב 2", "deep": map[string]any{"ק": []string{"ר 1", "ש"}}}},
	{name: "a file in colour", tool: "Write", input: map[string]any{"file_path": "/tmp/א/x.py", "content": "א = 1\nif user != \"ב ג\": # ד 2\n\tpay(100, \"ה\")\n"}},
	{name: "a file without colour", tool: "Write", input: map[string]any{"file_path": "/tmp/x.unknown", "content": "א = 1\npay 100 200 א to ב\n"}},
	{name: "a change", tool: "Edit", input: map[string]any{"file_path": "/tmp/x.go", "old_string": "pay(א, 1, ב)\nsame\n", "new_string": "pay(א, 2, ג)\nsame\n"}},
	{name: "an address", tool: "WebFetch", input: map[string]any{"url": "https://אב.example/1/ג/2?ד=3", "prompt": "ה 1 ו"}},
	{name: "a query", tool: "sql.query", input: map[string]any{"query": "SELECT 'א', 1 FROM t WHERE ב = 'ג' -- ד 2"}},
	{name: "Arabic letters and digits", tool: "Bash", input: map[string]any{"command": "echo ١ + ٢ شَرِكَة/1 لا/2 مرحبا"}, words: "ادفع ١٠٠ ثم 200 إلى شركة"},
	{name: "newer scripts", tool: "Bash", input: map[string]any{"command": "echo 𞤀/1 𞤁/2 ߊ/3 ݐ/4 𐤀/5"}},
	{name: "marks that climb", tool: "Bash", input: map[string]any{"command": "echo " + zalgo(10, 80) + "\nrm -rf /"}, words: zalgo(10, 80), shows: []string{"⟨U+0301⟩"}},
	{name: "marks on nothing", tool: "Bash", input: map[string]any{"command": "\u0301\u0301echo /\u0338x \u20DD"}, words: "\u0489x", shows: []string{"⟨U+0338⟩", "⟨U+20DD⟩", "⟨U+0489⟩"}},
	{name: "blank characters", tool: "Bash", input: map[string]any{"command": "echo a\uFFFCb\U0001D159c\u3164d\u00A0e\u2800f\u115Fg\U00016FE4h\u034Fi\u180Ej\U000E0100k\uFE0Fl"}, words: "x\uFFFCy\U0001D159z", shows: []string{"⟨U+FFFC⟩", "⟨U+1D159⟩", "⟨U+16FE4⟩"}},
}

// What is drawn is what was sent: each attack on each page that shows it, measured
// by the rectangles of its characters (I13).
func TestInABrowserWhatIsDrawnIsWhatWasSentI13(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/drawn.js")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	p := w.tab()
	p.signIn()
	var first *models.Approval
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			request, asked, plan := w.attacked(a)
			if first == nil {
				first = request
			}
			for _, path := range []string{pageOf(request), conversationPath(request.ConversationID), pageOf(asked), pageOf(plan)} {
				p.open(path)
				if wrong := p.value(string(script)); wrong != "" {
					t.Errorf("%s:\n%s", path, wrong)
				}
				for _, want := range a.shows {
					if path == pageOf(request) && !strings.Contains(p.text("main"), want) {
						t.Errorf("%s is not shown", want)
					}
				}
			}
		})
	}
	for _, path := range []string{"/", views.InboxPlace{Open: first.ID}.URL(), "/history", "/audit", "/conversations"} {
		p.open(path)
		if wrong := p.value(string(script)); wrong != "" {
			t.Errorf("%s:\n%s", path, wrong)
		}
	}
}

// attacked asks in the words of an attack: for a call, an answer and a proposal.
func (w *world) attacked(a attack) (request, asked, plan *models.Approval) {
	w.tb.Helper()
	input, err := encoding.Marshal(a.input)
	if err != nil {
		w.tb.Fatal(err)
	}
	words := a.words
	if words == "" {
		words = "approve: ב 1 א 2"
	}
	request = w.ask(func(in *models.AskInput) {
		in.ToolName, in.Input = a.tool, input
		in.Description, in.Context, in.RunID = words, words+"\n"+words, title(words)+" "+a.name
	})
	asked = w.ask(question, func(in *models.AskInput) {
		in.Description, in.Options = words, []models.Option{{Name: "yes", Title: title(words)}, {Name: "no", Title: "No"}}
	})
	return request, asked, w.proposes(w.conversation(10), "# Plan\n\n"+words+"\n\n`"+words+"`\n", 0)
}
