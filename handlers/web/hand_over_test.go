package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// office is a world in which finance approves payments, and Eve may act for finance.
type office struct {
	*world

	finance, eve models.Actor
	accepted     models.SubstituteID
}

func newOffice(t *testing.T, rule string) *office {
	t.Helper()
	o := &office{world: newWorld(t)}
	o.finance, o.eve = storetest.Reviewer(t, o.store, "finance@example.com"), storetest.Reviewer(t, o.store, "eve@example.com")
	o.applyPolicy(`{"templates":[{"name":"careful","checklist":["Looked at it"]}],"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","risk":"medium","timeout_minutes":60,"reviewers":["finance@example.com"],"reviewers_only":true` + rule + `}]}`)
	sub, err := o.store.AskSubstitute(t.Context(), o.finance, o.finance.UserID(), o.eve.UserID())
	storetest.Must(t, err)
	storetest.Must(t, o.store.AcceptSubstitute(t.Context(), o.admin, sub.ID))
	o.accepted = sub.ID
	return o
}

func (o *office) handsOver(t *testing.T, id models.ResponseID, note string) *models.HandOver {
	t.Helper()
	h, err := o.store.HandOver(t.Context(), o.finance, id, o.eve.UserID(), note)
	storetest.Must(t, err)
	return h
}

// pending fails unless nothing was decided.
func (o *office) pending(t *testing.T, id models.ResponseID) {
	t.Helper()
	if a := o.stands(id); a.Status() != models.StatusPending || a.Vote != nil {
		t.Fatalf("it is %s by %+v", a.Status(), a.Vote)
	}
}

// A request is handed over by its page and approved by the other: the form says on whose behalf,
// and so do the outcome, the history, the conversation and the audit trail afterwards.
func TestARequestIsHandedOverByItsPage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	a := o.ask(payment)
	at := "/approvals/" + string(a.ID)
	finance, eve := o.signedIn("finance@example.com"), o.signedIn("eve@example.com")
	eve.get(at).is(http.StatusNotFound)
	page := finance.get(at).is(http.StatusOK).says("#hand-over select", "Choose a person", "eve@example.com").saysNot("#hand-over select", "owner@example.com")
	if page.doc.Find("#hand-over select option").Length() != 2 {
		t.Error("others are offered")
	}
	finance.post(at+"/hand-over", url.Values{"note": {"kept"}}).is(http.StatusUnprocessableEntity).says("#hand-over .field-error", "choose a person").says("#hand-over textarea", "kept")
	finance.post(at+"/hand-over", url.Values{"to": {string(o.owner.UserID())}, "note": {"kept"}}).is(http.StatusUnprocessableEntity).says("#hand-over .field-error", "must be somebody who may approve").says("#hand-over textarea", "kept")
	long := url.Values{"to": {string(o.eve.UserID())}, "note": {strings.Repeat("x", models.MaxHandOverNote+1)}}
	if got := finance.post(at+"/hand-over", long).is(http.StatusUnprocessableEntity).says("#hand-over .field-error", "at most"); got.doc.Find("#hand-over option[selected]").AttrOr("value", "") != string(o.eve.UserID()) {
		t.Error("whom it goes to was lost")
	}
	o.signedIn(ownerEmail).post(at+"/hand-over", url.Values{"to": {string(o.eve.UserID())}}).is(http.StatusForbidden).says("#approval", "can't hand this request over")
	finance.post(at+"/hand-over", url.Values{"to": {string(o.eve.UserID())}, "note": {"Please look,\r\nI am on a train."}}).redirects(at + "#handovers")
	finance.get(at).is(http.StatusOK).says("#handovers", "eve@example.com has this request too, from you", "I am on a train.", "Take back")

	eve.get("/").is(http.StatusOK).says("#row-"+string(a.ID), "You decide for finance@example.com")
	mine := eve.get(at).is(http.StatusOK).says(".came", "finance@example.com handed this request to you", "I am on a train.").says(".decide-bar", "You decide on behalf of finance@example.com")
	if mine.doc.Find("#hand-over, [id$='-back']").Length() != 0 {
		t.Error("she may hand it on, or take it back")
	}
	form := mine.form("#verdict", "#approve")
	eve.post(at+"/decide", form).redirects(at)
	got := o.stands(a.ID)
	if got.Status() != models.StatusApproved || got.Vote.UserID != o.eve.UserID() || got.Vote.BehalfOf != o.finance.UserID() {
		t.Fatalf("it is %s by %+v", got.Status(), got.Vote)
	}
	const both = "eve@example.com on behalf of finance@example.com"
	eve.get(at).is(http.StatusOK).says(".outcome", both).saysNot("#approval", "You decide on behalf")
	finance.get("/history").is(http.StatusOK).says("main", both)
	owner := o.signedIn(ownerEmail)
	owner.get("/conversations/"+string(a.ConversationID)).is(http.StatusOK).says("main", both)
	owner.get("/audit").is(http.StatusOK).says("main", both)
	o.signedIn("admin@example.com").get("/audit/all").is(http.StatusOK).says("main", both)
}

