package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestARequestOfAnotherSystemShowsItsRunAndWhenItWasAsked(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	for range 2 { // it waits a poll for its call
		o.Take(models.OutsideItem{CallID: "c1", RunID: "run-of-theirs", Name: "Bash", Arguments: []byte(`{"command":"make"}`), AskedAt: o.Clock.Now().Add(-2 * time.Hour)})
	}
	a := o.Waits()
	o.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(&a)).Says("header", "according to night-shift").Says("main", "run-of-theirs")
}

func TestARequestOfAnotherSystemIsDecidedAndHeldUntilItHasHeard(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Run(models.RunInput{RunID: "top", Title: "Ship it"})
	o.Run(models.RunInput{RunID: "below", ParentRunID: "top"}, webtest.Queued("u1", "Bash", `{"command":"make"}`))
	o.Take(models.OutsideItem{CallID: "c1", RunID: "below", Name: "Bash", Arguments: []byte(`{"command":"make"}`)})
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	p.Get("/").Says("#inbox", "deployer", "asked through night-shift", "sub-agent of", "Ship it")
	got := p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says("header", "asked through night-shift", "sub-agent of").Says(".decide", "required to reject", "lets night-shift run what it asks for")
	if got.Doc.Find("#edit, #edit-body").Length() != 0 {
		t.Error("an input that the other system runs can be edited")
	}
	form := got.Form(".verdict", "#reject")
	form.Set("reason", " ")
	p.Post(webtest.DecideOf(&a), form).Is(http.StatusUnprocessableEntity).Says("#reason-error", "required")
	edited := url.Values{"verdict": {"approve_edited"}, "digest": {a.Digest}, "input": {`{"command":"true"}`}}
	p.Post(webtest.DecideOf(&a), edited).Is(http.StatusUnprocessableEntity).Says(".decide", "as it was sent")

	form.Set("reason", "not tonight")
	p.Post(webtest.DecideOf(&a), form).Redirects(webtest.PageOf(&a))
	held := "owner@example.com's rejection is being sent to night-shift: not confirmed yet"
	p.Get(webtest.PageOf(&a)).Says(".decide", held)
	p.Get("/").Says("#inbox .row-link", held)
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryLater, Text: "The upstream failed (503).", Pause: time.Minute})
	p.Get(webtest.PageOf(&a)).Says(".decide", held+" (attempt 1)", "failed (503)")
	late := p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Is(http.StatusConflict)
	late.Says("main", held, "Your approval changed nothing")
	o.Clock.Step(2 * time.Minute)
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	p.Get(webtest.PageOf(&a)).Says(".outcome", "rejected", "owner@example.com", "not tonight")
}

func TestWhatOnlyOrNothingMatchedIsMarked(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	p := o.SignIn(webtest.OwnerEmail)
	o.Run(models.RunInput{RunID: "r"}, webtest.Queued("u1", "Bash", `{"command":"one"}`), webtest.Queued("u2", "Bash", `{"command":"two"}`))
	o.Take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"<b>three\u202e"}`)})
	a := o.Waits()
	got := p.Get(webtest.PageOf(&a)).Says(".what", "Matched by order", "another input", "The input that night-shift asks with", "<b>three", "The input that deployer reported", "one")
	if strings.Contains(got.Body, "<b>three") || strings.Contains(got.Body, "\u202e") {
		t.Error("what the other system sent is not escaped")
	}
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}})
	lost := models.OutsideItem{CallID: "c2", RunID: "nowhere", Name: "<i>odd\u202e name", Arguments: []byte(`{}`)}
	o.Take(lost)
	o.Take(lost)
	b := o.Waits()
	p.Get("/").Says("#inbox", "<i>odd")
	odd := p.Get(webtest.PageOf(&b)).Is(http.StatusOK).Says(".what", "Unmatched").Says("h1", "<i>odd")
	if odd.Doc.Find("h1 i").Length() != 0 {
		t.Error("a tool's name is not escaped")
	}
}

func TestAQuestionOfAnotherSystemIsAnsweredAndNotDeclined(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Take(models.OutsideItem{Kind: models.OutsideContact, CallID: "h1", Message: "Which region?"})
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	got := p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says(".what", "Which region?").SaysNot(".what", "Do not approve").Says(".decide", "sent to night-shift")
	if got.Doc.Find(".decline").Length() != 0 {
		t.Error("a question can be declined that must be answered")
	}
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {a.Digest}}).Is(http.StatusUnprocessableEntity)
	empty := got.Form(".verdict", "#answer-button")
	p.Post(webtest.DecideOf(&a), empty).Is(http.StatusUnprocessableEntity)
	empty.Set("answer", "eu-north")
	p.Post(webtest.DecideOf(&a), empty).Redirects(webtest.PageOf(&a))
	p.Get(webtest.PageOf(&a)).Says(".decide", "answer is being sent to night-shift")
}

func TestWhatIsKeptCutCanOnlyBeRejected(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	huge := `{"command":"` + strings.Repeat("x", models.MaxDrawn+10) + `"}`
	item := models.OutsideItem{CallID: "c1", Name: "Bash", Arguments: []byte(huge)}
	o.Take(item)
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	got := p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says(".decide", "can only reject", "262,1").SaysNot(".what", "Do not approve")
	if got.Doc.Find("#approve, #edit").Length() != 0 || got.Doc.Find(".decide button[disabled]:not([hidden])").Length() != 1 {
		t.Error("it can be approved")
	}
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Is(http.StatusUnprocessableEntity)
	p.Post(webtest.DecideOf(&a), got.Form(".verdict", "#reject")).Is(http.StatusUnprocessableEntity)
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"too long"}}).Redirects(webtest.PageOf(&a))
}

// What another system sends beside the arguments of a call is read before it is
// decided: of one that found no call, and of one that found it.
func TestWhatIsSentBesideTheInputIsShown(t *testing.T) {
	t.Parallel()
	for _, matched := range []bool{false, true} {
		w := webtest.New(t)
		o := webtest.NewOutside(t, w)
		if matched {
			w.Run(models.RunInput{RunID: "r"}, webtest.Queued("use", "Bash", `{"command":"ls"}`))
		}
		item := models.OutsideItem{CallID: "c", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"ls"}`), Rest: []byte("{\"as\":\"root\u202e\"}"), Timeout: new(time.Hour)}
		o.Take(item)
		o.Take(item)
		a := o.Waits()
		origins, err := w.Store.Requests.Origins(t.Context(), w.Owner, a.ID)
		if by := origins[a.ID].MatchedBy; err != nil || (by != "unmatched") != matched {
			t.Fatalf("matched by %q, %v", by, err)
		}
		c := w.SignIn(webtest.OwnerEmail)
		for _, text := range []string{"What night-shift sends beside the input", "&#34;as&#34;", "in what is sent beside the input ("} {
			if page := c.Get("/approvals/" + string(a.ID)); !strings.Contains(page.Body, text) {
				t.Errorf("matched %t: %q is not on the page", matched, text)
			}
		}
	}
}

