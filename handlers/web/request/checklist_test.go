package request_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// What is missing is said at the checklist, and nothing that was typed is lost.
func TestTheChecklistIsTickedBeforeApproving(t *testing.T) {
	t.Parallel()
	for _, risk := range []string{"low", "critical"} {
		t.Run(risk, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(strings.ReplaceAll(webtest.UnderChecklist, "RISK", risk))
			a, p := w.Ask(webtest.Paying), w.SignIn(webtest.OwnerEmail)
			shown := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("#checklist", "The recipient is known", "The <b>amount</b> is right").Says(".approval-why", "From the policy", "Look at the invoice.")
			form := shown.Form("#verdict", "#approve")
			form.Set("reason", "as agreed")
			form.Set("seen_end", "1")
			form["checked"] = []string{"1"}
			back := p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says("#checklist-error", "Tick every item before you approve.")
			if back.Value("#reason") != "as agreed" || back.Doc.Find("#checklist-2[checked]").Length() != 1 || back.Doc.Find("#checklist-1[checked]").Length() != 0 {
				t.Error("what was filled in is lost")
			}
			if back.Doc.Find("#checklist-1[autofocus][aria-invalid]").Length() != 1 || back.Doc.Find("main [autofocus]").Length() != 1 {
				t.Error("the first item that is missing has no focus")
			}
			if w.Approval(a.ID).Status() != models.StatusPending {
				t.Fatal("it was approved")
			}
			form["checked"] = []string{"0", "1"}
			if risk == "critical" { // asked once more, with the ticks
				form = p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Form("#confirm", "#confirm-approve")
			}
			p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
			if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Checked != "[0,1]" {
				t.Fatalf("%s %+v", got.Status(), got.Vote)
			}
			p.Get(webtest.PageOf(a)).Says(".outcome .ticked", webtest.OwnerEmail+" ticked:", "The recipient is known")

			other := w.Ask(webtest.Paying)
			p.Post(webtest.DecideOf(other), url.Values{"verdict": {"reject"}, "digest": {other.Digest}}).Redirects(webtest.PageOf(other))
		})
	}
}

func TestAChecklistIsNotApprovedInBulk(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(strings.ReplaceAll(webtest.UnderChecklist, "RISK", "low"))
	a, p := w.Ask(webtest.Paying), w.SignIn(webtest.OwnerEmail)
	form := webtest.Ticked(a)
	form.Set("sure", "true")
	p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main", "Requests with a checklist can't be bulk-approved.")
	if w.Approval(a.ID).Status() != models.StatusPending {
		t.Error("it was approved")
	}
	if p.Get(webtest.PageOf(a)).Doc.Find("a[href$='/grant']").Length() != 0 {
		t.Error("a pre-approval is offered")
	}
	form.Set("verdict", "reject")
	p.Post("/approvals/bulk", form).Is(http.StatusOK)
	if w.Approval(a.ID).Status() != models.StatusRejected {
		t.Error("it can't be rejected with others")
	}
}

// The cards in a conversation.
func TestTheChecklistInAConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(strings.ReplaceAll(webtest.UnderChecklist, "RISK", "low"))
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(-1)
	first := w.Proposes(id, "Pay it.", 0)
	path := webtest.ConversationPath(id)
	entry := "#entry-" + strconv.FormatInt(first.Sequence, 10) + "-"
	decide := path + "/decide/" + string(first.ID)
	form := p.Get(path).Is(http.StatusOK).Says(entry+"checklist", "The recipient is known").Form(entry+"verdict", entry+"approve")
	form.Set("reason", "fine")
	form["checked"] = []string{"0"}
	back := p.Post(decide, form).Is(http.StatusUnprocessableEntity).Says(entry+"checklist-error", "Tick every item before you approve.")
	if back.Doc.Find(entry+"checklist-1[checked]").Length() != 1 || back.Value(entry+"reason") != "fine" {
		t.Error("what was filled in is lost")
	}
	form["checked"] = []string{"0", "1"}
	p.Post(decide, form).Is(http.StatusSeeOther)
	if w.Approval(first.ID).Status() != models.StatusApproved {
		t.Error("the card of a proposal approves nothing")
	}

	call := w.Ask(webtest.Paying, func(in *models.AskInput) { in.ConversationID = string(first.ConversationID) })
	card := path + "/decide/" + string(call.ID)
	doc := p.Get(path).Doc
	verdict := doc.Find("form.verdict[action='"+card+"']").AttrOr("id", "")
	if n := doc.Find("input[name=checked][form='" + verdict + "']").Length(); n != 2 {
		t.Errorf("the card has %d items", n)
	}
	approve := url.Values{"verdict": {"approve"}, "digest": {call.Digest}}
	p.Post(card, approve).Is(http.StatusUnprocessableEntity).Says("main", "Tick every item before you approve.")
	approve["checked"] = []string{"0", "1"}
	p.Post(card, approve).Is(http.StatusSeeOther)
	if w.Approval(call.ID).Status() != models.StatusApproved {
		t.Error("the card approves nothing")
	}
}

// A checklist is ticked for one input: each form of the page has its own ticks and error.
func TestTicksStayInTheFormTheyWereMadeIn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"templates":[{"name":"pay","checklist":["The amount is right","The recipient is known"]}],"rules":[
 {"name":"Large","tools":["payment.send"],"when":"input.amount > 100","effect":"require","template":"pay","reviewers":["admin@example.com"],"reviewers_only":true},
 {"name":"Payments","tools":["payment.send"],"effect":"require","template":"pay"}]}`)
	a := w.Ask(webtest.Paying)
	proposed := models.DecisionInput{Approved: new(true), Digest: a.Digest, Checked: []int{0, 1}, Input: []byte(`{"amount":200000}`), Page: models.NoPage}
	if _, err := w.Store.Decide(t.Context(), w.Owner, a.ID, proposed); err != nil {
		t.Fatal(err)
	}
	p := w.SignIn("admin@example.com")
	shown := p.Get(webtest.PageOf(a)).Is(http.StatusOK)
	one := shown.Doc.Find("section.proposed").AttrOr("id", "")
	forms := map[string]url.Values{"#checklist": shown.Form("#verdict", "#approve"), "#" + one + "-checklist": shown.Form("#"+one+" form.verdict", "#"+one+"-approve")}
	for mine, form := range forms {
		form["checked"] = []string{"0"}
		got := p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says(mine+"-error", models.TickAll)
		if got.Doc.Find(mine+" input[checked]").Length() != 1 || got.Doc.Find("input[name=checked][checked]").Length() != 1 {
			t.Errorf("%s: %d items are ticked on the page", mine, got.Doc.Find("input[name=checked][checked]").Length())
		}
		if got.Doc.Find(".checklist .field-error").Length() != 1 || got.Doc.Find(mine+" [autofocus]").Length() != 1 || got.Doc.Find("main [autofocus]").Length() != 1 {
			t.Errorf("%s: what is wrong is said elsewhere too", mine)
		}
	}
	edit := forms["#"+one+"-checklist"]
	edit["checked"] = []string{"0", "1"}
	p.Post(webtest.DecideOf(a), edit).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Checked != "[0,1]" {
		t.Errorf("%s %+v", got.Status(), got.Vote)
	}
}
