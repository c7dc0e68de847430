package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
)

const underChecklist = `{"templates":[{"name":"pay","checklist":["The recipient is known","The <b>amount</b> is right"],"text":"Look at the invoice.","risk":"RISK"}],
 "rules":[{"name":"Payments","tools":["payment.send","respond_with_approval"],"effect":"require","template":"pay"}]}`

func paying(in *models.AskInput) { in.ToolName, in.Input = "payment.send", []byte(`{"amount":1}`) }

// What is missing is said at the checklist, and nothing that was typed is lost.
func TestTheChecklistIsTickedBeforeApproving(t *testing.T) {
	t.Parallel()
	for _, risk := range []string{"low", "critical"} {
		t.Run(risk, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.applyPolicy(strings.ReplaceAll(underChecklist, "RISK", risk))
			a, p := w.ask(paying), w.signedIn(ownerEmail)
			shown := p.get(pageOf(a)).is(http.StatusOK).says("#checklist", "The recipient is known", "The <b>amount</b> is right").says(".approval-why", "From the policy", "Look at the invoice.")
			form := shown.form("#verdict", "#approve")
			form.Set("reason", "as agreed")
			form.Set("seen_end", "1")
			form["checked"] = []string{"1"}
			back := p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says("#checklist-error", "Tick every item before you approve.")
			if back.value("#reason") != "as agreed" || back.doc.Find("#checklist-2[checked]").Length() != 1 || back.doc.Find("#checklist-1[checked]").Length() != 0 {
				t.Error("what was filled in is lost")
			}
			if back.doc.Find("#checklist-1[autofocus][aria-invalid]").Length() != 1 || back.doc.Find("main [autofocus]").Length() != 1 {
				t.Error("the first item that is missing has no focus")
			}
			if w.stands(a.ID).Status() != models.StatusPending {
				t.Fatal("it was approved")
			}
			form["checked"] = []string{"0", "1"}
			if risk == "critical" { // asked once more, with the ticks
				form = p.post(decideOf(a), form).is(http.StatusOK).form("#confirm", "#confirm-approve")
			}
			p.post(decideOf(a), form).redirects(pageOf(a))
			if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Checked != "[0,1]" {
				t.Fatalf("%s %+v", got.Status(), got.Vote)
			}
			p.get(pageOf(a)).says(".outcome .ticked", ownerEmail+" ticked:", "The recipient is known")

			other := w.ask(paying)
			p.post(decideOf(other), url.Values{"verdict": {"reject"}, "digest": {other.Digest}}).redirects(pageOf(other))
		})
	}
}

func TestAChecklistIsNotApprovedInBulk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(strings.ReplaceAll(underChecklist, "RISK", "low"))
	a, p := w.ask(paying), w.signedIn(ownerEmail)
	form := ticked(a)
	form.Set("sure", "true")
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main", "Requests with a checklist can't be bulk-approved.")
	if w.stands(a.ID).Status() != models.StatusPending {
		t.Error("it was approved")
	}
	if p.get(pageOf(a)).doc.Find("a[href$='/grant']").Length() != 0 {
		t.Error("a pre-approval is offered")
	}
	form.Set("verdict", "reject")
	p.post("/approvals/bulk", form).is(http.StatusOK)
	if w.stands(a.ID).Status() != models.StatusRejected {
		t.Error("it can't be rejected with others")
	}
}

