package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

const (
	checking = `{"name":"pay","timeout_minutes":30,"checklist":["The recipient is known","The amount is right"],"text":"Look at the invoice.","reject_reasons":["Wrong amount"]}`
	strict   = `{"name":"strict","risk":"critical","timeout_minutes":2,"reviewers":["stranger@example.com"],"reviewers_only":true,"checklist":["Ask finance"]}`
)

// underTemplates is a policy with a rule under the template pay.
func underTemplates() string {
	return `{"templates":[` + checking + `,` + strict + `],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","template":"pay","reviewers":["stranger@example.com"]},
 {"name":"Reading","tools":["read"],"effect":"allow"},{"name":"Never","tools":["drop"],"effect":"deny"}]}`
}

func ticking(checked ...int) models.DecisionInput {
	in := storetest.Yes()
	in.Checked = checked
	return in
}

func TestApprovingNeedsEveryTick(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, underTemplates())
	for _, checked := range [][]int{nil, {0}, {1, 1}} {
		a := b.pay(t, 1)
		before := storetest.Dump(t, b.Store)
		err := storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, ticking(checked...)))
		wantCode(t, err, models.CodeInvalid)
		if e := models.FieldsOf(err)["checked"]; !strings.Contains(e, "must list every item") || !strings.Contains(err.Error(), models.TickAll) {
			t.Errorf("%v: %v", checked, err)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	err := storetest.Err(b.Decide(t.Context(), b.Owner, b.pay(t, 1).ID, ticking(0, 1, 2)))
	if wantCode(t, err, models.CodeInvalid); !strings.Contains(models.FieldsOf(err)["checked"], "not on the checklist") {
		t.Error(err)
	}
	edited := ticking()
	edited.Input = []byte(`{"amount":2}`)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, b.pay(t, 1).ID, edited)), models.CodeInvalid)
	bulk := ticking(0, 1)
	bulk.Bulk = true
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, b.pay(t, 1).ID, bulk)), models.CodeWrongDecisionKind)

	rejected := b.pay(t, 2)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, rejected.ID, storetest.No("no"))))
	a := b.pay(t, 3)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, ticking(1, 0, 1))))
	got := b.standsAs(t, a.ID, models.StatusApproved)
	if items := got.TickedItems(got.Vote); got.Vote.Checked != "[0,1]" || !slices.Equal(items, []string{"The recipient is known", "The amount is right"}) {
		t.Errorf("ticked %q %q", got.Vote.Checked, items)
	}
	if v := b.Read(t, rejected.ID).Vote; v.Checked != "" {
		t.Errorf("a rejection keeps ticks: %q", v.Checked)
	}
	storetest.CheckRows(t, b.Store)
}

// A rule's own checklist, alone or before its template's, is demanded as a template's is.
func TestApprovingNeedsTheTicksOfARule(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		templates, rule string
		want            []string
	}{
		"alone":             {``, ``, []string{"The amount is right", "Finance knows"}},
		"with its template": {checking, `,"template":"pay"`, []string{"The amount is right", "Finance knows", "The recipient is known"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.UsePolicy(t, `{"templates":[`+c.templates+`],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","checklist":["The amount is right","Finance knows"]`+c.rule+`}]}`)
			a := b.pay(t, 1)
			if got := a.Checklist(); !slices.Equal(got, c.want) {
				t.Fatalf("the checklist is %q", got)
			}
			all := []int{0, 1, 2}[:len(c.want)]
			for _, checked := range [][]int{nil, all[1:]} {
				err := storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, ticking(checked...)))
				if wantCode(t, err, models.CodeInvalid); !strings.Contains(models.FieldsOf(err)["checked"], "must list every item") {
					t.Errorf("%v: %v", checked, err)
				}
			}
			bulk := ticking(all...)
			bulk.Bulk = true
			wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, bulk)), models.CodeWrongDecisionKind)
			b.standsAs(t, a.ID, models.StatusPending)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, ticking(all...))))
			b.standsAs(t, a.ID, models.StatusApproved)
			storetest.CheckRows(t, b.Store)
		})
	}
}

