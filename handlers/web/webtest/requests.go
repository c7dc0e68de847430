package webtest

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// FinancePays lets only finance approve payments.
const FinancePays = `{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","risk":"medium","reason":"Money leaves the account.","reviewers":["finance@example.com"],"reviewers_only":true,"self_approval":"never"}]}`

// Payment is a payment by FinancePays.
func Payment(in *models.AskInput) {
	in.ToolName, in.Input = "payment.send", []byte(`{"amount":"9999.00","currency":"EUR","to":"Bo himself"}`)
}

// Ticked is what the inbox sends of several that are ticked.
func Ticked(rows ...*models.Approval) url.Values {
	form := url.Values{"verdict": {"approve"}, "desk": {"risk=low"}}
	for _, a := range rows {
		form.Add("pick", string(a.ID)+" "+a.Digest)
	}
	return form
}

// BulkRow is the row of a request in the answer to it.
func BulkRow(a *models.Approval) string { return "#bulk-" + string(a.ID) }

// HostileCards are inputs that imitate another kind of request, or hide a part of what they do. Figure is the large
// figure on the card; empty: there must be no card.
var HostileCards = []struct{ Name, Tool, Input, Figure string }{
	{"a payment", "pay", `{"amount":240.00,"currency":"EUR","to":"Nordlicht Hosting","reference":7}`, "240.00 EUR"},
	{"an amount sent as text", "pay", `{"amount":"240.00","currency":"eur","to":"A"}`, "240.00 eur"},
	{"a second amount in other case", "pay", `{"amount":5,"Amount":5000000,"currency":"EUR","to":"A"}`, ""},
	{"a second amount under another name", "pay", `{"amount":5,"amount_cents":5000000,"currency":"EUR","to":"A"}`, ""},
	{"an amount in an object", "pay", `{"amount":{"value":5,"minor":500},"currency":"EUR","to":"A"}`, ""},
	{"a list of amounts", "pay", `{"amount":[5,5000000],"currency":"EUR","to":"A"}`, ""},
	{"a list of payees", "pay", `{"amount":5,"currency":"EUR","to":["A","B"]}`, ""},
	{"two payees", "pay", `{"amount":5,"currency":"EUR","to":"A","recipient":"B"}`, ""},
	{"hidden characters in an amount", "pay", `{"amount":"5\u200b000","currency":"EUR","to":"A"}`, ""},
	{"digits of another script", "pay", `{"amount":"٥","currency":"EUR","to":"A"}`, ""},
	{"a number without end", "pay", `{"amount":1e400,"currency":"EUR","to":"A"}`, ""},
	{"a huge amount", "pay", `{"amount":12345678901234567890,"currency":"EUR","to":"A"}`, ""},
	{"less than nothing", "pay", `{"amount":-5,"currency":"EUR","to":"A"}`, ""},
	{"a currency of another script", "pay", `{"amount":5,"currency":"ЕUR","to":"A"}`, ""},
	{
		"members named like labels", "pay",
		`{"amount":5,"currency":"EUR","to":"A","Payee":"B","Other fields":"none","Reference":"C"}`, "",
	},
	{"a tool that is only like one", "Pay", `{"amount":5,"currency":"EUR","to":"A"}`, ""},
	{
		"a payee that imitates rows", "pay",
		`{"amount":5,"currency":"EUR","to":"A\nReference  paid\r\n\tAccount  DE00","reference":" "}`, "5 EUR",
	},
	{
		"a payee whose end differs", "pay",
		`{"amount":5,"currency":"EUR","to":"` + strings.Repeat("Nordlicht and sons ", 40) + `in Riga"}`, "5 EUR",
	},
	{
		"a payee too long for a line", "pay",
		`{"amount":5,"currency":"EUR","to":"` + strings.Repeat("Nordlicht ", 200) + `in Riga"}`, "",
	},
	{"a payee from right to left", "pay", `{"amount":5,"currency":"EUR","to":"שלום 100 \u202eEUR"}`, "5 EUR"},
	{"markup", "pay", `{"amount":5,"currency":"EUR","to":"</dd><dt>Account</dt>","iban":"<b>1</b>"}`, "5 EUR"},
	{
		"an email", "send_email",
		`{"to":["a@x.example","b\u200b@x.example"],"cc":[],"subject":"A\nBcc  nobody","body":"one line"}`, "",
	},
	{"an email to objects", "send_email", `{"to":[{"address":"a@x.example"}],"subject":"A","body":"B"}`, ""},
	{
		"a post that pays", "http.post",
		`{"url":"https://pay.example/x?to=A","json":{"amount":5,"currency":"EUR","Other fields":[null,true,"true"]},"timeout":30}`, "POST",
	},
	{"a method that the name denies", "http.post", `{"url":"https://pay.example/x","method":"GET"}`, ""},
	{"a host that is read in two ways", "http.post", `{"url":"https://good.example\\@evil.example/","body":"x"}`, ""},
	{
		"texts that read as numbers", "submit",
		`{"a":"120","b":120,"c":"null","d":null,"e":"","f":[],"g":"[]","h":" x","i":"{}","j":{}}`, "",
	},
	{"values that imitate members", "submit", `{"a":"x\nto  B\namount  5","to":"A"}`, ""},
	{
		"a command with more", "Bash", `{"command":"ls\nwc","command\u200b":"rm -rf /","description":"lists","timeout":5}`,
		"",
	},
	{
		"a change with more", "edit_file",
		`{"path":"a.go","old_string":"a","new_string":"b","replace_all":true,"force":{"a":[1,"1"]}}`, "",
	},
}

