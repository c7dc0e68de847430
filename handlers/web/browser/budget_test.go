package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestABudgetIsChangedInPlace(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Conversation(100)
	p := openTab(w)
	p.signIn()
	p.open(webtest.BudgetPath(id))
	p.sees("#live-text", "live")
	p.value(`window.same = "page"`)

	// It follows what is spent and what others set.
	w.Respond(id, models.KindReply, "More.", 60)
	p.sees("#budget-panel .gauge", "61 used, 39 remaining of 100")

	// A half-filled form stays, and says so when the budget is another.
	p.fill("#panel-reason", "for the rest")
	w.Respond(id, models.KindReply, "More.", 9)
	w.Budget(id, 90)
	p.do("wait for the note", chromedp.WaitVisible(chromedp.CSS("[data-guard-note]")))
	if got := p.value(`document.querySelector("#panel-reason").value`); got != "for the rest" {
		t.Fatalf("the form was swapped away: %q", got)
	}

	p.click("input[name=how][value=add]")
	p.expected = append(p.expected, "422")
	p.click("#panel-change")
	p.sees("#panel-amount-error", "must not be empty")
	p.fill("#panel-amount", "25")
	p.click("#panel-change")
	p.sees("#budget-panel .gauge", "70 used, 45 remaining of 115")
	p.sees(".budget-step:first-child", "for the rest")
	p.click("button[name=preset][value='+10']")
	p.sees("#budget-panel .gauge", "70 used, 55 remaining of 125")
	if got := p.value(`window.same`); got != "page" {
		t.Error("the page was loaded anew")
	}
	if got := w.Total(id); got != 125 {
		t.Errorf("the budget is %d", got)
	}
}

func TestABudgetIsChangedWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Conversation(100)
	p := openTab(w)
	p.withoutScript()
	p.signIn()
	p.open(webtest.BudgetPath(id))
	p.click("input[name=how][value=take]")
	p.fill("#panel-amount", "30")
	p.fill("#panel-reason", "too much")
	p.click("#panel-change")
	p.sees(".flash", "Budget changed.")
	p.sees(".budget-step:first-child", "100 → 70")
	p.click("button[title='Double the budget to 140']")
	p.sees("#budget-panel .gauge", "139 remaining of 140")
	if got := w.Total(id); got != 140 {
		t.Errorf("the budget is %d", got)
	}
}

func TestABudgetRequestIsApprovedWithAnotherSum(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for _, script := range []bool{true, false} {
		id := w.Conversation(60)
		a := w.BudgetRequest(id, 150)
		p := openTab(w)
		if !script {
			p.withoutScript()
		}
		p.signIn()
		p.click("#row-" + string(a.ID) + " .row-link")
		p.sees("#approval-title", "Set the budget to 150.")
		if script { // what is spent meanwhile is seen
			p.sees("#live-text", "live")
			w.Respond(id, models.KindReply, "On.", 4)
			p.sees("#approval .gauge", "5 used, 55 remaining of 60")
		}
		p.sees("#decide", "New budget")
		p.value(`document.querySelector("#sum").value = "1500"`)
		p.fill("#reason", "take your time")
		p.click("#approve")
		p.sees(".outcome", "Budget changed: 1,500 instead of 150.")
		if got := w.Total(id); got != 1500 {
			t.Errorf("script %v: the budget is %d", script, got)
		}
	}
}

func TestTheListOfConversationsFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Conversation(60)
	p := openTab(w)
	p.signIn()
	p.open("/conversations")
	p.sees("#live-text", "live")
	p.sees("#conversation-"+string(id), "1 of 60")
	w.BudgetRequest(id, 150)
	p.sees("#conversation-"+string(id), "1 to decide")
	p.click("#conversation-" + string(id) + " .row-link")
	p.sees("#budget summary", "1 of 60")
	p.click("#budget summary")
	p.sees("#budget-panel .pop-body .gauge", "1 used, 59 remaining of 60")
}
