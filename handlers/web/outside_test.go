package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	elsewhere "countersign/models/outside"
	"countersign/models/requests"
)

// outside is a world with an upstream of the owner's, and the leases of who polls
// it and tells it verdicts.
type outside struct {
	*world

	up         *models.Upstream
	poll, tell *models.Lease
}

func newOutside(tb testing.TB, w *world) *outside {
	tb.Helper()
	o := &outside{world: w}
	var err error
	if o.up, err = elsewhere.New(w.store).AddUpstream(tb.Context(), w.admin, elsewhere.NewUpstream{
		Name: "night-shift", BaseURL: "https://night.example.com", Dialect: "plain", Key: upstreamKey, OwnerID: w.owner.UserID(),
	}); err != nil {
		tb.Fatal(err)
	}
	o.poll, o.tell = o.lease("poll"), o.lease("deliver")
	return o
}

func (o *outside) lease(name string) *models.Lease {
	o.tb.Helper()
	l, err := o.store.TakeLease(o.tb.Context(), name, "h", 1000*time.Hour)
	if err != nil {
		o.tb.Fatal(err)
	}
	return l
}

// take has something fetched, as often as it takes to get a response.
func (o *outside) take(item models.OutsideItem) {
	o.tb.Helper()
	if item.Kind == "" {
		item.Kind = models.OutsideCallKind
	}
	item.Raw = []byte(`{}`)
	if err := elsewhere.New(o.store).Take(o.tb.Context(), o.poll, o.up.ID, item); err != nil {
		o.tb.Fatal(err)
	}
}

// waits is the only request in the owner's inbox that nobody has decided.
func (o *outside) waits() models.Approval {
	o.tb.Helper()
	page, err := o.store.Requests.Inbox(o.tb.Context(), o.owner, requests.InboxQuery{})
	open := slices.DeleteFunc(page.Items, func(b models.Brief) bool { return b.HeldUntil != nil })
	if err != nil || len(open) != 1 {
		o.tb.Fatalf("inbox: %d, %v", len(open), err)
	}
	return open[0].Approval
}

// deliver begins an attempt to tell a verdict, and ends it.
func (o *outside) deliver(id models.ResponseID, end models.DeliveryEnd) {
	o.tb.Helper()
	if d, _, err := elsewhere.New(o.store).BeginDelivery(o.tb.Context(), o.tell, id); err != nil || d == nil {
		o.tb.Fatalf("nothing to deliver: %v", err)
	}
	if err := elsewhere.New(o.store).EndDelivery(o.tb.Context(), o.tell, id, end); err != nil {
		o.tb.Fatal(err)
	}
}

// run opens a run of the owner's agent and reports events.
func (w *world) run(in models.RunInput, reported ...models.RunEvent) models.ConversationID {
	w.tb.Helper()
	conv, _, err := w.store.OpenRun(w.tb.Context(), w.agent, in)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.report(conv.ID, reported...)
	return conv.ID
}

func (w *world) report(id models.ConversationID, reported ...models.RunEvent) {
	w.tb.Helper()
	results, err := w.store.ReportEvents(w.tb.Context(), w.agent, id, reported)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, r := range results {
		if r.Status != models.RunEventStored && r.Status != models.RunEventConflict {
			w.tb.Fatalf("report: %+v", r)
		}
	}
}

func queued(use, tool, input string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolCall, ToolUseID: use, ToolName: tool, Input: []byte(input), BatchID: "b"}
}

func gave(use, text string) models.RunEvent {
	return models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: text}
}

func TestARequestOfAnotherSystemShowsItsRunAndWhenItWasAsked(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	for range 2 { // it waits a poll for its call
		o.take(models.OutsideItem{CallID: "c1", RunID: "run-of-theirs", Name: "Bash", Arguments: []byte(`{"command":"make"}`), AskedAt: o.clock.Now().Add(-2 * time.Hour)})
	}
	a := o.waits()
	o.signedIn(ownerEmail).get(pageOf(&a)).says("header", "according to night-shift").says("main", "run-of-theirs")
}

