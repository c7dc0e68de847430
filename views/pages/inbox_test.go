package pages_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages"
)

func TestInboxRowSaysWhatWouldHappen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, tool, input, want string
	}{
		{"command", "Bash", `{"timeout":5,"command":"ls -la"}`, "ls -la"},
		{"two commands do not hide behind a line break", "Bash", `{"command":"ls\nrm -rf /"}`, "ls ⏎ rm -rf /"},
		{"path", "edit_file", `{"new_string":"x","path":"a.go"}`, "a.go"},
		{"amount, number as written", "pay", `{"amount":120.00,"currency":"EUR","to":"ACME"}`, "€120.00 → ACME"},
		{"question", "ask", `{"question":"Which?"}`, "Which?"},
		{"other input", "x", `{ "b": 9007199254740993, "a": [1] }`, `{"b":9007199254740993,"a":[1]}`},
		{"no input", "deploy", `{}`, "no input"},
		{"not an object", "x", ` [1, 2] `, "[1,2]"},
		{"an empty command tells nothing", "Bash", `{"command":" ","x":1}`, `{"command":" ","x":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := gallery.Call(tt.tool, tt.input)
			v := pages.NewInbox(pages.InboxInput{Rows: []models.Approval{a}, Count: 1}, now)
			if got := v.Rows[0].Summary; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestInboxRowOfTheLargestInputIsShort(t *testing.T) {
	t.Parallel()
	for _, input := range []string{gallery.HugeInput(), gallery.DeepInput(), `{"command":"` + strings.Repeat("ä", 90_000) + `"}`} {
		v := pages.NewInbox(pages.InboxInput{Rows: []models.Approval{gallery.Call("x", input)}}, now)
		if n := len(v.Rows[0].Summary); n > 1000 || n == 0 {
			t.Errorf("the line has %d bytes", n)
		}
	}
}

func TestInboxPagesFiltersAndTeaches(t *testing.T) {
	t.Parallel()
	rows := []models.Approval{gallery.Shell(), gallery.Question()}
	v := pages.NewInbox(pages.InboxInput{Rows: rows, Count: models.StatsCap, Next: "n", Conversation: gallery.ConversationID}, now)
	if v.Shown != "1,000+ waiting" || v.NextURL != views.InboxPageURL(gallery.ConversationID, "n") || v.NextLabel != "Next 2" || v.FirstURL != "" || v.Teach != nil {
		t.Errorf("%+v", v)
	}
	if v.FilterName != string(gallery.ConversationID) || v.ListURL != views.InboxPageURL(gallery.ConversationID, "") {
		t.Errorf("a conversation without title: %q %q", v.FilterName, v.ListURL)
	}
	if v.Rows[1].Risk.Text != "" || !v.Rows[1].Left.IsZero() || v.Rows[1].Kind != "Question" {
		t.Errorf("a question has no risk and no deadline: %+v", v.Rows[1])
	}
	if v := pages.NewInbox(pages.InboxInput{After: "k"}, now); v.Teach != nil || v.FirstURL != "/" {
		t.Errorf("an empty later page teaches: %+v", v)
	}
	v = pages.NewInbox(pages.InboxInput{BaseURL: "https://sign.example", FreshToken: "csa_x", FreshAgent: "first"}, now)
	if v.Teach == nil || v.Teach.Export != "export TOKEN=csa_x" || !strings.Contains(v.Teach.Command, `"https://sign.example/v1/approvals?wait=50s"`) || !strings.Contains(v.Teach.Command, "toolUseId") {
		t.Errorf("%+v", v.Teach)
	}
}

func TestInboxFragmentCarriesTheCount(t *testing.T) {
	t.Parallel()
	html := draw(t, pages.InboxFragment(pages.NewInbox(pages.InboxInput{Rows: []models.Approval{gallery.Shell()}, Count: 12}, now)))
	for _, want := range []string{`id="inbox"`, `hx-swap-oob="innerHTML"`, `data-count="12"`, `hx-trigger="inbox from:body throttle:250ms"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(html, "<html") {
		t.Error("the fragment is a page")
	}
}
