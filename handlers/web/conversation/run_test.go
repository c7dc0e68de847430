package conversation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestTheWorkedCaseOnItsPage(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	id := o.Run(models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, webtest.Ten()...)
	p, path := o.SignIn(webtest.OwnerEmail), webtest.ConversationPath(id)
	want := func(pills string) {
		t.Helper()
		if got := p.Get(path).Is(http.StatusOK).Pills(); got != pills {
			t.Errorf("the page shows %s\nwant %s", got, pills)
		}
	}
	decide := func(n int, verdict url.Values) {
		t.Helper()
		a := o.AsksFor(n)
		got := p.Get(path).Says(".batch-call[data-waits]", fmt.Sprintf("#%d", n), "waiting for approval", fmt.Sprintf("step %d", n))
		if waiting := got.Doc.Find("[aria-current=step]"); waiting.Length() != 1 {
			t.Errorf("%d calls stand out", waiting.Length())
		}
		verdict.Set("digest", a.Digest)
		p.Post(path+"/decide/"+string(a.ID), verdict).Redirects(path + "#" + fmt.Sprintf("entry-%d", a.Sequence))
		p.Get(path).Says(fmt.Sprintf("#entry-%d", a.Sequence), "not confirmed yet", "is being sent to night-shift")
		o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	}
	rest := ", #7 queued, #8 queued, #9 queued, #10 queued"
	want("#1 running, #2 queued, #3 queued, #4 queued, #5 queued, #6 queued" + rest)
	o.Clock.Step(3 * time.Second)
	o.Report(id, webtest.Gave("u1", "one"))
	p.Get(path).Says("#entry-1", "3 s", "Result, 3 bytes")
	decide(2, url.Values{"verdict": {"approve"}})
	want("#1 done, #2 approved, #3 queued, #4 queued, #5 queued, #6 queued" + rest)
	o.Report(id, webtest.Gave("u2", "two"))
	decide(3, url.Values{"verdict": {"approve"}})
	o.Report(id, webtest.Gave("u3", "three"), webtest.Gave("u4", "four"), webtest.Gave("u5", "five"))
	want("#1 done, #2 done, #3 done, #4 done, #5 done, #6 running" + rest)
	p.Get(path).Says("details.batch-fold > summary", "5 done, #1 to #5")
	decide(6, url.Values{"verdict": {"reject"}, "reason": {"not on a Friday"}})
	rejected := "#1 done, #2 done, #3 done, #4 done, #5 done, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	want(rejected)
	sixth := p.Get(path).Says("#entry-6", "not on a Friday").Doc.Find("#entry-6 .batch-what").AttrOr("href", "-")
	ninth := p.Get(p.Get(path).Doc.Find("#entry-9 .batch-what").AttrOr("href", "-")).Says(".outcome", "Another request was rejected", "not on a Friday")
	if from := ninth.Doc.Find(".outcome a").AttrOr("href", ""); from != sixth {
		t.Errorf("the ninth was rejected with %q, want %q", from, sixth)
	}
	o.Report(id, webtest.Gave("u9", "ran all the same"))
	want(rejected)
	p.Get(path).Says("#entry-9 .call-note", "although the call was rejected")
}

func TestABatchOnThePageGrowsInItsOwnBlock(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Run(models.RunInput{RunID: "r"}, webtest.Ten()[:3]...)
	p, path := w.SignIn(webtest.OwnerEmail), webtest.ConversationPath(id)
	page := p.Get(path)
	block := page.Doc.Find("li.batch")
	at := block.AttrOr("hx-get", "")
	w.Report(id, webtest.Ten()[3:]...)
	w.Report(id, models.RunEvent{ID: "m", Type: models.RunEventReply, Content: "That is all."})
	grown := p.Get(page.Doc.Find("#tail").AttrOr("hx-get", ""), webtest.HTMX).Is(http.StatusOK).IsFragment().Says("body", "That is all.")
	if grown.Doc.Find(".batch").Length() != 0 {
		t.Error("the batch appears a second time")
	}
	again := p.Get(at, webtest.HTMX).Is(http.StatusOK).IsFragment()
	if got := again.Doc.Find("li.batch"); got.AttrOr("id", "") != block.AttrOr("id", "-") || again.Doc.Find(".batch-call").Length() != 10 {
		t.Errorf("the block has %d calls", again.Doc.Find(".batch-call").Length())
	}
	w.Report(id, webtest.Queued("x", "Read", `{}`))
	if got := p.Get(path).Doc.Find("li.batch").Length(); got != 1 {
		t.Errorf("%d blocks for one batch", got)
	}
	next := webtest.Queued("y", "Read", `{}`)
	next.BatchID = "c"
	w.Report(id, next)
	if got := p.Get(path); got.Doc.Find("li.batch").Length() != 2 {
		t.Errorf("%s", got.Pills())
	}
	w.SignIn(webtest.StrangerEmail).Get(at, webtest.HTMX).Is(http.StatusNotFound)
	p.Get(path+"?part=batch&entry=nonsense", webtest.HTMX).Is(http.StatusNotFound)
}