func TestARequestOfAnotherSystemIsDecidedAndHeldUntilItHasHeard(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.run(models.RunInput{RunID: "top", Title: "Ship it"})
	o.run(models.RunInput{RunID: "below", ParentRunID: "top"}, queued("u1", "Bash", `{"command":"make"}`))
	o.take(models.OutsideItem{CallID: "c1", RunID: "below", Name: "Bash", Arguments: []byte(`{"command":"make"}`)})
	a := o.waits()
	p := o.signedIn(ownerEmail)
	p.get("/").says("#inbox", "deployer", "asked through night-shift", "sub-agent of", "Ship it")
	got := p.get(pageOf(&a)).is(http.StatusOK).says("header", "asked through night-shift", "sub-agent of").says(".decide", "required to reject", "lets night-shift run what it asks for")
	if got.doc.Find("#edit, #edit-body").Length() != 0 {
		t.Error("an input that the other system runs can be edited")
	}
	form := got.form(".verdict", "#reject")
	form.Set("reason", " ")
	p.post(decideOf(&a), form).is(http.StatusUnprocessableEntity).says("#reason-error", "required")
	edited := url.Values{"verdict": {"approve_edited"}, "digest": {a.Digest}, "input": {`{"command":"true"}`}}
	p.post(decideOf(&a), edited).is(http.StatusUnprocessableEntity).says(".decide", "as it was sent")

	form.Set("reason", "not tonight")
	p.post(decideOf(&a), form).redirects(pageOf(&a))
	held := "owner@example.com's rejection is being sent to night-shift: not confirmed yet"
	p.get(pageOf(&a)).says(".decide", held)
	p.get("/").says("#inbox .row-told", held)
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryLater, Text: "The upstream failed (503).", Pause: time.Minute})
	p.get(pageOf(&a)).says(".decide", held+" (attempt 1)", "failed (503)")
	late := p.post(decideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).is(http.StatusConflict)
	late.says("main", held, "Your approval changed nothing")
	o.clock.Step(2 * time.Minute)
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	p.get(pageOf(&a)).says(".outcome", "rejected", "owner@example.com", "not tonight")
}

func TestWhatOnlyOrNothingMatchedIsMarked(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	p := o.signedIn(ownerEmail)
	o.run(models.RunInput{RunID: "r"}, queued("u1", "Bash", `{"command":"one"}`), queued("u2", "Bash", `{"command":"two"}`))
	o.take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"<b>three\u202e"}`)})
	a := o.waits()
	got := p.get(pageOf(&a)).says(".what", "Matched by order", "another input", "The input that night-shift asks with", "<b>three", "The input that deployer reported", "one")
	if strings.Contains(got.body, "<b>three") || strings.Contains(got.body, "\u202e") {
		t.Error("what the other system sent is not escaped")
	}
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}})
	lost := models.OutsideItem{CallID: "c2", RunID: "nowhere", Name: "<i>odd\u202e name", Arguments: []byte(`{}`)}
	o.take(lost)
	o.take(lost)
	b := o.waits()
	p.get("/").says("#inbox", "<i>odd")
	odd := p.get(pageOf(&b)).is(http.StatusOK).says(".what", "Unmatched").says("h1", "<i>odd")
	if odd.doc.Find("h1 i").Length() != 0 {
		t.Error("a tool's name is not escaped")
	}
}

func TestAQuestionOfAnotherSystemIsAnsweredAndNotDeclined(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.take(models.OutsideItem{Kind: models.OutsideContact, CallID: "h1", Message: "Which region?"})
	a := o.waits()
	p := o.signedIn(ownerEmail)
	got := p.get(pageOf(&a)).is(http.StatusOK).says(".what", "Which region?").saysNot(".what", "Do not approve").says(".decide", "sent to night-shift")
	if got.doc.Find(".decline").Length() != 0 {
		t.Error("a question can be declined that must be answered")
	}
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {a.Digest}}).is(http.StatusUnprocessableEntity)
	empty := got.form(".verdict", "#answer-button")
	p.post(decideOf(&a), empty).is(http.StatusUnprocessableEntity)
	empty.Set("answer", "eu-north")
	p.post(decideOf(&a), empty).redirects(pageOf(&a))
	p.get(pageOf(&a)).says(".decide", "answer is being sent to night-shift")
}

func TestWhatIsKeptCutCanOnlyBeRejected(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	huge := `{"command":"` + strings.Repeat("x", models.MaxDrawn+10) + `"}`
	item := models.OutsideItem{CallID: "c1", Name: "Bash", Arguments: []byte(huge)}
	o.take(item)
	a := o.waits()
	p := o.signedIn(ownerEmail)
	got := p.get(pageOf(&a)).is(http.StatusOK).says(".decide", "can only reject", "262,1").saysNot(".what", "Do not approve")
	if got.doc.Find("#approve, #edit").Length() != 0 || got.doc.Find(".decide button[disabled]:not([hidden])").Length() != 1 {
		t.Error("it can be approved")
	}
	p.post(decideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).is(http.StatusUnprocessableEntity)
	p.post(decideOf(&a), got.form(".verdict", "#reject")).is(http.StatusUnprocessableEntity)
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"too long"}}).redirects(pageOf(&a))
}

// What another system sends beside the arguments of a call is read before it is
// decided: of one that found no call, and of one that found it.
func TestWhatIsSentBesideTheInputIsShown(t *testing.T) {
	t.Parallel()
	for _, matched := range []bool{false, true} {
		w := newWorld(t)
		o := newOutside(t, w)
		if matched {
			w.run(models.RunInput{RunID: "r"}, queued("use", "Bash", `{"command":"ls"}`))
		}
		item := models.OutsideItem{CallID: "c", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"ls"}`), Rest: []byte("{\"as\":\"root\u202e\"}"), Timeout: new(time.Hour)}
		o.take(item)
		o.take(item)
		a := o.waits()
		origins, err := w.store.Requests.Origins(t.Context(), w.owner, a.ID)
		if by := origins[a.ID].MatchedBy; err != nil || (by != "unmatched") != matched {
			t.Fatalf("matched by %q, %v", by, err)
		}
		c := w.signedIn(ownerEmail)
		for _, text := range []string{"What night-shift sends beside the input", "&#34;as&#34;", "in what is sent beside the input ("} {
			if page := c.get("/approvals/" + string(a.ID)); !strings.Contains(page.body, text) {
				t.Errorf("matched %t: %q is not on the page", matched, text)
			}
		}
	}
}