// An answer is an approval, and so is the proposal of an edit that waits for another person.
func TestEveryApproverTicks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"templates":[`+checking+`],"rules":[{"name":"q","tools":["question"],"effect":"require","template":"pay"}]}`)
	a := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Pay?"}})
	text := "yes"
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, models.DecisionInput{Answer: &text})), models.CodeInvalid)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, models.DecisionInput{Answer: &text, Checked: []int{0, 1}})))

	b.UsePolicy(t, `{"templates":[`+checking+`],"rules":[
 {"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","template":"pay","reviewers":["stranger@example.com"],"reviewers_only":true},
 {"name":"Payments","tools":["payment.send"],"effect":"require","template":"pay"}]}`)
	a = b.pay(t, 1)
	edit := ticking(0, 1)
	edit.Input = []byte(`{"amount":200}`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit)))
	b.standsAs(t, a.ID, models.StatusPending)
	unticked := edit
	unticked.Checked = nil
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Stranger, a.ID, unticked)), models.CodeInvalid)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, a.ID, edit)))
	b.standsAs(t, a.ID, models.StatusApproved)
	storetest.CheckRows(t, b.Store)
}

// Ticks are numbers: without the id or the digest of their request they would count for
// whatever is newest.
func TestTicksNameTheirRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conv := models.NewID[models.ConversationID]()
	propose := func(item string) *models.Approval {
		b.UsePolicy(t, `{"templates":[{"name":"t","checklist":["`+item+`"]}],"rules":[{"name":"p","tools":["respond_with_approval"],"effect":"require","template":"t"}]}`)
		a, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: conv, Kind: models.KindProposal, Content: item})
		storetest.Must(t, err)
		return a
	}
	first, second := propose("The logs are backed up"), propose("The payee was called")
	decide := func(approved bool, id models.ResponseID, digest string, checked ...int) error {
		d := models.ConversationDecision{Approved: &approved, ResponseID: id, Digest: digest, Checked: checked, Page: models.NoPage}
		_, _, err := b.DecideIn(t.Context(), b.Owner, conv, d)
		return err
	}
	before := storetest.Dump(t, b.Store)
	wantCode(t, decide(true, "", "", 0), models.CodeDigestRequired)
	wantCode(t, decide(true, "", ""), models.CodeDigestRequired)
	wantCode(t, decide(true, "", first.Digest, 0), models.CodeDigestMismatch)
	_, err := b.Say(t.Context(), b.Owner, models.MessageInput{ConversationID: conv, Content: "go", Decision: &models.ConversationDecision{Approved: new(true), Checked: []int{0}, Page: models.NoPage}})
	wantCode(t, err, models.CodeDigestRequired)
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	storetest.Must(t, decide(true, first.ID, "", 0))
	storetest.Must(t, decide(true, "", second.Digest, 0))
	b.standsAs(t, first.ID, models.StatusApproved)
	b.standsAs(t, second.ID, models.StatusApproved)
	third := propose("The host is right")
	storetest.Must(t, decide(false, "", ""))
	b.standsAs(t, third.ID, models.StatusRejected)
	storetest.CheckRows(t, b.Store)
}

// Nobody approves an edit under a checklist that they were not shown.
func TestAnEditDoesNotEvadeAChecklist(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"templates":[`+checking+`],"rules":[{"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","template":"pay"}]}`)
	a := b.pay(t, 1)
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":200}`)
	err := storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit))
	if wantCode(t, err, models.CodeInvalid); !strings.Contains(models.FieldsOf(err)["input"], "whose checklist is not shown here") {
		t.Error(err)
	}
	edit.Input = []byte(`{"amount":2}`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit)))
}