// Taken back between looking and deciding, or the acceptance removed, nothing is decided, and the
// answer says why; and a form for somebody else than now is refused with the page of now (I6).
func TestAStaleFormForOthersDecidesNothingI6(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*testing.T, *office, *models.HandOver){
		"taken back": func(t *testing.T, o *office, h *models.HandOver) {
			t.Helper()
			storetest.Must(t, o.store.TakeBackHandOver(t.Context(), o.finance, h.ID))
		},
		"acceptance removed": func(t *testing.T, o *office, _ *models.HandOver) {
			t.Helper()
			storetest.Must(t, o.store.RemoveSubstitute(t.Context(), o.admin, o.accepted))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, "")
			a := o.ask(payment)
			at := "/approvals/" + string(a.ID)
			h := o.handsOver(t, a.ID, "")
			eve := o.signedIn("eve@example.com")
			form := eve.get(at).form("#verdict", "#approve")
			row := eve.get("/").doc.Find("#row-"+string(a.ID)+" input[name=pick]").AttrOr("value", "")
			if !strings.HasSuffix(row, " "+string(o.finance.UserID())) {
				t.Errorf("the tick does not say for whom: %q", row)
			}
			ends(t, o, h)
			eve.post(at+"/decide", form).is(http.StatusNotFound)
			eve.post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {row}}).is(http.StatusOK).says(".bulk-row", "don't have access")
			o.pending(t, a.ID)
		})
	}
	t.Run("in one's own right now", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		a := o.ask(payment)
		at := "/approvals/" + string(a.ID)
		o.handsOver(t, a.ID, "")
		eve := o.signedIn("eve@example.com")
		form := eve.get(at).form("#verdict", "#approve")
		form.Del("behalf")
		eve.post(at+"/decide", form).is(http.StatusUnprocessableEntity).says("#approval", "Nothing was decided", "You decide on behalf of finance@example.com")
		eve.post("/approvals/bulk", ticked(a)).is(http.StatusOK).says(".bulk-row", "Nothing was decided")
		o.pending(t, a.ID)
		eve.post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {string(a.ID) + " " + a.Digest + " " + string(o.finance.UserID())}}).
			is(http.StatusOK).says(".bulk-row", "Approved by you on behalf of finance@example.com")
		if got := o.stands(a.ID); got.Vote == nil || got.Vote.BehalfOf != o.finance.UserID() {
			t.Errorf("it counts as %+v", got.Vote)
		}
	})
}