// What another system sends beside a dangerous input is opened, and its end seen, as
// all of the request is: on its page, and in its conversation.
func TestALongTextBesideTheInputIsOpenedFirst(t *testing.T) {
	t.Parallel()
	o := newOutside(t, riskyWorld(t))
	rest := `{"as":"` + strings.Repeat("x", 7000) + `","end":"THE-END"}`
	conv := o.run(models.RunInput{RunID: "r"}, queued("use", "tool-critical", `{"command":"ls"}`))
	o.take(models.OutsideItem{CallID: "c", RunID: "r", Name: "tool-critical", Arguments: []byte(`{"command":"ls"}`), Rest: []byte(rest), Timeout: new(time.Hour)})
	a := o.waits()
	p := o.signedIn(ownerEmail)
	approve := url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "confirmed": {"true"}, "seen_end": {"1"}}
	closed := p.get(pageOf(&a)).is(http.StatusOK).says(".decide", "Open the collapsed section first")
	if got := closed.doc.Find(`.what form.open-part input[value=beside]`).Length(); got != 1 || strings.Contains(closed.body, "THE-END") {
		t.Errorf("%d forms open it, or it is open", got)
	}
	p.post(decideOf(&a), approve).is(http.StatusUnprocessableEntity).says("main", "a section of this request is closed")
	p.post("/conversations/"+string(conv)+"/decide/"+string(a.ID), approve).is(http.StatusUnprocessableEntity)
	p.get("/conversations/"+string(conv)).says("main", "Open the collapsed section first")

	p.post("/approvals/"+string(a.ID)+"/open", url.Values{"part": {"other"}}).is(http.StatusUnprocessableEntity)
	p.post("/approvals/"+string(a.ID)+"/open", url.Values{"part": {"beside"}}).redirects(pageOf(&a) + "#beside")
	open := p.get(pageOf(&a)).says(".what", "THE-END").saysNot(".decide", "Open the collapsed section first")
	if open.doc.Find(`#beside [data-seen-end$=" beside"]`).Length() != 1 {
		t.Error("nobody has to see its end")
	}
	asked := p.post(decideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).says("main", "THE-END")
	if asked.doc.Find(".open-part").Length() != 0 {
		t.Error("it folds where it is confirmed")
	}
	p.get("/conversations/"+string(conv)).says("main", "THE-END").saysNot("main", "Open the collapsed section first")
	p.post(decideOf(&a), approve).redirects(pageOf(&a))
	p.get(pageOf(&a)).says(".decide", "approval is being sent to night-shift")
}

// The line of the inbox and an export tell what the other system runs.
func TestTheLineAndTheExportTellWhatTheOtherSystemRuns(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.run(models.RunInput{RunID: "r"}, queued("use", "Bash", `{"command":"ls"}`))
	o.take(models.OutsideItem{CallID: "c", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"rm -rf /"}`), Timeout: new(time.Hour)})
	a := o.waits()
	p := o.signedIn(ownerEmail)
	p.get("/").says("#row-"+string(a.ID), "rm -rf /")
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}})
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	got := p.get("/history/export?format=jsonl").is(http.StatusOK).body
	if !strings.Contains(got, `"input":{"command":"rm -rf /"}`) || !strings.Contains(got, `"reportedInput":{"command":"ls"}`) {
		t.Errorf("jsonl: %s", got)
	}
	if got := p.get("/history/export?format=csv").is(http.StatusOK).body; !strings.Contains(got, "rm -rf /") {
		t.Errorf("csv: %s", got)
	}
}
