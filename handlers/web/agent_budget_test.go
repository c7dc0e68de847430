package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/models"
)

// TestMoreEnergyForAnAgentIsDecidedOnItsPage, for less than was asked too, and the
// page of agents shows what was spent.
func TestMoreEnergyForAnAgentIsDecidedOnItsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	p.get("/agents").is(http.StatusOK).saysNot("main", "Energy in")
	w.applyPolicy(`{"budget_per_agent":{"energy":1000,"hours":24}}`)
	id := models.NewID[models.ConversationID]()
	w.respond(id, models.KindReply, "Good morning.", 1000)
	p.get("/agents").is(http.StatusOK).says("table", "Energy in 24 hours", "1,000 of 1,000")
	_, err := w.store.Respond(t.Context(), w.agent, models.ResponseInput{ConversationID: id, Kind: models.KindReply, Content: "More."})
	var refused *models.Error
	if !errors.As(err, &refused) || refused.Code != models.CodeBudgetExhausted {
		t.Fatalf("beyond the budget: %v", err)
	}
	a := refused.Approval
	p.get("/").says("main", "Allow the agent 500 more energy", "1000 of 1000 units of energy in 24 hours")
	got := p.get(pageOf(a)).is(http.StatusOK).
		says("#approval", "asks for 500 more units of energy, for all its conversations, until", "in the last 24 hours", "1,000 used, 0 remaining of 1,000", "Limit reached", "that much more in all its conversations, until the time above", "nobody is asked again before then")
	if got.value("#sum") != "500" {
		t.Errorf("the field holds %q", got.value("#sum"))
	}
	for _, wrong := range []url.Values{{"sum": {"-1"}}, {"sum": {""}}, {"until": {"2099-01-01T00:00:00Z"}}, {"until": {"soon"}}} {
		p.post(decideOf(a), got.sent("#approve", wrong)).is(http.StatusUnprocessableEntity)
	}
	if now := w.stands(a.ID); now.Status() != models.StatusPending {
		t.Fatalf("it is %s", now.Status())
	}
	p.post(decideOf(a), got.sent("#approve", url.Values{"sum": {"40"}})).redirects(pageOf(a))
	p.get(pageOf(a)).says("#approval", "asked for 500 more units", "Amount changed: 40 more instead of 500.")
	p.get("/agents").says("table", "1,000 of 1,040")
	p.get("/conversations/"+string(id)).is(http.StatusOK).says("main", "asked for 500 more energy, for all its conversations")
	w.respond(id, models.KindReply, "More.", 40)
	if w.total(id) != -1 {
		t.Error("the conversation has got a budget")
	}
	w.clock.Step(24*time.Hour + time.Minute)
	p = w.signedIn(ownerEmail)
	p.get("/agents").says("table", "0 of 1,000")
}

func TestThePolicyPageSaysWhatAgentsMaySpend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	if form := p.get("/policy").form("#policy-form", ""); form.Get("budget_per_agent.energy") != "" || form.Get("budget_per_agent.hours") != "" {
		t.Errorf("without a limit the form shows %q in %q hours", form.Get("budget_per_agent.energy"), form.Get("budget_per_agent.hours"))
	}
	w.applyPolicy(`{"budget_per_agent":{"energy":1500,"hours":24}}`)
	form := p.get("/policy").form("#policy-form", "#review")
	if form.Get("budget_per_agent.energy") != "1500" || form.Get("budget_per_agent.hours") != "24" {
		t.Errorf("the form shows %q in %q hours", form.Get("budget_per_agent.energy"), form.Get("budget_per_agent.hours"))
	}
	form.Set("budget_per_agent.energy", "")
	form.Set("budget_per_agent.hours", "")
	p.post("/policy", form).redirects("/policy/review")
	p.get("/policy/review").says("table", "budget_per_agent", "1500 units of energy in 24 hours", "none")
}
