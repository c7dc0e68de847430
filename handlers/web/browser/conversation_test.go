package browser_test

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/events"
	"countersign/workers/agent"
	"countersign/workers/llm"
)

// runBuiltIn has the built-in agent work with its scripted model.
func runBuiltIn(t *testing.T, w *webtest.World) {
	t.Helper()
	a := agent.New(agent.Options{Store: w.Store, Model: llm.NewScripted(), Log: slog.New(slog.DiscardHandler)})
	w.BuiltIn.Store(a)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
}

func TestInABrowserAConversationFromItsFirstMessageToItsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int64
		scripted      bool
	}{
		{"1440", 1440, 900, true},
		{"390", 390, 844, true},
		{"without script", 1440, 900, false},
		{"390 without script", 390, 844, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.LiveWorld(t)
			runBuiltIn(t, w)
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(c.width, c.height))
			if !c.scripted {
				p.withoutScript()
			}
			p.signIn()
			p.open("/conversations")
			p.click(`a[href="/conversations/new"]`)
			p.fill("#content", "Please clean up the old logs")
			p.click("#begin")
			p.sees("#history", "Please clean up the old logs")
			path := p.value("location.pathname")
			p.value("window.same = 'page'")
			p.fits()

			p.comes(c.scripted, path, "#history [data-waits]", "delete old logs")
			p.comes(c.scripted, path, "#conversation-head", "waiting for you") // the head may have been read before the history
			p.sees("#history", "set the budget to 20")
			if got := p.value("window.same"); c.scripted && got != "page" {
				t.Error("the page was loaded again")
			}
			if got := p.value(`document.querySelector("[id$=new-budget]").value`); got != "30" {
				t.Errorf("the budget that the proposal would like is prefilled as %q", got)
			}
			says := func(asked string) { // without script the button does not know the number
				t.Helper()
				if !c.scripted && asked != "Approve" {
					asked = "Approve and set the budget"
				}
				p.becomes(fmt.Sprintf(`document.querySelector("[id$=approve]").innerText.replace(/\s+/g, " ").trim() === %q`, asked))
			}
			says("Approve and set 30")
			p.click("[id$=set-budget]")
			says("Approve")
			p.click("[id$=set-budget]")
			p.types("[id$=new-budget]", "5000")
			says("Approve and set 5,000")
			p.types("[id$=new-budget]", "500")
			says("Approve and set 500")
			p.fill("#history [id$=-reason]", "they are backed up")
			p.fits()
			p.click("[id$=approve]")
			p.sees("#history", "they are backed up")
			p.fill("#content", "Yes, and tell me how it went")
			p.click("#send")
			p.sees("#history", "Yes, and tell me how it went")
			p.comes(c.scripted, path, "#history", "That was the tour")
			p.comes(c.scripted, path, "#conversation-head", "completed")
			p.comes(c.scripted, path, "#budget-panel", "of 500")
			for _, said := range []string{"approved by " + webtest.OwnerEmail, "they are backed up", "raised the budget from 20 to 500", llm.Scripted} {
				p.sees("#history", said)
			}
			p.fits()
			if c.scripted { // it followed to the end
				p.becomes(endSeen)
			}
			id := models.ConversationID(strings.TrimPrefix(path, "/conversations/"))
			for _, e := range w.History(id) {
				if a := e.Response; a != nil && a.Kind == models.KindProposal && (a.Status() != models.StatusApproved || a.Vote.SeenDigest != a.Digest || a.Vote.UserID != w.Owner.UserID()) {
					t.Errorf("the proposal stands as %s with %+v", a.Status(), a.Vote)
				}
			}
			if w.Total(id) != 500 {
				t.Errorf("the budget is %d", w.Total(id))
			}
		})
	}
}

func TestInABrowserAHistoryGrowsAroundWhoDecides(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	id := w.Conversation(-1)
	for range 10 {
		w.Respond(id, models.KindReply, "One.\n\nTwo.\n\nThree.", 1)
	}
	a := w.Proposes(id, "Delete the logs", 0)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 700))
	p.signIn()
	p.open(webtest.ConversationPath(id))
	p.sees("#live-text", "live")
	p.sees("#entry-12", "Delete the logs")
	p.becomes(endSeen)
	const place = `Math.round(document.querySelector("#entry-12-approve").getBoundingClientRect().top)`
	p.fill("#entry-12-reason", "let me think")
	p.fill("#content", "half a sentence")
	at := p.value(place)
	w.Respond(id, models.KindReply, "# And something else\n\nthat is long\n\nenough", 1)
	p.sees("#entry-13", "And something else")
	if got := p.value(place); got != at {
		t.Errorf("the button moved from %s to %s", at, got)
	}
	p.becomes(`!document.querySelector("[data-below]").hidden`)

	// What is decided elsewhere meanwhile is said, and what was typed stays.
	if _, err := w.Store.Decide(t.Context(), w.Admin, a.ID, models.DecisionInput{Approved: new(false), Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	p.sees("#entry-12 [data-kept-text]", "Your text was not sent.")
	for field, want := range map[string]string{"#entry-12 [data-kept-text] textarea": "let me think", "#content": "half a sentence"} {
		if got := p.value(`document.querySelector("` + field + `").value`); got != want {
			t.Errorf("%s holds %q", field, got)
		}
	}
	p.click("#send")
	p.sees("#history [data-what=message]", "half a sentence")
}

func TestInABrowserADraftIsSeenWhileItIsWritten(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	id := w.Conversation(-1)
	p := openTab(w)
	p.signIn()
	p.open(webtest.ConversationPath(id))
	p.sees("#live-text", "live")
	p.fill("#content", "meanwhile")
	w.Draft.Store(new("I am **thinking** <b>aloud"))
	w.Store.Bus().Publish(events.Draft(string(id)))
	p.sees("#draft", "I am **thinking** <b>aloud")
	w.Draft.Store(nil)
	w.Respond(id, models.KindReply, "I have thought", 1)
	w.Store.Bus().Publish(events.Draft(string(id)))
	p.sees("#history", "I have thought")
	p.becomes(`document.querySelector("#draft").innerText === ""`)
	for n := range 12 { // who is at the end and decides nothing is taken along
		w.Respond(id, models.KindReply, "# Step "+strconv.Itoa(n)+"\n\nOne.\n\nTwo.", 1)
	}
	p.sees("#history", "Step 11")
	p.becomes(endSeen)
	w.Proposes(id, "Shall I go on?", 0)
	p.sees("#history [data-waits]", "Shall I go on?")
	p.becomes(endSeen)
	if got := p.value(`document.querySelector("#content").value`); got != "meanwhile" {
		t.Errorf("the message is lost: %q", got)
	}
}
