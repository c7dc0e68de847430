package request_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// TestMoreEnergyForAnAgentIsDecidedOnItsPage, for less than was asked too, and the
// page of agents shows what was spent.
func TestMoreEnergyForAnAgentIsDecidedOnItsPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/agents").Is(http.StatusOK).SaysNot("main", "Energy in")
	w.ApplyPolicy(`{"budget_per_agent":{"energy":1000,"hours":24}}`)
	id := models.NewID[models.ConversationID]()
	w.Respond(id, models.KindReply, "Good morning.", 1000)
	p.Get("/agents").Is(http.StatusOK).Says("table", "Energy in 24 hours", "1,000 of 1,000")
	_, err := w.Store.Respond(t.Context(), w.Agent, models.ResponseInput{ConversationID: id, Kind: models.KindReply, Content: "More."})
	var refused *models.Error
	if !errors.As(err, &refused) || refused.Code != models.CodeBudgetExhausted {
		t.Fatalf("beyond the budget: %v", err)
	}
	a := refused.Approval
	p.Get("/").Says("main", "Allow the agent 500 more energy", "1000 of 1000 units of energy in 24 hours")
	got := p.Get(webtest.PageOf(a)).Is(http.StatusOK).
		Says("#approval", "asks for 500 more units of energy, for all its conversations, until", "in the last 24 hours", "1,000 used, 0 remaining of 1,000", "Limit reached", "that much more in all its conversations, until the time above", "you won't be asked again before then")
	if got.Value("#sum") != "500" {
		t.Errorf("the field holds %q", got.Value("#sum"))
	}
	for _, wrong := range []url.Values{{"sum": {"-1"}}, {"sum": {""}}, {"until": {"2099-01-01T00:00:00Z"}}, {"until": {"soon"}}} {
		p.Post(webtest.DecideOf(a), sent(got, "#approve", wrong)).Is(http.StatusUnprocessableEntity)
	}
	if now := w.Approval(a.ID); now.Status() != models.StatusPending {
		t.Fatalf("it is %s", now.Status())
	}
	p.Post(webtest.DecideOf(a), sent(got, "#approve", url.Values{"sum": {"40"}})).Redirects(webtest.PageOf(a))
	p.Get(webtest.PageOf(a)).Says("#approval", "asked for 500 more units", "Amount changed: 40 more instead of 500.")
	p.Get("/agents").Says("table", "1,000 of 1,040")
	p.Get("/conversations/"+string(id)).Is(http.StatusOK).Says("main", "asked for 500 more energy, for all its conversations")
	w.Respond(id, models.KindReply, "More.", 40)
	if w.Total(id) != -1 {
		t.Error("the conversation has got a budget")
	}
	w.Clock.Step(24*time.Hour + time.Minute)
	p = w.SignIn(webtest.OwnerEmail)
	p.Get("/agents").Says("table", "0 of 1,000")
}

func TestThePolicyPageSaysWhatAgentsMaySpend(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	if form := p.Get("/policy/settings").Form("#policy-form", ""); form.Get("budget_per_agent.energy") != "" || form.Get("budget_per_agent.hours") != "" {
		t.Errorf("without a limit the form shows %q in %q hours", form.Get("budget_per_agent.energy"), form.Get("budget_per_agent.hours"))
	}
	w.ApplyPolicy(`{"budget_per_agent":{"energy":1500,"hours":24}}`)
	form := p.Get("/policy/settings").Form("#policy-form", "#review")
	if form.Get("budget_per_agent.energy") != "1500" || form.Get("budget_per_agent.hours") != "24" {
		t.Errorf("the form shows %q in %q hours", form.Get("budget_per_agent.energy"), form.Get("budget_per_agent.hours"))
	}
	form.Set("budget_per_agent.energy", "")
	form.Set("budget_per_agent.hours", "")
	p.Post("/policy/settings", form).Redirects("/policy/review")
	p.Get("/policy/review").Says("main", "What one agent may spend", "1500 units of energy in 24 hours", "none")
}
