package browser_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	elsewhere "countersign/models/outside"
	"countersign/workers/deliver"
	"countersign/workers/poll"
	"countersign/workers/upstream/upstreamtest"
)

// TestInABrowserLinkedRowsAndTheSettingOfARun: both inputs are read on the request
// and in the run, the links lead there and back, and the setting is changed.
func TestInABrowserLinkedRowsAndTheSettingOfARun(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1440, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			o := webtest.NewOutside(t, webtest.New(t))
			o.Run(models.RunInput{RunID: "deploys"})
			a := o.Late(webtest.Bash("c1", "deploys", "deploy --env production --now"))
			o.Clock.Step(time.Minute)
			id := o.Run(models.RunInput{RunID: "deploys-tests", ParentRunID: "deploys", OnRejectDefault: models.OnRejectCascade},
				webtest.Queued("u1", "Bash", `{"command":"deploy --env production"}`), webtest.Queued("u2", "Read", `{"path":"log"}`))
			o.Link()
			p := openTab(o.World)
			p.do("size", chromedp.EmulateViewport(width, 900))
			p.signIn()
			p.open(webtest.PageOf(&a))
			p.sees("[data-linked]", "Matched by order in run deploys-tests")
			p.sees(".what", "deploy --env production --now")
			p.sees("#linked", "deploy --env production")
			p.fits()
			p.click("[data-linked] a")
			p.sees("[data-linked]", "asks for approval of this tool with another input")
			p.sees("#linked", "deploy --env production --now")
			p.fits()
			p.open(webtest.ConversationPath(id))
			p.sees(".batch-call", "waiting for approval")
			p.sees(".batch-call [data-linked]", "Matched by order in run deploys-tests")
			p.fits()
			p.sees("#after-rejection", "rejected too")
			p.click("#after-rejection summary")
			p.chooses("#on-reject", "Ask about each call")
			p.click("#on-reject-button")
			p.sees("#after-rejection", "A person chose this")
			p.fits()
		})
	}
}

// runUpstreams polls upstreams and tells them verdicts, as the server does.
func runUpstreams(t *testing.T, w *webtest.World) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	done := make(chan struct{}, 2)
	go func() {
		poll.New(poll.Options{Store: w.Store, Log: quiet, Every: 50 * time.Millisecond}).Run(t.Context())
		done <- struct{}{}
	}()
	go func() {
		deliver.New(deliver.Options{Store: w.Store, Log: quiet, FirstRetry: 200 * time.Millisecond, LongestRetry: 200 * time.Millisecond}).Run(t.Context())
		done <- struct{}{}
	}()
	t.Cleanup(func() { <-done; <-done })
}

const pillsOnPage = `[...document.querySelectorAll(".batch-call")].map((c) => c.dataset.pill).join(", ")`

// shows waits until the calls of the page's batch stand as told.
func (t *tab) shows(scripted bool, path, pills string) {
	t.tb.Helper()
	for late := time.After(webtest.Browsing); ; {
		got := t.value(pillsOnPage)
		if got == pills {
			return
		}
		select {
		case <-late:
			t.tb.Fatalf("the page shows %s\nwant %s", got, pills)
		case <-time.After(50 * time.Millisecond):
			if !scripted {
				t.open(path)
			}
		}
	}
}