// TestI12TemplatesAreFrozen: a later policy, or whoever writes to the file, changes nothing.
func TestI12TemplatesAreFrozen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, underTemplates())
	before := b.pay(t, 1)
	b.UsePolicy(t, strings.ReplaceAll(underTemplates(), `"The recipient is known",`, ""))
	after := b.pay(t, 2)
	got := b.Read(t, before.ID)
	if len(got.Checklist()) != 2 || got.TemplateText != "Look at the invoice." || len(b.Read(t, after.ID).Checklist()) != 1 {
		t.Errorf("%q %q", got.Checklist(), got.TemplateText)
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, before.ID, ticking(0))), models.CodeInvalid)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, after.ID, ticking(0))))
	for _, set := range []string{`checklist = ''`, `template_text = 'x'`, `template = 'x'`} {
		if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE responses SET `+set+` WHERE id = ?`, before.ID); err == nil {
			t.Errorf("%s was taken beside the store", set)
		}
	}
	if _, err := storetest.Tamper(t, b.Store).ExecContext(t.Context(), `UPDATE votes SET checked = '' WHERE response_id = ?`, after.ID); err == nil {
		t.Error("what was ticked was changed beside the store")
	}
	file := copyOf(t, b.Store)
	for what, edit := range map[string]string{
		"checklist": `UPDATE responses SET checklist = '["The recipient is known"]' WHERE id = '` + string(before.ID) + `'`, "template_text": `UPDATE responses SET template_text = '' WHERE id = '` + string(before.ID) + `'`,
		"template": `UPDATE responses SET template = 'strict' WHERE id = '` + string(before.ID) + `'`, "checked": `UPDATE votes SET checked = ''`,
	} {
		found := tampered(t, file, edit, true)
		if !slices.ContainsFunc(found.Faults, func(f models.RowFault) bool { return f.Table == "responses" || f.Table == "votes" }) {
			t.Errorf("%s is not named: %+v", what, found.Faults)
		}
	}
}

func TestATemplateThatAnAgentNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, underTemplates())
	named := func(tool, template string) models.AskInput {
		return models.AskInput{ToolName: tool, Template: template, Input: []byte(`{"n":1}`)}
	}
	before := storetest.Dump(t, b.Store)
	err := storetest.Err(b.Ask(t.Context(), b.Agent, named("read", "gone")))
	if wantCode(t, err, models.CodeInvalid); models.FieldsOf(err)["template"] != "must be the name of a template of the policy: pay, strict" {
		t.Error(err)
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}

	waits := b.AskFor(t, named("read", "strict"))
	if waits.Status() != models.StatusPending || waits.Risk != models.RiskCritical || !waits.ReviewersOnly || waits.Template != "strict" || waits.ApprovalTimeoutAt.Sub(b.Clock.Now()) > 2*time.Minute {
		t.Errorf("%+v", waits.Response)
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, waits.ID, ticking(0))), models.CodeDigestRequired)
	tick := ticking(0)
	tick.Digest = waits.Digest
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, waits.ID, tick)), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, waits.ID, tick)))

	if denied := b.AskFor(t, named("drop", "pay")); denied.Status() != models.StatusRejected || denied.Cause != models.CausePolicy {
		t.Errorf("a denied call is %s by %s", denied.Status(), denied.Cause)
	}
	both := b.AskFor(t, named("payment.send", "strict"))
	if items := both.Checklist(); !slices.Equal(items, []string{"The recipient is known", "The amount is right", "Ask finance"}) {
		t.Errorf("items are %q", items)
	}
	longer := b.AskFor(t, models.AskInput{ToolName: "write", Template: "pay", TimeoutSeconds: new(int64(60))})
	if got := longer.ApprovalTimeoutAt.Sub(b.Clock.Now()); got > time.Minute {
		t.Errorf("the template gives %s to a request that asked for a minute", got)
	}
	b.UsePolicy(t, `{"approval_enabled":false,"templates":[`+checking+`]}`)
	if off := b.AskFor(t, named("read", "pay")); off.Cause != models.CauseGateOff || off.ChecklistJSON != "" || off.Template != "pay" {
		t.Errorf("with the gate off: %q %+v", off.Cause, off.Response)
	}
	storetest.CheckRows(t, b.Store)
}

// TestI9AnotherTemplateIsTheSameRequest: the first one stays, as a description does.
func TestI9AnotherTemplateIsTheSameRequest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, underTemplates())
	first := b.AskFor(t, models.AskInput{ToolName: "write", ToolUseID: "one", Template: "pay"})
	for _, template := range []string{"strict", "", "gone"} {
		again := b.AskFor(t, models.AskInput{ToolName: "write", ToolUseID: "one", Template: template})
		if again.ID != first.ID || again.Template != "pay" || len(again.Checklist()) != 2 {
			t.Errorf("%q: %s %q %q", template, again.ID, again.Template, again.Checklist())
		}
	}
}

// People of the rule and of the template who are not the same can't approve at all.
func TestNobodySatisfiesRuleAndTemplate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"templates":[`+strict+`],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","reviewers":["admin@example.com"],"reviewers_only":true}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "payment.send", Template: "strict"})
	if a.Status() != models.StatusRejected || a.Cause != models.CauseNoReviewer || !strings.Contains(a.Feedback(), "the rule “Payments” and the template “strict”") {
		t.Errorf("%s by %s: %s", a.Status(), a.Cause, a.Feedback())
	}
}

// A grant says nothing of what nobody has ticked for this call.
func TestGrantsNeverCoverChecklists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	input := models.AskInput{ToolName: "payment.send", Input: []byte(`{"amount":1}`)}
	b.UsePolicy(t, `{"unmatched":"require"}`)
	b.grant(t, b.AskFor(t, input), 9, "amount")
	if a := b.AskFor(t, input); a.Cause != models.CauseGrant {
		t.Fatalf("the grant does not work: %s %s", a.Status(), a.Cause)
	}
	b.UsePolicy(t, `{"unmatched":"require","templates":[`+checking+`,{"name":"plain"}]}`)
	named := input
	named.Template = "plain"
	plain := b.AskFor(t, named)
	if plain.Status() != models.StatusPending {
		t.Errorf("a call that names a template is %s by %s", plain.Status(), plain.Cause)
	}
	b.UsePolicy(t, underTemplates())
	checked := b.AskFor(t, input)
	if checked.Status() != models.StatusPending {
		t.Errorf("a call with a checklist is %s by %s", checked.Status(), checked.Cause)
	}
	for _, a := range []*models.Approval{plain, checked} {
		_, err := b.MakeGrant(t.Context(), b.Owner, a.ID, models.GrantInput{Fixed: []string{"amount"}, Hours: 1, Uses: 5, Digest: a.Digest})
		wantCode(t, err, models.CodeWrongDecisionKind)
	}
}

// An agent limits by its template who approves what the policy holds, and finds nobody else
// who does; what only it asks about is for the template's people.
func TestAnAgentFindsNoApproverByATemplate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rule, template string
		status         models.Status
		owner, admin   bool // may approve
	}{
		"a rule that demands nothing": {`"note":"x"`, `"reviewers":["stranger@example.com"],"reviewers_only":true`, models.StatusRejected, false, false},
		"a rule that names an admin":  {`"reviewers":["admin@example.com"]`, `"reviewers":["stranger@example.com","admin@example.com"],"reviewers_only":true`, models.StatusPending, false, true},
		"never by the owner":          {`"self_approval":"never"`, `"reviewers":["stranger@example.com","owner@example.com"],"reviewers_only":true`, models.StatusRejected, false, false},
		"the owner alone":             {`"note":"x"`, `"reviewers":["owner@example.com"],"reviewers_only":true`, models.StatusPending, true, false},
		"reviewers without a demand":  {`"note":"x"`, `"reviewers":["stranger@example.com"]`, models.StatusPending, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for what, may := range map[string]bool{"owner": tt.owner, "admin": tt.admin, "stranger": false} {
				b := newBench(t)
				who := map[string]models.Actor{"owner": b.Owner, "admin": b.Admin, "stranger": b.Stranger}[what]
				b.UsePolicy(t, `{"templates":[{"name":"docs",`+tt.template+`}],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require",`+tt.rule+`}]}`)
				a := b.AskFor(t, models.AskInput{ToolName: "payment.send", Template: "docs"})
				if a.Status() != tt.status || a.Status() == models.StatusRejected && a.Cause != models.CauseNoReviewer {
					t.Fatalf("it is %s by %s", a.Status(), a.Cause)
				}
				if _, err := b.Decide(t.Context(), who, a.ID, storetest.Yes()); (err == nil) != may {
					t.Errorf("%s approves: %v", what, err)
				}
			}
		})
	}
	b := newBench(t)
	b.UsePolicy(t, `{"templates":[{"name":"docs","reviewers":["stranger@example.com"],"reviewers_only":true}]}`)
	free := b.AskFor(t, models.AskInput{ToolName: "write", Template: "docs"})
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, free.ID, storetest.Yes())), models.CodeNotAReviewer)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Stranger, free.ID, storetest.Yes())))
}

