package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// A request is handed over by its page and approved by the other: the form says on whose behalf,
// and so do the outcome, the history, the conversation and the audit trail afterwards.
func TestARequestIsHandedOverByItsPage(t *testing.T) {
	t.Parallel()
	o := webtest.NewOffice(t, "")
	a := o.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	finance, eve := o.SignIn("finance@example.com"), o.SignIn("eve@example.com")
	eve.Get(at).Is(http.StatusNotFound)
	page := finance.Get(at).Is(http.StatusOK).Says("#hand-over select", "Choose a person", "eve@example.com").SaysNot("#hand-over select", "owner@example.com")
	if page.Doc.Find("#hand-over select option").Length() != 2 {
		t.Error("others are offered")
	}
	finance.Post(at+"/hand-over", url.Values{"note": {"kept"}}).Is(http.StatusUnprocessableEntity).Says("#hand-over .field-error", "choose a person").Says("#hand-over textarea", "kept")
	finance.Post(at+"/hand-over", url.Values{"to": {string(o.Owner.UserID())}, "note": {"kept"}}).Is(http.StatusUnprocessableEntity).Says("#hand-over .field-error", "must be somebody who may approve").Says("#hand-over textarea", "kept")
	long := url.Values{"to": {string(o.Eve.UserID())}, "note": {strings.Repeat("x", models.MaxHandOverNote+1)}}
	if got := finance.Post(at+"/hand-over", long).Is(http.StatusUnprocessableEntity).Says("#hand-over .field-error", "at most"); got.Doc.Find("#hand-over option[selected]").AttrOr("value", "") != string(o.Eve.UserID()) {
		t.Error("whom it goes to was lost")
	}
	o.SignIn(webtest.OwnerEmail).Post(at+"/hand-over", url.Values{"to": {string(o.Eve.UserID())}}).Is(http.StatusForbidden).Says("#approval", "can't hand this request over")
	finance.Post(at+"/hand-over", url.Values{"to": {string(o.Eve.UserID())}, "note": {"Please look,\r\nI am on a train."}}).Redirects(at + "#handovers")
	finance.Get(at).Is(http.StatusOK).Says("#handovers", "eve@example.com has this request too, from you", "I am on a train.", "Take back")

	eve.Get("/").Is(http.StatusOK).Says("#row-"+string(a.ID), "For finance@example.com")
	mine := eve.Get(at).Is(http.StatusOK).Says(".came", "finance@example.com handed this request to you", "I am on a train.").Says(".decide-bar", "You decide on behalf of finance@example.com")
	if mine.Doc.Find("#hand-over, [id$='-back']").Length() != 0 {
		t.Error("she may hand it on, or take it back")
	}
	form := mine.Form("#verdict", "#approve")
	eve.Post(at+"/decide", form).Redirects(at)
	got := o.Approval(a.ID)
	if got.Status() != models.StatusApproved || got.Vote.UserID != o.Eve.UserID() || got.Vote.BehalfOf != o.Finance.UserID() {
		t.Fatalf("it is %s by %+v", got.Status(), got.Vote)
	}
	const both = "eve@example.com on behalf of finance@example.com"
	eve.Get(at).Is(http.StatusOK).Says(".outcome", both).SaysNot("#approval", "You decide on behalf")
	finance.Get("/history").Is(http.StatusOK).Says("main", both)
	owner := o.SignIn(webtest.OwnerEmail)
	owner.Get("/conversations/"+string(a.ConversationID)).Is(http.StatusOK).Says("main", both)
	owner.Get("/audit").Is(http.StatusOK).Says("main", both)
	o.SignIn("admin@example.com").Get("/audit/all").Is(http.StatusOK).Says("main", both)
}