// What another system sends beside a dangerous input is opened, and its end seen, as
// all of the request is: on its page, and in its conversation.
func TestALongTextBesideTheInputIsOpenedFirst(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.RiskyWorld(t))
	rest := `{"as":"` + strings.Repeat("x", 7000) + `","end":"THE-END"}`
	conv := o.Run(models.RunInput{RunID: "r"}, webtest.Queued("use", "tool-critical", `{"command":"ls"}`))
	o.Take(models.OutsideItem{CallID: "c", RunID: "r", Name: "tool-critical", Arguments: []byte(`{"command":"ls"}`), Rest: []byte(rest), Timeout: new(time.Hour)})
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	approve := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "confirmed": {"true"}, "seen_end": {"1"}}
	closed := p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says(".decide", "Open the collapsed section first")
	if got := closed.Doc.Find(`.what form.open-part input[value=beside]`).Length(); got != 1 || strings.Contains(closed.Body, "THE-END") {
		t.Errorf("%d forms open it, or it is open", got)
	}
	p.Post(webtest.DecideOf(&a), approve).Is(http.StatusUnprocessableEntity).Says("main", "a section of this request is closed")
	p.Post("/conversations/"+string(conv)+"/decide/"+string(a.ID), approve).Is(http.StatusUnprocessableEntity)
	p.Get("/conversations/"+string(conv)).Says("main", "Open the collapsed section first")

	p.Post("/approvals/"+string(a.ID)+"/open", url.Values{"part": {"other"}}).Is(http.StatusUnprocessableEntity)
	p.Post("/approvals/"+string(a.ID)+"/open", url.Values{"part": {"beside"}}).Redirects(webtest.PageOf(&a) + "#beside")
	open := p.Get(webtest.PageOf(&a)).Says(".what", "THE-END").SaysNot(".decide", "Open the collapsed section first")
	if open.Doc.Find(`#beside [data-seen-end$=" beside"]`).Length() != 1 {
		t.Error("nobody has to see its end")
	}
	asked := p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Says("main", "THE-END")
	if asked.Doc.Find(".open-part").Length() != 0 {
		t.Error("it folds where it is confirmed")
	}
	p.Get("/conversations/"+string(conv)).Says("main", "THE-END").SaysNot("main", "Open the collapsed section first")
	p.Post(webtest.DecideOf(&a), approve).Redirects(webtest.PageOf(&a))
	p.Get(webtest.PageOf(&a)).Says(".decide", "approval is being sent to night-shift")
}

// The line of the inbox and an export tell what the other system runs.
func TestTheLineAndTheExportTellWhatTheOtherSystemRuns(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Run(models.RunInput{RunID: "r"}, webtest.Queued("use", "Bash", `{"command":"ls"}`))
	o.Take(models.OutsideItem{CallID: "c", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"rm -rf /"}`), Timeout: new(time.Hour)})
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	p.Get("/").Says("#row-"+string(a.ID), "rm -rf /")
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}})
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	got := p.Get("/history/export?format=jsonl").Is(http.StatusOK).Body
	if !strings.Contains(got, `"input":{"command":"rm -rf /"}`) || !strings.Contains(got, `"reportedInput":{"command":"ls"}`) {
		t.Errorf("jsonl: %s", got)
	}
	if got := p.Get("/history/export?format=csv").Is(http.StatusOK).Body; !strings.Contains(got, "rm -rf /") {
		t.Errorf("csv: %s", got)
	}
}