// Groups that only limit who approves get nothing new to see when somebody joins them.
func TestAGroupThatATemplateLimitsTo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.group(t, "finance", b.Admin)
	b.UsePolicy(t, `{"templates":[{"name":"docs","reviewers":["group:finance"],"reviewers_only":true}],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "payment.send", Template: "docs"})
	b.joins(t, "finance", b.Stranger)
	if b.asks(t, b.Stranger, a.ID) {
		t.Error("who joined is asked, though the rule asks nobody")
	}
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeNotAReviewer)
	b.joins(t, "finance", b.Owner)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
}

// What waits is edited as if the gate were on: it is approved under the rule of what it
// becomes.
func TestAnEditWithTheGateOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	doc := func(on string) string {
		return `{"approval_enabled":` + on + `,"templates":[` + checking + `],"rules":[{"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","template":"pay","reviewers":["stranger@example.com"],"reviewers_only":true}]}`
	}
	b.UsePolicy(t, doc("true"))
	a := b.pay(t, 1)
	b.UsePolicy(t, doc("false"))
	edit := storetest.Yes()
	edit.Input = []byte(`{"amount":200}`)
	wantCode(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, edit)), models.CodeInvalid)
	b.standsAs(t, a.ID, models.StatusPending)
}

// A call that was reported before its agent asked about it is under the same templates.
func TestAReportedCallIsUnderItsTemplates(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.UsePolicy(t, underTemplates())
	r.Reports(t, storetest.One(storetest.Queued("c1", "payment.send", `{"amount":1}`, "b1")))
	a := r.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "payment.send", Input: []byte(`{"amount":1}`), Template: "strict"})
	got := r.Read(t, a.ID)
	if got.ReportedAt == nil || len(got.Checklist()) != 3 || got.Template != "strict" || got.TemplateText == "" || r.Rows(t, "c1") != 1 {
		t.Fatalf("%+v", got.Response)
	}
	tick := ticking(0, 1)
	tick.Digest = got.Digest
	wantCode(t, storetest.Err(r.Decide(t.Context(), r.Stranger, a.ID, tick)), models.CodeInvalid)
	tick.Checked = []int{0, 1, 2}
	storetest.Must(t, storetest.Err(r.Decide(t.Context(), r.Stranger, a.ID, tick)))
	storetest.CheckRows(t, r.Store)
}

// What another system asks about is ticked here too, before it is told.
func TestAnOutsideCallIsUnderItsTemplates(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.UsePolicy(t, underTemplates())
	id := w.Taken(t, storetest.Call("c1", "", "payment.send", `{"amount":1}`))
	got := w.Read(t, id)
	if got.UpstreamID == nil || len(got.Checklist()) != 2 || got.TemplateText != "Look at the invoice." {
		t.Fatalf("%+v", got.Response)
	}
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.Owner, id, ticking(1))), models.CodeInvalid)
	w.Vote(t, id, ticking(0, 1))
	w.Deliver(t, id, models.DeliveryTaken)
	if got := w.standsAs(t, id, models.StatusApproved); got.Vote.Checked != "[0,1]" {
		t.Errorf("%+v", got.Vote)
	}
	storetest.CheckRows(t, w.Store)
}