// arrives waits until a form's answer has led to a place of the page.
func (t *tab) arrives(hash string) {
	t.tb.Helper()
	for late := time.After(webtest.Browsing); ; {
		if got, err := t.evaluate(`document.readyState + location.hash`); err == nil && got == "complete"+hash {
			return
		}
		select {
		case <-late:
			t.tb.Fatalf("the page never came to %s: %s", hash, t.text("body"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestInABrowserTenQueuedCallsAreDecidedForAnotherSystem is the worked case: ten
// calls are queued, another system asks for some of them, a person decides on the
// page of the run, and the other system hears it.
func TestInABrowserTenQueuedCallsAreDecidedForAnotherSystem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int64
		scripted      bool
	}{
		{"1440", 1440, 900, true},
		{"390", 390, 844, true},
		{"without script", 1440, 900, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.LiveWorld(t)
			runUpstreams(t, w)
			far := upstreamtest.New(t, upstreamtest.Options{Key: "key"})
			if _, err := elsewhere.New(w.Store).AddUpstream(t.Context(), w.Admin, elsewhere.NewUpstream{Name: "night-shift", BaseURL: far.URL, Dialect: "plain", Key: "key", OwnerID: w.Owner.UserID()}); err != nil {
				t.Fatal(err)
			}
			id := w.Run(models.RunInput{RunID: "r", Title: "Ship it", OnReject: models.OnRejectCascade}, webtest.Ten()...)
			path := webtest.ConversationPath(id)
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(c.width, c.height))
			if !c.scripted {
				p.withoutScript()
			}
			p.signIn()
			p.open(path)
			queued := strings.Repeat(", queued", 4)
			p.shows(c.scripted, path, "running"+strings.Repeat(", queued", 5)+queued)

			ask := func(n int) {
				t.Helper()
				far.Ask(upstreamtest.Call{CallID: fmt.Sprintf("c%d", n), RunID: "r", Fn: "Bash", Kwargs: fmt.Sprintf(`{"command":"step %d"}`, n)})
			}
			press := func(n int, what string) {
				t.Helper()
				p.click(fmt.Sprintf("#entry-%d-%s", n, what))
				p.arrives(fmt.Sprintf("#entry-%d", n))
			}
			w.Report(id, webtest.Gave("u1", "one"))
			ask(2)
			p.shows(c.scripted, path, "done, waiting for approval, queued, queued, queued, queued"+queued)
			p.fits()
			press(2, "approve")
			p.shows(c.scripted, path, "done, approved, queued, queued, queued, queued"+queued)
			w.Report(id, webtest.Gave("u2", "two"))
			ask(3)
			p.shows(c.scripted, path, "done, done, waiting for approval, queued, queued, queued"+queued)
			press(3, "approve")
			p.shows(c.scripted, path, "done, done, approved, queued, queued, queued"+queued)
			w.Report(id, webtest.Gave("u3", "three"), webtest.Gave("u4", "four"), webtest.Gave("u5", "five"))
			ask(6)
			p.shows(c.scripted, path, "done, done, done, done, done, waiting for approval"+queued)
			p.sees(".batch-fold > summary", "5 done")
			p.fill("#entry-6-reason", "not on a Friday")
			press(6, "reject")
			p.shows(c.scripted, path, "done, done, done, done, done, rejected"+strings.Repeat(", rejected with #6", 4))
			p.sees("#entry-6", "not on a Friday")
			p.fits()
			for call, approved := range map[string]bool{"c2": true, "c3": true, "c6": false} {
				if v, ok := far.Outcome(call); !ok || v.Approved != approved || len(far.VerdictsOn(call)) != 1 {
					t.Errorf("%s: the other system has %+v", call, v)
				}
			}
		})
	}
}

func TestInABrowserACallThatIsAskedAboutIsReportedWhileItWaits(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	id := w.Run(models.RunInput{RunID: "r"})
	a := w.Ask(func(in *models.AskInput) { in.ConversationID, in.ToolUseID = string(id), "u2" })
	p := openTab(w)
	p.signIn()
	p.open(webtest.ConversationPath(id))
	p.sees("#entry-1[data-waits]", "Bash")
	p.value("window.same = 'page'")
	w.Report(id, webtest.Queued("u1", "Read", `{}`), webtest.Queued("u2", a.ToolName, a.ToolInputJSON))
	p.sees("li.batch #entry-1[data-waits]", "waiting for approval")
	p.sees("li.batch #entry-2", "Read")
	if got := p.value("window.same + document.querySelectorAll('.batch').length + document.querySelectorAll('#entry-1').length"); got != "page11" {
		t.Errorf("the page was loaded again, or shows things twice: %s", got)
	}
	p.click("#entry-1-approve")
	p.sees("#entry-1", "approved")
}

// A call that has become one of its batch while its entry was being read anew is
// shown in the batch, once.
func TestInABrowserALateAnswerDoesNotShowABatchTwice(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	id := w.Run(models.RunInput{RunID: "r"})
	a := w.Ask(func(in *models.AskInput) { in.ConversationID, in.ToolUseID = string(id), "u2" })
	p := openTab(w)
	p.signIn()
	p.open(webtest.ConversationPath(id))
	p.sees("#live-text", "live")
	p.sees("#entry-1[data-waits]", "Bash")
	p.becomes(`!document.querySelector("#entry-1.htmx-request")`)
	p.value(`window.begun = 0, window.ended = 0, window.held = [], window.fetched = window.fetch, window.fetch = (url, init) =>
		String(url).includes("part=entry") && !held.length ? new Promise((resolve) => held.push(resolve)).then(() => fetched(url, init)) : fetched(url, init),
	["config", "finally"].forEach((when) => document.addEventListener("htmx:" + when + ":request", (event) => {
		if (event.detail.ctx.request.action.includes("part=entry")) window[when === "config" ? "begun" : "ended"]++;
	})), ""`)
	w.Report(id, webtest.Queued("u1", "Read", `{}`), webtest.Queued("u2", a.ToolName, a.ToolInputJSON))
	p.becomes(`held.length === 1`)
	w.Report(id, models.RunEvent{ID: "m", Type: models.RunEventReply, Content: "said"})
	p.becomes(`begun >= 2`) // it is to be read once more
	p.value(`held[0](), ""`)
	p.becomes(`ended >= 2`)
	p.sees("li.batch #entry-1[data-waits]", "waiting for approval")
	if got := p.value("document.querySelectorAll('.batch').length + ' ' + document.querySelectorAll('#entry-1').length"); got != "1 1" {
		t.Errorf("it is shown more than once: %s", got)
	}
}