// Whom the rule does not let approve, and who acts for nobody, is not let by the list, in bulk or
// by a checklist's form either; nor is a substitute who owns the agent, or where the rule lets
// nobody act for others.
func TestNobodyElseDecidesFromTheList(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]string{"plain": "", "no substitutes": `,"substitutes":false`, "checklist": `,"template":"careful"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, rule)
			sub, err := o.store.AskSubstitute(t.Context(), o.finance, o.finance.UserID(), o.owner.UserID())
			storetest.Must(t, err)
			storetest.Must(t, o.store.AcceptSubstitute(t.Context(), o.admin, sub.ID))
			a := o.ask(payment)
			at := "/approvals/" + string(a.ID)
			if _, err := o.store.HandOver(t.Context(), o.finance, a.ID, o.owner.UserID(), ""); models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("handed to who owns the agent: %v", err)
			}
			if offers := o.signedIn("finance@example.com").get(at).doc.Find("#hand-over option").Length(); name == "no substitutes" && offers != 0 || name != "no substitutes" && offers != 2 {
				t.Errorf("%d are offered", offers)
			}
			for _, email := range []string{ownerEmail, "admin@example.com"} {
				p := o.signedIn(email)
				p.get("/").is(http.StatusOK).says("#row-"+string(a.ID), "finance@example.com must approve")
				form := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "checked": {"0"}, "behalf": {string(o.finance.UserID())}}
				p.post(at+"/decide", form).is(http.StatusForbidden).says("#approval", "can't approve this request")
				form.Del("checked")
				p.post(at+"/decide", form).is(http.StatusForbidden)
				p.post("/approvals/bulk", ticked(a)).is(http.StatusOK).saysNot(".bulk-row", "Approved by you")
			}
			o.pending(t, a.ID)
		})
	}
}

// A substitute ticks the checklist of what they decide for somebody else, as anybody would.
func TestASubstituteTicksTheChecklist(t *testing.T) {
	t.Parallel()
	o := newOffice(t, `,"template":"careful"`)
	a := o.ask(payment)
	at := "/approvals/" + string(a.ID)
	o.handsOver(t, a.ID, "")
	eve := o.signedIn("eve@example.com")
	form := eve.get(at).form("#verdict", "#approve")
	eve.post(at+"/decide", form).is(http.StatusUnprocessableEntity).says("#approval", models.TickAll)
	o.pending(t, a.ID)
	form.Set("checked", "0")
	eve.post(at+"/decide", form).redirects(at)
}

// Notes and names are drawn as what others wrote: no markup, and hidden characters are told.
func TestNotesOfHandOversAreDrawnAsWritten(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	a := o.ask(payment)
	at := "/approvals/" + string(a.ID)
	h := o.handsOver(t, a.ID, "</p><script>alert(1)</script> \u202Egnp.exe [x](javascript:alert(1))")
	for _, email := range []string{"eve@example.com", "finance@example.com"} {
		page := o.signedIn(email).get(at).is(http.StatusOK).says("#approval", "<script>alert(1)</script>", "U+202E")
		if page.doc.Find("#approval script, #approval a[href^=javascript]").Length() != 0 {
			t.Error("a note is markup")
		}
	}
	finance := o.signedIn("finance@example.com")
	eve := o.signedIn("eve@example.com")
	eve.post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).is(http.StatusNotFound) // it is not hers
	finance.post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).redirects(at)
	finance.post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).redirects(at) // nothing more happens
	finance.get(at).is(http.StatusOK).saysNot("#approval", "Handed over")
	eve.get(at).is(http.StatusNotFound)
}

// Handed over twice to the same person it is there once; too late, it says how it stands.
func TestHandingOverTwiceOrTooLate(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	a := o.ask(payment)
	at := "/approvals/" + string(a.ID)
	finance := o.signedIn("finance@example.com")
	to := url.Values{"to": {string(o.eve.UserID())}, "note": {"one"}}
	finance.post(at+"/hand-over", to).redirects(at + "#handovers")
	finance.post(at+"/hand-over", to).redirects(at + "#handovers")
	page := finance.get(at)
	if n := page.doc.Find("#handovers li").Length(); n != 1 {
		t.Errorf("%d hand-overs", n)
	}
	back := page.doc.Find("#handovers form").AttrOr("action", "")
	storetest.Must(t, storetest.Err(o.store.Decide(t.Context(), o.finance, a.ID, models.DecisionInput{Approved: new(false)})))
	finance.post(at+"/hand-over", to).is(http.StatusConflict).says("#approval", "Your hand-over changed nothing")
	finance.post(back, nil).is(http.StatusConflict).says("#approval", "Your hand-over changed nothing")
}

// While somebody is away their substitute reads why they have a request and until when; whom the
// rule asks next, and when; and of one that expired, who was told and that nobody saw it.
func TestAPageSaysWhoIsAwayWhoIsNextAndWhoCouldHaveAnswered(t *testing.T) {
	t.Parallel()
	o := newOffice(t, `,"escalate":[{"after_minutes":30,"to":["admin@example.com"]}]`)
	storetest.Must(t, storetest.Err(o.store.PlanAbsence(t.Context(), o.finance, models.AbsenceInput{UserID: o.finance.UserID(), Until: o.store.Now().Add(48 * time.Hour), Substitute: o.eve.UserID()})))
	a := o.ask(payment)
	at := "/approvals/" + string(a.ID)
	eve := o.signedIn("eve@example.com")
	eve.get(at).is(http.StatusOK).says(".came", "finance@example.com is away until", "named you as the substitute").
		says(".decide-bar", "You decide on behalf of finance@example.com").says(".facts", "Asks next", "admin@example.com")
	o.signedIn("finance@example.com").get(at).is(http.StatusOK).says(".came", "The rule asks you.").saysNot("#approval", "on behalf")
	o.clock.Step(31 * time.Minute)
	storetest.Must(t, storetest.Err(o.store.EscalateDue(t.Context(), 10)))
	o.signedIn("admin@example.com").get(at).is(http.StatusOK).says(".came", "because nobody had decided after 30 min").saysNot("#approval", "Asks next")
	o.clock.Step(time.Hour)
	eve.get(at).is(http.StatusOK).says("#unanswered", "Nobody is recorded as having seen this request, and nobody was told of it by a notification.", "finance@example.com · no notification was sent · not recorded as having seen it").saysNot("#approval", "You decide on behalf")
}