// The cards in a conversation.
func TestTheChecklistInAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(strings.ReplaceAll(underChecklist, "RISK", "low"))
	p := w.signedIn(ownerEmail)
	id := w.conversation(-1)
	first := w.proposes(id, "Pay it.", 0)
	path := conversationPath(id)
	entry := "#entry-" + strconv.FormatInt(first.Sequence, 10) + "-"
	decide := path + "/decide/" + string(first.ID)
	form := p.get(path).is(http.StatusOK).says(entry+"checklist", "The recipient is known").form(entry+"verdict", entry+"approve")
	form.Set("reason", "fine")
	form["checked"] = []string{"0"}
	back := p.post(decide, form).is(http.StatusUnprocessableEntity).says(entry+"checklist-error", "Tick every item before you approve.")
	if back.doc.Find(entry+"checklist-1[checked]").Length() != 1 || back.value(entry+"reason") != "fine" {
		t.Error("what was filled in is lost")
	}
	form["checked"] = []string{"0", "1"}
	p.post(decide, form).is(http.StatusSeeOther)
	if w.stands(first.ID).Status() != models.StatusApproved {
		t.Error("the card of a proposal approves nothing")
	}

	call := w.ask(paying, func(in *models.AskInput) { in.ConversationID = string(first.ConversationID) })
	card := path + "/decide/" + string(call.ID)
	if n := p.get(path).doc.Find("form[action='" + card + "'] input[name=checked]").Length(); n != 2 {
		t.Errorf("the card has %d items", n)
	}
	approve := url.Values{"verdict": {"approve"}, "digest": {call.Digest}}
	p.post(card, approve).is(http.StatusUnprocessableEntity).says("main", "Tick every item before you approve.")
	approve["checked"] = []string{"0", "1"}
	p.post(card, approve).is(http.StatusSeeOther)
	if w.stands(call.ID).Status() != models.StatusApproved {
		t.Error("the card approves nothing")
	}
}

const (
	backedUp = `{"templates":[{"name":"a","checklist":["The logs are backed up"]}],"rules":[{"name":"P","tools":["respond_with_approval"],"effect":"require","template":"a"}]}`
	called   = `{"templates":[{"name":"a","checklist":["The payee was called"]}],"rules":[{"name":"P","tools":["respond_with_approval"],"effect":"require","template":"a"}]}`
)

// A checklist is ticked for one input: each form of the page has its own ticks and error.
func TestTicksStayInTheFormTheyWereMadeIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"templates":[{"name":"pay","checklist":["The amount is right","The recipient is known"]}],"rules":[
 {"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","template":"pay","reviewers":["admin@example.com"],"reviewers_only":true},
 {"name":"Payments","tools":["payment.send"],"effect":"require","template":"pay"}]}`)
	a := w.ask(paying)
	proposed := models.DecisionInput{Approved: new(true), Digest: a.Digest, Checked: []int{0, 1}, Input: []byte(`{"amount":200000}`), Page: models.NoPage}
	if _, err := w.store.Decide(t.Context(), w.owner, a.ID, proposed); err != nil {
		t.Fatal(err)
	}
	p := w.signedIn("admin@example.com")
	shown := p.get(pageOf(a)).is(http.StatusOK)
	one := shown.doc.Find("section.proposed").AttrOr("id", "")
	forms := map[string]url.Values{"#checklist": shown.form("#verdict", "#approve"), "#" + one + "-checklist": shown.form("#"+one+" form.verdict", "#"+one+"-approve")}
	for mine, form := range forms {
		form["checked"] = []string{"0"}
		got := p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says(mine+"-error", models.TickAll)
		if got.doc.Find(mine+" input[checked]").Length() != 1 || got.doc.Find("input[name=checked][checked]").Length() != 1 {
			t.Errorf("%s: %d items are ticked on the page", mine, got.doc.Find("input[name=checked][checked]").Length())
		}
		if got.doc.Find(".checklist .field-error").Length() != 1 || got.doc.Find(mine+" [autofocus]").Length() != 1 || got.doc.Find("main [autofocus]").Length() != 1 {
			t.Errorf("%s: what is wrong is said elsewhere too", mine)
		}
	}
	edit := forms["#"+one+"-checklist"]
	edit["checked"] = []string{"0", "1"}
	p.post(decideOf(a), edit).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Checked != "[0,1]" {
		t.Errorf("%s %+v", got.Status(), got.Vote)
	}
}