// Taken back between looking and deciding, or the acceptance removed, nothing is decided, and the
// answer says why; and a form for somebody else than now is refused with the page of now (I6).
func TestAStaleFormForOthersDecidesNothingI6(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(*testing.T, *webtest.Office, *models.HandOver){
		"taken back": func(t *testing.T, o *webtest.Office, h *models.HandOver) {
			t.Helper()
			storetest.Must(t, o.Store.TakeBackHandOver(t.Context(), o.Finance, h.ID))
		},
		"acceptance removed": func(t *testing.T, o *webtest.Office, _ *models.HandOver) {
			t.Helper()
			storetest.Must(t, o.Store.RemoveSubstitute(t.Context(), o.Admin, o.Accepted))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := webtest.NewOffice(t, "")
			a := o.Ask(webtest.Payment)
			at := "/approvals/" + string(a.ID)
			h := o.HandsOver(t, a.ID, "")
			eve := o.SignIn("eve@example.com")
			form := eve.Get(at).Form("#verdict", "#approve")
			row := eve.Get("/").Doc.Find("#row-"+string(a.ID)+" input[name=pick]").AttrOr("value", "")
			if !strings.HasSuffix(row, " "+string(o.Finance.UserID())) {
				t.Errorf("the tick does not say for whom: %q", row)
			}
			ends(t, o, h)
			eve.Post(at+"/decide", form).Is(http.StatusNotFound)
			eve.Post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {row}}).Is(http.StatusOK).Says(".bulk-row", "don't have access")
			o.Pending(t, a.ID)
		})
	}
	t.Run("in one's own right now", func(t *testing.T) {
		t.Parallel()
		o := webtest.NewOffice(t, "")
		a := o.Ask(webtest.Payment)
		at := "/approvals/" + string(a.ID)
		o.HandsOver(t, a.ID, "")
		eve := o.SignIn("eve@example.com")
		form := eve.Get(at).Form("#verdict", "#approve")
		form.Del("behalf")
		eve.Post(at+"/decide", form).Is(http.StatusUnprocessableEntity).Says("#approval", "Nothing was decided", "You decide on behalf of finance@example.com")
		eve.Post("/approvals/bulk", webtest.Ticked(a)).Is(http.StatusOK).Says(".bulk-row", "Nothing was decided")
		o.Pending(t, a.ID)
		eve.Post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {string(a.ID) + " " + a.Digest + " " + string(o.Finance.UserID())}}).
			Is(http.StatusOK).Says(".bulk-row", "Approved by you on behalf of finance@example.com")
		if got := o.Approval(a.ID); got.Vote == nil || got.Vote.BehalfOf != o.Finance.UserID() {
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
			o := webtest.NewOffice(t, rule)
			sub, err := o.Store.AskSubstitute(t.Context(), o.Finance, o.Finance.UserID(), o.Owner.UserID())
			storetest.Must(t, err)
			storetest.Must(t, o.Store.AcceptSubstitute(t.Context(), o.Admin, sub.ID))
			a := o.Ask(webtest.Payment)
			at := "/approvals/" + string(a.ID)
			if _, err := o.Store.HandOver(t.Context(), o.Finance, a.ID, o.Owner.UserID(), ""); models.ErrorCode(err) != models.CodeInvalid {
				t.Errorf("handed to who owns the agent: %v", err)
			}
			if offers := o.SignIn("finance@example.com").Get(at).Doc.Find("#hand-over option").Length(); name == "no substitutes" && offers != 0 || name != "no substitutes" && offers != 2 {
				t.Errorf("%d are offered", offers)
			}
			for _, email := range []string{webtest.OwnerEmail, "admin@example.com"} {
				p := o.SignIn(email)
				p.Get("/").Is(http.StatusOK).Says("#row-"+string(a.ID), "Only finance@example.com can approve")
				form := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "checked": {"0"}, "behalf": {string(o.Finance.UserID())}}
				p.Post(at+"/decide", form).Is(http.StatusForbidden).Says("#approval", "can't approve this request")
				form.Del("checked")
				p.Post(at+"/decide", form).Is(http.StatusForbidden)
				p.Post("/approvals/bulk", webtest.Ticked(a)).Is(http.StatusOK).SaysNot(".bulk-row", "Approved by you")
			}
			o.Pending(t, a.ID)
		})
	}
}

// A substitute ticks the checklist of what they decide for somebody else, as anybody would.
func TestASubstituteTicksTheChecklist(t *testing.T) {
	t.Parallel()
	o := webtest.NewOffice(t, `,"template":"careful"`)
	a := o.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	o.HandsOver(t, a.ID, "")
	eve := o.SignIn("eve@example.com")
	form := eve.Get(at).Form("#verdict", "#approve")
	eve.Post(at+"/decide", form).Is(http.StatusUnprocessableEntity).Says("#approval", models.TickAll)
	o.Pending(t, a.ID)
	form.Set("checked", "0")
	eve.Post(at+"/decide", form).Redirects(at)
}

