package browser_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// TestInABrowserAChecklistIsTicked on a wide screen and on a phone, with and without script.
func TestInABrowserAChecklistIsTicked(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1440, 390} {
		for _, script := range []bool{true, false} {
			t.Run(strconv.FormatInt(width, 10)+" script "+strconv.FormatBool(script), func(t *testing.T) {
				t.Parallel()
				w := webtest.New(t)
				w.ApplyPolicy(strings.ReplaceAll(webtest.UnderChecklist, "RISK", "low"))
				a := w.Ask(webtest.Paying)
				p := openTab(w)
				p.expected = append(p.expected, "422")
				p.do("size", chromedp.EmulateViewport(width, 900))
				p.signIn()
				if !script {
					p.withoutScript()
				}
				p.open(webtest.PageOf(a))
				p.fill("#reason", "as agreed")
				if script {
					p.click("body")
					p.acts("a")
				} else {
					p.click("#approve")
				}
				p.sees("#checklist-error", "Tick every item before you approve.")
				p.becomes(`document.activeElement.id + " " + document.getElementById("reason").value === "checklist-1 as agreed"`) // focus comes with the first frame
				p.click("#checklist-1")
				p.click("#checklist-2")
				// On a phone the list scrolls with the request: the bar over it stays low.
				if p.value(`innerWidth > 390 || document.querySelector(".decide-bar").getBoundingClientRect().height <= 120`) != "true" {
					t.Errorf("the bar takes %s of 900 px", p.value(`document.querySelector(".decide-bar").getBoundingClientRect().height`))
				}
				p.click("#approve")
				p.sees("#approval .ticked", "The recipient is known")
				if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Checked != "[0,1]" || got.Vote.Reason != "as agreed" {
					t.Errorf("%s %+v", got.Status(), got.Vote)
				}
			})
		}
	}
}

// What is kept over a sign-in comes back for the request it was meant for, and for no other.
func TestInABrowserADraftDecidesNothingElse(t *testing.T) {
	t.Parallel()
	for name, another := range map[string]bool{"the same": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(webtest.BackedUp)
			id := w.Conversation(-1)
			path := webtest.ConversationPath(id)
			shown := w.Proposes(id, "Delete the logs", 20)
			p := openTab(w)
			p.expected = append(p.expected, "401")
			p.signIn()
			p.open(path)
			p.quiet()
			p.value(`(document.querySelector("[id$=checklist-1]").click(), document.querySelector("[id$=set-budget]").click(), document.querySelector("#history [id$=-reason]").value = "fine", document.getElementById("content").value = "Go on.", "")`)
			expire(w, w.Owner)
			p.open("/audit")
			p.becomes(`location.pathname.startsWith("/sign")`)
			want := "true false fine"
			if another {
				if _, err := w.Store.Decide(t.Context(), w.Admin, shown.ID, models.DecisionInput{Approved: new(false)}); err != nil {
					t.Fatal(err)
				}
				w.ApplyPolicy(webtest.Called)
				w.Proposes(id, "Pay 1,000,000", 30)
				want = "false true "
			}
			p.signIn()
			p.open(path)
			p.becomes(`document.getElementById("content").value === "Go on."`)
			if got := p.value(`document.querySelector("[id$=checklist-1]").checked + " " + document.querySelector("[id$=set-budget]").checked + " " + document.querySelector("#history [id$=-reason]").value`); got != want {
				t.Errorf("the form holds %q, want %s", got, want)
			}
		})
	}
}

// Browsers fill forms in again after Back, by the names of their fields.
func TestInABrowserBackDecidesNothingElse(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run("script "+strconv.FormatBool(script), func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(webtest.BackedUp)
			id := w.Conversation(-1)
			first := w.Proposes(id, "Delete the logs", 20)
			p := openTab(w)
			p.signIn()
			if !script {
				p.withoutScript()
			}
			p.open(webtest.ConversationPath(id))
			p.click("[id$=checklist-1]")
			p.click("[id$=set-budget]")
			p.fill("#history [id$=-reason]", "fine")
			p.open("/audit")
			if _, err := w.Store.Decide(t.Context(), w.Admin, first.ID, models.DecisionInput{Approved: new(false)}); err != nil {
				t.Fatal(err)
			}
			w.ApplyPolicy(webtest.Called)
			w.Proposes(id, "Pay 1,000,000", 30)
			p.do("go back", chromedp.NavigateBack())
			p.do("see it", chromedp.WaitVisible(chromedp.CSS("[id$=set-budget]")))
			if got := p.value(`document.querySelector("[id$=checklist-1]").checked + " " + document.querySelector("[id$=set-budget]").checked + " " + document.querySelector("#history [id$=-reason]").value`); got != "false true " {
				t.Errorf("the form holds %q", got)
			}
		})
	}
}