// UnderChecklist requires a checklist for payments and proposals; replace RISK with their risk.
const UnderChecklist = `{"templates":[{"name":"pay","checklist":["The recipient is known","The <b>amount</b> is right"],"text":"Look at the invoice.","risk":"RISK"}],
 "rules":[{"name":"Payments","tools":["payment.send","respond_with_approval"],"effect":"require","template":"pay"}]}`

// Paying is a payment by UnderChecklist.
func Paying(in *models.AskInput) { in.ToolName, in.Input = "payment.send", []byte(`{"amount":1}`) }

// Two policies whose checklists differ.
const (
	BackedUp = `{"templates":[{"name":"a","checklist":["The logs are backed up"]}],"rules":[{"name":"P","tools":["respond_with_approval"],"effect":"require","template":"a"}]}`
	Called   = `{"templates":[{"name":"a","checklist":["The payee was called"]}],"rules":[{"name":"P","tools":["respond_with_approval"],"effect":"require","template":"a"}]}`
)

// Pays has the agent ask for a payment with two members.
func (w *World) Pays() *models.Approval {
	w.TB.Helper()
	return w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(`{"to":"ACME","amount":120.00}`) })
}

// PageOf is the page of a request.
func PageOf(a *models.Approval) string { return "/approvals/" + string(a.ID) }

// DecideOf is where its form leads.
func DecideOf(a *models.Approval) string { return PageOf(a) + "/decide" }

// Decided waits until a request is decided, and says how.
func (w *World) Decided(id models.ResponseID) *models.Approval {
	w.TB.Helper()
	ctx, cancel := context.WithTimeout(w.TB.Context(), Browsing)
	defer cancel()
	a, err := w.Store.Await(ctx, w.Admin, id, Browsing)
	if err != nil {
		w.TB.Fatalf("wait for %s: %v", id, err)
	}
	if a.Status() == models.StatusPending {
		w.TB.Fatalf("%s still waits", id)
	}
	return a
}

// Asks has the agent ask for several things, soonest deadline first.
func (w *World) Asks(n int) []*models.Approval {
	w.TB.Helper()
	var out []*models.Approval
	for i := range n {
		out = append(out, w.Ask(func(in *models.AskInput) {
			in.Input = fmt.Appendf(nil, `{"command":"make step-%d"}`, i)
			in.TimeoutSeconds = new(int64(3600 + 60*i))
		}))
	}
	return out
}