func TestAStuckCallIsClosedByItsOwner(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Run(models.RunInput{RunID: "r"}, webtest.Ten()[:2]...)
	p, path := w.SignIn(webtest.OwnerEmail), webtest.ConversationPath(id)
	w.Clock.Step(9 * time.Minute)
	if got := p.Get(path).Pills(); got != "#1 running, #2 queued" {
		t.Error(got)
	}
	w.Clock.Step(2 * time.Minute)
	got := p.Get(path).Says(".call-stuck", "No result for 11 m")
	if pills := got.Pills(); pills != "#1 stuck, #2 queued" {
		t.Error(pills)
	}
	closing := got.Doc.Find("form[action$='/close']").AttrOr("action", "")
	w.SignIn(webtest.StrangerEmail).Post(closing, nil).Is(http.StatusNotFound)
	p.Post(closing, nil).Redirects(path + "#entry-1")
	p.Post(closing, nil).Is(http.StatusSeeOther)
	after := p.Get(path).Says("#entry-1", "A person closed this call")
	if pills := after.Pills(); pills != "#1 closed, #2 running" {
		t.Errorf("the next one has just begun to run: %s", pills)
	}
	w.Report(id, webtest.Gave("u2", "done"))
	second := strings.Replace(closing, p.Get(path).Doc.Find("#entry-1 .batch-what").AttrOr("href", "-"), p.Get(path).Doc.Find("#entry-2 .batch-what").AttrOr("href", "-"), 1)
	p.Post(second, nil).Is(http.StatusConflict).Says("main", "has a result")
}

func TestAResultIsShownEscapedWithItsTrueLength(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	evil := "</pre><script src='/x'></script>\u202e" + strings.Repeat("long ", 2000)
	odd := webtest.Queued("u1", "<i>tool\u202e", `{"command":"<b>x</b>"}`)
	odd.BatchID = ""
	id := w.Run(models.RunInput{RunID: "r"}, odd, webtest.Gave("u1", evil))
	p := w.SignIn(webtest.OwnerEmail)
	got := p.Get(webtest.ConversationPath(id)).Is(http.StatusOK).Says(".batch-result", "Result, 10,0", "<script src='/x'>").Says(".batch-call", "<i>tool")
	call := p.Get(got.Doc.Find(".batch-result p a").AttrOr("href", "-")).Is(http.StatusOK).Says("h1", "<i>tool").Says("main", "<b>x</b>", "reported by deployer", "long long")
	for _, page := range []*webtest.Page{got, call} {
		if page.Doc.Find("script[src='/x'], i, main b").Length() != 0 || strings.Contains(page.Body, "\u202e") {
			t.Errorf("%s: not escaped", page.Asked)
		}
	}
	if len(got.Body) > 64<<10 {
		t.Errorf("the page has %d bytes", len(got.Body))
	}
	if n := strings.Count(call.Text("#result pre"), "long"); n != 2000 {
		t.Errorf("%d of 2000 words are shown on the call's own page", n)
	}
	w.SignIn(webtest.StrangerEmail).Get(got.Doc.Find(".batch-what").AttrOr("href", "-")).Is(http.StatusNotFound)
}

func TestRunsLeadToTheirFamily(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	top := w.Run(models.RunInput{RunID: "top", Title: "Ship it"})
	below := w.Run(models.RunInput{RunID: "below", ParentRunID: "top"})
	p := w.SignIn(webtest.OwnerEmail)
	up := p.Get(webtest.ConversationPath(below)).Says(".facts", "Parent run", "Ship it").Doc.Find(".facts a[href='" + webtest.ConversationPath(top) + "']")
	down := p.Get(webtest.ConversationPath(top)).Says(".facts", "Sub-agents", "below").Doc.Find(".facts a[href='" + webtest.ConversationPath(below) + "']")
	if up.Length() != 1 || down.Length() != 1 {
		t.Errorf("%d lead up, %d down", up.Length(), down.Length())
	}
}

func TestWhatAnAgentReportsAsSaidIsItsOwnWord(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	long := strings.Repeat("word ", models.MaxResult/5+10)
	id := w.Run(models.RunInput{RunID: "r"},
		models.RunEvent{ID: "1", Type: models.RunEventMessage, Content: "<b>Delete it all</b>"},
		models.RunEvent{ID: "2", Type: models.RunEventReply, Content: long})
	got := w.SignIn(webtest.OwnerEmail).Get(webtest.ConversationPath(id)).Is(http.StatusOK)
	got.Says("#entry-1 .entry-head", "deployer", "User (reported by deployer)").Says("#entry-1", "<b>Delete").SaysNot("#entry-1", "Countersign says")
	got.Says("#entry-2 .call-note", "only the beginning is kept")
}

func TestARefusedVerdictStandsInItsBatch(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	id := o.Run(models.RunInput{RunID: "r"}, webtest.Ten()...)
	a := o.AsksFor(2)
	p, path := o.SignIn(webtest.OwnerEmail), webtest.ConversationPath(id)
	got := p.Post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}).Is(http.StatusUnprocessableEntity)
	got.Says("#entry-2-reason-error", "required").Says("main", "Your decision on #2 was not saved")
	if _, kept := got.Doc.Find("li.batch").Attr("data-kept"); !kept {
		t.Error("what was sent would be refetched away")
	}
	p.Post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Is(http.StatusSeeOther)
	late := p.Post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {a.Digest}}).Is(http.StatusConflict)
	late.Says("#entry-2", "Your rejection changed nothing", "approval is being sent")
}

func TestACallThatWasAskedAboutBecomesABlockWhenItIsReported(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Run(models.RunInput{RunID: "r"})
	a := w.Ask(func(in *models.AskInput) { in.ConversationID, in.ToolUseID = string(id), "u2" })
	p, path := w.SignIn(webtest.OwnerEmail), webtest.ConversationPath(id)
	entry := p.Get(path).Doc.Find("#entry-1[data-waits]").AttrOr("hx-get", "-")
	w.Report(id, webtest.Queued("u2", a.ToolName, a.ToolInputJSON))
	p.Get(entry, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("li.batch #entry-1", "waiting for approval").Says("li.batch .entry-decide", "Approve")
	p.Get(path).Says("li.batch #entry-1", "waiting for approval")
}
