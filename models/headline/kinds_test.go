package headline_test

import (
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/headline"
)

func TestHeadlinesOfOtherKinds(t *testing.T) {
	t.Parallel()
	mark := "removed on 2026-03-02, by the retention rule"
	for _, tt := range []struct {
		name string
		r    models.Response
		want string
	}{
		{"a question", models.Response{Kind: models.KindQuestion, Description: "Which region first?", ToolInputJSON: `{}`}, "Answer: Which region first?"},
		{"a question in its input", models.Response{Kind: models.KindQuestion, ToolName: "ask", ToolInputJSON: `{"question":"Which?"}`}, "Answer: Which?"},
		{"a question without a text", models.Response{Kind: models.KindQuestion, ToolName: "ask", ToolInputJSON: `{"x":1}`}, "ask: x 1"},
		{"a question of two lines", models.Response{Kind: models.KindQuestion, Description: " Which?\nApproved: yes", ToolInputJSON: `{}`}, "Answer: Which? ⏎ Approved: yes"},
		{"a proposal that reads as a payment", models.Response{Kind: models.KindProposal, Content: "Pay 5 EUR to Bob\r\nNow"}, "Proposal: Pay 5 EUR to Bob ⏎ Now"},
		{"a reply", models.Response{Kind: models.KindReply, Content: "Done\u202e"}, "Reply: Done⟨U+202E⟩"},
		{"a budget, its number as sent", models.Response{Kind: models.KindBudget, ToolInputJSON: `{"budget":1500}`}, "Set the budget to 1500."},
		{"a budget with the agent's reason", models.Response{Kind: models.KindBudget, ToolInputJSON: `{"budget":1500}`, Description: `I need it. "Approved" by Ann`},
			`Set the budget to 1500. The agent says: "I need it. \"Approved\" by Ann"`},
		{"an allowance", models.Response{Kind: models.KindBudget, ToolName: models.ToolAllowEnergy, ToolInputJSON: `{"energy":250,"until":"2026-03-02T10:00:00Z"}`}, "Allow the agent 250 more energy."},
		{"what was removed", models.Response{Kind: models.KindToolCall, ToolName: "pay", ToolInputJSON: `{}`, Removed: &mark}, mark},
		{"another system's input", models.Response{Kind: models.KindToolCall, ToolName: "Bash", UpstreamID: new(string), ToolInputJSON: `{"command":"ls"}`, Context: `{"command":"rm -rf build"}`}, "Run: rm -rf build"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := headline.Of(&tt.r).Plain(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Lists have the beginning of an input. It claims no kind, for nobody knows what follows.
func TestCutInputClaimsNoKind(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", models.MaxBrief)
	for _, tt := range []struct{ name, tool, input, want string }{
		{"a payment", "pay", `{"amount":120.00,"currency":"EUR","to":"ACME","reference":90071`, `"pay": amount 120.00, currency EUR, to ACME`},
		{"an amount", "pay", `{"currency":"EUR","to":"ACME","amount":120`, `"pay": currency EUR, to ACME`},
		{"a command", "Bash", `{"command":"echo ` + long, `Bash: "echo ` + long[:75] + `…"`},
		{"an edit", "Edit", `{"file_path":"a.go","old_string":"a","new_string":"b`, `"Edit": a.go, new_string "b…", old_string a`},
		{"in an escape", "Bash", `{"command":"ls \u00`, `Bash: "ls …"`},
		{"in a pair", "Bash", `{"command":"ls \ud83d\ude`, `Bash: "ls …"`},
		{"in a name", "Bash", `{"command":"ls","descr`, "Bash: ls"},
		{"behind a name", "Bash", `{"command":"ls","description":`, "Bash: ls"},
		{"behind a member", "Bash", `{"command":"ls",`, "Bash: ls"},
		{"before anything", "Bash", `{"comm`, `Bash: {"comm…`},
		{"behind the object", "Bash", `{"command":"ls"} {"command":"rm"}`, "Bash: ls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := headline.Of(call(tt.tool, tt.input))
			if got := h.Plain(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if h.Known != nil || !h.Cut {
				t.Errorf("%+v", h)
			}
		})
	}
}

// A headline says which members it does not show whole; a known call knows them all.
func TestWhatAHeadlineLeavesOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tool, input string
		hidden      []string
		members     []string // of the known call
	}{
		{"pay", `{"amount":5,"currency":"EUR","to":"ACME","reference":"x"}`, []string{"reference"}, []string{"amount", "currency", "reference", "to"}},
		{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, []string{"new_string", "old_string"}, []string{"file_path", "new_string", "old_string"}},
		{"Bash", `{"command":"git push --force origin main","cwd":"/x"}`, []string{"cwd"}, []string{"command", "cwd"}},
		{"Bash", `{"command":"` + strings.Repeat("echo a; ", 200) + `"}`, []string{"command"}, []string{"command"}},
		{"sql", `{"query":"DROP TABLE a","params":[1]}`, []string{"params"}, []string{"params", "query"}},
		{"http.post", `{"url":"https://a.example/x","body":1}`, []string{"body", "url"}, []string{"body", "url"}},
		{"send_email", `{"to":"a@b.example","subject":"x","body":"y"}`, []string{"body"}, []string{"body", "subject", "to"}},
		{"send_email", `{"to":["a","b","c"],"subject":"x"}`, []string{"to"}, []string{"subject", "to"}},
		{"deploy", `{"a":1,"b":2,"c":3,"d":4,"e":5}`, []string{"e"}, nil},
	} {
		h := headline.Of(call(tt.tool, tt.input))
		if !slices.Equal(h.Hidden, tt.hidden) {
			t.Errorf("%s %s hides %q, want %q", tt.tool, tt.input, h.Hidden, tt.hidden)
		}
		var members []string
		if h.Known != nil {
			members = h.Known.Members()
		}
		if !slices.Equal(members, tt.members) {
			t.Errorf("%s %s knows %q, want %q", tt.tool, tt.input, members, tt.members)
		}
	}
}

// A payment's card has the literals that were sent.
func TestPaymentIsAsSent(t *testing.T) {
	t.Parallel()
	h := headline.Of(call("payment.send", `{"to":"A","amount":240.00,"currency":"EUR","reference":9007199254740993}`))
	p, ok := h.Known.(*headline.Payment)
	if !ok || p.Amount != "240.00" || p.Currency != "EUR" || p.Payee != "A" || p.Reference != "9007199254740993" {
		t.Errorf("%+v", h.Known)
	}
}

func TestLongTextIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	h := headline.Of(call("Bash", `{"command":"echo `+strings.Repeat("a", 500)+` the-end"}`))
	if got := h.Text(); !h.Cut || !strings.HasPrefix(got, "Run: echo aaa") || !strings.HasSuffix(got, "a the-end") || !strings.Contains(got, " … 313 characters … ") {
		t.Errorf("%q", got)
	}
	if got := h.Short(40); !strings.HasPrefix(got, "Run: echo aaa") || !strings.HasSuffix(got, "a the-end") || !strings.Contains(got, " … 473 characters … ") {
		t.Errorf("%q", got)
	}
	h = headline.Of(call("Bash", `{"command":"`+strings.Repeat(`echo a\n`, 1000)+`"}`))
	if got := h.Text(); got != "Run a script of 1000 lines" {
		t.Errorf("%q", got)
	}
	h = headline.Of(call("sql", `{"query":"`+strings.Repeat(`SELECT 1;\n`, 1000)+`"}`))
	if got := h.Text(); got != "Run a SQL script of 1000 lines" {
		t.Errorf("%q", got)
	}
}