// Waits checks that requests are pending.
func (w *World) Waits(ids ...*models.Approval) {
	w.TB.Helper()
	for _, a := range ids {
		if got := w.Approval(a.ID); got.Status() != models.StatusPending {
			w.TB.Fatalf("%s is %s, and should wait", a.ID, got.Status())
		}
	}
}

// GrantPath is the form that pre-approves calls like a request.
func GrantPath(a *models.Approval) string { return "/approvals/" + string(a.ID) + "/grant" }

// Keeping is what a browser sends of the form with these places ticked.
func Keeping(a *models.Approval, hours, uses string, keep ...string) url.Values {
	return url.Values{"sent": {"1"}, "digest": {a.Digest}, "hours": {hours}, "uses": {uses}, "keep": keep}
}

// Grants are all pre-approvals.
func (w *World) Grants() []models.Grant {
	w.TB.Helper()
	list, err := w.Store.Grants(w.TB.Context(), w.Admin, "", 0)
	if err != nil {
		w.TB.Fatal(err)
	}
	return list.Items
}

// Bash has the agent ask for a command in a folder.
func (w *World) Bash(command, cwd string) *models.Approval {
	w.TB.Helper()
	return w.Ask(func(in *models.AskInput) { in.Input = fmt.Appendf(nil, `{"command":%q,"cwd":%q}`, command, cwd) })
}

// ToolCall makes the request a call of a tool with an input.
func ToolCall(tool, input string) func(*models.AskInput) {
	return func(in *models.AskInput) { in.ToolName, in.Input = tool, []byte(input) }
}

// Decides has the owner decide.
func (w *World) Decides(a *models.Approval, approve bool, reason string) {
	w.TB.Helper()
	if _, err := w.Store.Decide(w.TB.Context(), w.Owner, a.ID,
		models.DecisionInput{Approved: &approve, Reason: reason, Digest: a.Digest, Page: models.NoPage}); err != nil {
		w.TB.Fatal(err)
	}
}

// Risky makes it a call whose risk RiskyWorld knows.
func Risky(risk string) func(*models.AskInput) {
	return func(in *models.AskInput) { in.ToolName = "tool-" + risk }
}

// RiskyWorld judges tools by their names.
func RiskyWorld(t *testing.T) *World {
	t.Helper()
	w := New(t)
	w.ApplyPolicy(`{"rules": [
		{"name": "Low", "tools": ["tool-low"], "effect": "require", "risk": "low"},
		{"name": "High", "tools": ["tool-high"], "effect": "require", "risk": "high"},
		{"name": "Critical", "tools": ["tool-critical"], "effect": "require", "risk": "critical"}]}`)
	return w
}

// Danger has Bash be of high risk, with reasons to reject, and holds nothing.
const Danger = `{"max_timeout_minutes":120,"max_pause_minutes":30,"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high","reject_reasons":["Wrong branch","Not on a Friday"]}]}`

// AllHigh has everything that is asked be of high risk.
const AllHigh = `{"proposal_timeout_minutes":60,"rules":[{"name":"All","tools":["/.*/"],"effect":"require","risk":"high"}]}`

// Question makes the request a question with two options.
func Question(in *models.AskInput) {
	in.Kind, in.ToolName, in.Input = models.KindQuestion, "question", nil
	in.Description = "Which region first?"
	in.Options = []models.Option{{Name: "eu", Title: "Europe"}, {Name: "us", Title: "America"}}
}

// Approval reads a request as an admin sees it.
func (w *World) Approval(id models.ResponseID) *models.Approval {
	w.TB.Helper()
	a, err := w.Store.Requests.Approval(w.TB.Context(), w.Admin, id)
	if err != nil {
		w.TB.Fatalf("read approval: %v", err)
	}
	return a
}

// MoneyIsHigh has payments be of high risk, and commands of low.
const MoneyIsHigh = `{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"high"},{"name":"Shell","tools":["Bash"],"effect":"require","risk":"low"}]}`

// Approves has the admin approve a pending request.
func (w *World) Approves(a *models.Approval) {
	w.TB.Helper()
	if _, err := w.Store.Decide(w.TB.Context(), w.Admin, a.ID,
		models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage}); err != nil {
		w.TB.Fatal(err)
	}
}
