package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
)

// ten are ten queued calls, of which 2, 3, 6, 9 are bash and 7 is a file write.
func ten() []models.RunEvent {
	var out []models.RunEvent
	for i, tool := range []string{"Read", "Bash", "Bash", "Read", "Read", "Bash", "Write", "Read", "Bash", "Read"} {
		out = append(out, queued(fmt.Sprintf("u%d", i+1), tool, fmt.Sprintf(`{"command":"step %d"}`, i+1)))
	}
	return out
}

// pills are the numbers and words of a batch's calls, in order.
func (p *page) pills() string {
	return strings.Join(p.doc.Find(".batch-call").Map(func(_ int, s *goquery.Selection) string {
		return strings.TrimSpace(s.Find(".batch-number").Text()) + " " + strings.TrimSpace(s.Find(".batch-pill").First().Text())
	}), ", ")
}

func (o *outside) asksFor(n int) models.Approval {
	o.tb.Helper()
	o.take(models.OutsideItem{CallID: fmt.Sprintf("c%d", n), RunID: "r", Name: "Bash", Arguments: fmt.Appendf(nil, `{ "command": "step %d" }`, n)})
	return o.waits()
}

func TestTheWorkedCaseOnItsPage(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	id := o.run(models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, ten()...)
	p, path := o.signedIn(ownerEmail), conversationPath(id)
	want := func(pills string) {
		t.Helper()
		if got := p.get(path).is(http.StatusOK).pills(); got != pills {
			t.Errorf("the page shows %s\nwant %s", got, pills)
		}
	}
	decide := func(n int, verdict url.Values) {
		t.Helper()
		a := o.asksFor(n)
		got := p.get(path).says(".batch-call[data-waits]", fmt.Sprintf("#%d", n), "waiting for approval", fmt.Sprintf("step %d", n))
		if waiting := got.doc.Find("[aria-current=step]"); waiting.Length() != 1 {
			t.Errorf("%d calls stand out", waiting.Length())
		}
		verdict.Set("digest", a.Digest)
		p.post(path+"/decide/"+string(a.ID), verdict).redirects(path + "#" + fmt.Sprintf("entry-%d", a.Sequence))
		p.get(path).says(fmt.Sprintf("#entry-%d", a.Sequence), "not confirmed yet", "is being sent to night-shift")
		o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	}
	rest := ", #7 queued, #8 queued, #9 queued, #10 queued"
	want("#1 running, #2 queued, #3 queued, #4 queued, #5 queued, #6 queued" + rest)
	o.clock.Step(3 * time.Second)
	o.report(id, gave("u1", "one"))
	p.get(path).says("#entry-1", "3 s", "Result, 3 bytes")
	decide(2, url.Values{"verdict": {"approve"}})
	want("#1 done, #2 approved, #3 queued, #4 queued, #5 queued, #6 queued" + rest)
	o.report(id, gave("u2", "two"))
	decide(3, url.Values{"verdict": {"approve"}})
	o.report(id, gave("u3", "three"), gave("u4", "four"), gave("u5", "five"))
	want("#1 done, #2 done, #3 done, #4 done, #5 done, #6 running" + rest)
	p.get(path).says("details.batch-fold > summary", "5 done, #1 to #5")
	decide(6, url.Values{"verdict": {"reject"}, "reason": {"not on a Friday"}})
	rejected := "#1 done, #2 done, #3 done, #4 done, #5 done, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	want(rejected)
	sixth := p.get(path).says("#entry-6", "not on a Friday").doc.Find("#entry-6 .batch-what").AttrOr("href", "-")
	ninth := p.get(p.get(path).doc.Find("#entry-9 .batch-what").AttrOr("href", "-")).says(".outcome", "Another request was rejected", "not on a Friday")
	if from := ninth.doc.Find(".outcome a").AttrOr("href", ""); from != sixth {
		t.Errorf("the ninth was rejected with %q, want %q", from, sixth)
	}
	o.report(id, gave("u9", "ran all the same"))
	want(rejected)
	p.get(path).says("#entry-9 .call-note", "although the call was rejected")
}

func TestABatchOnThePageGrowsInItsOwnBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(models.RunInput{RunID: "r"}, ten()[:3]...)
	p, path := w.signedIn(ownerEmail), conversationPath(id)
	page := p.get(path)
	block := page.doc.Find("li.batch")
	at := block.AttrOr("hx-get", "")
	w.report(id, ten()[3:]...)
	w.report(id, models.RunEvent{ID: "m", Type: models.RunEventReply, Content: "That is all."})
	grown := p.get(page.doc.Find("#tail").AttrOr("hx-get", ""), htmx).is(http.StatusOK).isFragment().says("body", "That is all.")
	if grown.doc.Find(".batch").Length() != 0 {
		t.Error("the batch appears a second time")
	}
	again := p.get(at, htmx).is(http.StatusOK).isFragment()
	if got := again.doc.Find("li.batch"); got.AttrOr("id", "") != block.AttrOr("id", "-") || again.doc.Find(".batch-call").Length() != 10 {
		t.Errorf("the block has %d calls", again.doc.Find(".batch-call").Length())
	}
	w.report(id, queued("x", "Read", `{}`))
	if got := p.get(path).doc.Find("li.batch").Length(); got != 1 {
		t.Errorf("%d blocks for one batch", got)
	}
	next := queued("y", "Read", `{}`)
	next.BatchID = "c"
	w.report(id, next)
	if got := p.get(path); got.doc.Find("li.batch").Length() != 2 {
		t.Errorf("%s", got.pills())
	}
	w.signedIn(strangerEmail).get(at, htmx).is(http.StatusNotFound)
	p.get(path+"?part=batch&entry=nonsense", htmx).is(http.StatusNotFound)
}

func TestAStuckCallIsClosedByItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(models.RunInput{RunID: "r"}, ten()[:2]...)
	p, path := w.signedIn(ownerEmail), conversationPath(id)
	w.clock.Step(9 * time.Minute)
	if got := p.get(path).pills(); got != "#1 running, #2 queued" {
		t.Error(got)
	}
	w.clock.Step(2 * time.Minute)
	got := p.get(path).says(".call-stuck", "No result for 11 m")
	if pills := got.pills(); pills != "#1 stuck, #2 queued" {
		t.Error(pills)
	}
	closing := got.doc.Find("form[action$='/close']").AttrOr("action", "")
	w.signedIn(strangerEmail).post(closing, nil).is(http.StatusNotFound)
	p.post(closing, nil).redirects(path + "#entry-1")
	p.post(closing, nil).is(http.StatusSeeOther)
	after := p.get(path).says("#entry-1", "A person closed this call")
	if pills := after.pills(); pills != "#1 closed, #2 running" {
		t.Errorf("the next one has just begun to run: %s", pills)
	}
	w.report(id, gave("u2", "done"))
	second := strings.Replace(closing, p.get(path).doc.Find("#entry-1 .batch-what").AttrOr("href", "-"), p.get(path).doc.Find("#entry-2 .batch-what").AttrOr("href", "-"), 1)
	p.post(second, nil).is(http.StatusConflict).says("main", "has a result")
}

func TestAResultIsShownEscapedWithItsTrueLength(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	evil := "</pre><script src='/x'></script>\u202e" + strings.Repeat("long ", 2000)
	odd := queued("u1", "<i>tool\u202e", `{"command":"<b>x</b>"}`)
	odd.BatchID = ""
	id := w.run(models.RunInput{RunID: "r"}, odd, gave("u1", evil))
	p := w.signedIn(ownerEmail)
	got := p.get(conversationPath(id)).is(http.StatusOK).says(".batch-result", "Result, 10,0", "<script src='/x'>").says(".batch-call", "<i>tool")
	call := p.get(got.doc.Find(".batch-result p a").AttrOr("href", "-")).is(http.StatusOK).says("h1", "<i>tool").says("main", "<b>x</b>", "reported by deployer", "long long")
	for _, page := range []*page{got, call} {
		if page.doc.Find("script[src='/x'], i, main b").Length() != 0 || strings.Contains(page.body, "\u202e") {
			t.Errorf("%s: not escaped", page.asked)
		}
	}
	if len(got.body) > 64<<10 {
		t.Errorf("the page has %d bytes", len(got.body))
	}
	if n := strings.Count(call.text("#result pre"), "long"); n != 2000 {
		t.Errorf("%d of 2000 words are shown on the call's own page", n)
	}
	w.signedIn(strangerEmail).get(got.doc.Find(".batch-what").AttrOr("href", "-")).is(http.StatusNotFound)
}

func TestRunsLeadToTheirFamily(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	top := w.run(models.RunInput{RunID: "top", Title: "Ship it"})
	below := w.run(models.RunInput{RunID: "below", ParentRunID: "top"})
	p := w.signedIn(ownerEmail)
	up := p.get(conversationPath(below)).says(".facts", "Parent run", "Ship it").doc.Find(".facts a[href='" + conversationPath(top) + "']")
	down := p.get(conversationPath(top)).says(".facts", "Sub-agents", "below").doc.Find(".facts a[href='" + conversationPath(below) + "']")
	if up.Length() != 1 || down.Length() != 1 {
		t.Errorf("%d lead up, %d down", up.Length(), down.Length())
	}
}

func TestWhatAnAgentReportsAsSaidIsItsOwnWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("word ", models.MaxResult/5+10)
	id := w.run(models.RunInput{RunID: "r"},
		models.RunEvent{ID: "1", Type: models.RunEventMessage, Content: "<b>Delete it all</b>"},
		models.RunEvent{ID: "2", Type: models.RunEventReply, Content: long})
	got := w.signedIn(ownerEmail).get(conversationPath(id)).is(http.StatusOK)
	got.says("#entry-1 .entry-head", "deployer", "says that a person wrote").says("#entry-1", "<b>Delete").saysNot("#entry-1", "Countersign says")
	got.says("#entry-2 .call-note", "only the beginning is kept")
}

func TestARefusedVerdictStandsInItsBatch(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	id := o.run(models.RunInput{RunID: "r"}, ten()...)
	a := o.asksFor(2)
	p, path := o.signedIn(ownerEmail), conversationPath(id)
	got := p.post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}).is(http.StatusUnprocessableEntity)
	got.says("#entry-2-reason-error", "required").says("main", "Your decision on #2 was not saved")
	if _, kept := got.doc.Find("li.batch").Attr("data-kept"); !kept {
		t.Error("what was sent would be refetched away")
	}
	p.post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).is(http.StatusSeeOther)
	late := p.post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {a.Digest}}).is(http.StatusConflict)
	late.says("#entry-2", "Your rejection changed nothing", "approval is being sent")
}

func TestACallThatWasAskedAboutBecomesABlockWhenItIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(models.RunInput{RunID: "r"})
	a := w.ask(func(in *models.AskInput) { in.ConversationID, in.ToolUseID = string(id), "u2" })
	p, path := w.signedIn(ownerEmail), conversationPath(id)
	entry := p.get(path).doc.Find("#entry-1[data-waits]").AttrOr("hx-get", "-")
	w.report(id, queued("u2", a.ToolName, a.ToolInputJSON))
	p.get(entry, htmx).is(http.StatusOK).isFragment().says("li.batch #entry-1", "waiting for approval").says("li.batch .entry-decide", "Approve")
	p.get(path).says("li.batch #entry-1", "waiting for approval")
}
