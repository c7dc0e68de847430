package llm_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/agent"
	"countersign/workers/llm"
)

// played is the tour in the real loop, on a real store: what the loop words and
// the script reads must agree.
type played struct {
	t      *testing.T
	store  *store.Store
	person models.Actor
	agent  *agent.Agent
	id     models.ConversationID
}

func play(t *testing.T) *played {
	t.Helper()
	s := storetest.New(t)
	p := &played{
		t: t, store: s, person: storetest.Reviewer(t, s, "ann@example.com"),
		agent: agent.New(agent.Options{Store: s, Model: llm.NewScripted(), Log: slog.New(slog.DiscardHandler), LeaseTTL: time.Minute}),
	}
	p.say("Hello.", nil)
	return p
}

// say writes, with a decision or without, and has the agent work until it waits.
func (p *played) say(words string, d *models.ConversationDecision) {
	p.t.Helper()
	said, err := runs.New(p.store).Say(p.t.Context(), p.person, models.MessageInput{ConversationID: p.id, Content: words, Decision: d})
	if err != nil {
		p.t.Fatal(err)
	}
	p.id = said.Conversation.ID
	p.works()
}

func (p *played) decide(d models.ConversationDecision) {
	p.t.Helper()
	if _, _, err := runs.New(p.store).DecideIn(p.t.Context(), p.person, p.id, d); err != nil {
		p.t.Fatal(err)
	}
	p.works()
}

func (p *played) works() {
	p.t.Helper()
	for range 10 {
		worked, err := p.agent.Once(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if !worked {
			return
		}
	}
	p.t.Fatal("the tour does not come to rest")
}

// last is what was said last, and checks how the conversation stands.
func (p *played) last(status models.ConversationStatus, words ...string) {
	p.t.Helper()
	view, err := p.store.Requests.Conversation(p.t.Context(), p.person, p.id)
	if err != nil {
		p.t.Fatal(err)
	}
	if view.Status != status {
		p.t.Errorf("the conversation is %s, not %s", view.Status, status)
	}
	history, err := p.store.Requests.History(p.t.Context(), p.person, p.id, requests.HistoryQuery{})
	if err != nil {
		p.t.Fatal(err)
	}
	var all, last string
	for _, entry := range history.Entries {
		if r := entry.Response; r != nil {
			all += string(r.Kind) + ": " + r.Content + "\n\n"
			if r.Kind == models.KindReply {
				last = r.Content
			}
		}
	}
	for _, w := range words {
		if !strings.Contains(last, w) {
			p.t.Errorf("%q is not in the last reply of\n%s", w, all)
		}
	}
}

func TestTourInTheLoop(t *testing.T) {
	t.Parallel()
	p := play(t)
	p.last(models.ConversationWaitingInput, "demonstration", "budget of 20")
	p.say("Yes, go on.", &models.ConversationDecision{Approved: new(true), Feedback: "But carefully."})
	p.last(models.ConversationWaitingInput, "Budget change 1 was applied: the budget is 20", "Proposal 1 was approved by ", "> But carefully.", "So I ask for ")
	p.decide(models.ConversationDecision{Approved: new(true), Budget: models.BudgetChange{Set: new(int64(90))}})
	p.last(models.ConversationCompleted, "Energy request 1 was approved by ", "you approved 90", "That was the tour")
	p.say("help", nil)
	p.last(models.ConversationCompleted, "The budget is 90 units")
}

func TestTourRejectedInTheLoop(t *testing.T) {
	t.Parallel()
	p := play(t)
	p.decide(models.ConversationDecision{Approved: new(false), Feedback: "Keep them."})
	p.last(models.ConversationWaitingInput, "Proposal 1 was rejected by ", "> Keep them.", "something milder")
	p.decide(models.ConversationDecision{Approved: new(true), Budget: models.BudgetChange{Set: new(int64(100))}})
	p.last(models.ConversationCompleted, "Proposal 2 was approved by ", "the budget became 100", "That was the tour")
}

func TestTourStoppedInTheLoop(t *testing.T) {
	t.Parallel()
	p := play(t)
	if _, err := runs.New(p.store).Steer(t.Context(), p.person, p.id, models.SteerStop); err != nil {
		t.Fatal(err)
	}
	p.works()
	p.last(models.ConversationFailed)
	p.say("What happened?", nil)
	p.last(models.ConversationCompleted, "Proposal 1 was cancelled (stopped)")
}