// Notes and names are drawn as what others wrote: no markup, and hidden characters are told.
func TestNotesOfHandOversAreDrawnAsWritten(t *testing.T) {
	t.Parallel()
	o := webtest.NewOffice(t, "")
	a := o.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	h := o.HandsOver(t, a.ID, "</p><script>alert(1)</script> \u202Egnp.exe [x](javascript:alert(1))")
	for _, email := range []string{"eve@example.com", "finance@example.com"} {
		page := o.SignIn(email).Get(at).Is(http.StatusOK).Says("#approval", "<script>alert(1)</script>", "U+202E")
		if page.Doc.Find("#approval script, #approval a[href^=javascript]").Length() != 0 {
			t.Error("a note is markup")
		}
	}
	finance := o.SignIn("finance@example.com")
	eve := o.SignIn("eve@example.com")
	eve.Post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).Is(http.StatusNotFound) // it is not hers
	finance.Post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).Redirects(at)
	finance.Post(at+"/hand-over/"+string(h.ID)+"/take-back", nil).Redirects(at) // nothing more happens
	finance.Get(at).Is(http.StatusOK).SaysNot("#approval", "Handed over")
	eve.Get(at).Is(http.StatusNotFound)
}

// Handed over twice to the same person it is there once; too late, it says how it stands.
func TestHandingOverTwiceOrTooLate(t *testing.T) {
	t.Parallel()
	o := webtest.NewOffice(t, "")
	a := o.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	finance := o.SignIn("finance@example.com")
	to := url.Values{"to": {string(o.Eve.UserID())}, "note": {"one"}}
	finance.Post(at+"/hand-over", to).Redirects(at + "#handovers")
	finance.Post(at+"/hand-over", to).Redirects(at + "#handovers")
	page := finance.Get(at)
	if n := page.Doc.Find("#handovers li").Length(); n != 1 {
		t.Errorf("%d hand-overs", n)
	}
	back := page.Doc.Find("#handovers form").AttrOr("action", "")
	storetest.Must(t, storetest.Err(o.Store.Decide(t.Context(), o.Finance, a.ID, models.DecisionInput{Approved: new(false)})))
	finance.Post(at+"/hand-over", to).Is(http.StatusConflict).Says("#approval", "Your hand-over changed nothing")
	finance.Post(back, nil).Is(http.StatusConflict).Says("#approval", "Your hand-over changed nothing")
}

// While somebody is away their substitute reads why they have a request and until when; whom the
// rule asks next, and when; and of one that expired, who was told and that nobody saw it.
func TestAPageSaysWhoIsAwayWhoIsNextAndWhoCouldHaveAnswered(t *testing.T) {
	t.Parallel()
	o := webtest.NewOffice(t, `,"escalate":[{"after_minutes":30,"to":["admin@example.com"]}]`)
	storetest.Must(t, storetest.Err(o.Store.PlanAbsence(t.Context(), o.Finance, models.AbsenceInput{UserID: o.Finance.UserID(), Until: o.Store.Now().Add(48 * time.Hour), Substitute: o.Eve.UserID()})))
	a := o.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	eve := o.SignIn("eve@example.com")
	eve.Get(at).Is(http.StatusOK).Says(".came", "finance@example.com is away until", "named you as the substitute").
		Says(".decide-bar", "You decide on behalf of finance@example.com").Says(".facts", "Asks next", "admin@example.com")
	o.SignIn("finance@example.com").Get(at).Is(http.StatusOK).Says(".came", "The rule asks you.").SaysNot("#approval", "on behalf")
	o.Clock.Step(31 * time.Minute)
	storetest.Must(t, storetest.Err(o.Store.EscalateDue(t.Context(), 10)))
	o.SignIn("admin@example.com").Get(at).Is(http.StatusOK).Says(".came", "because nobody had decided after 30 min").SaysNot("#approval", "Asks next")
	o.Clock.Step(time.Hour)
	eve.Get(at).Is(http.StatusOK).Says("#unanswered", "Nobody is recorded as having seen this request, and nobody was told of it by a notification.", "finance@example.com · no notification was sent · not recorded as having seen it").SaysNot("#approval", "You decide on behalf")
}
