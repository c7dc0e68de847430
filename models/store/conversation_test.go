package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// talk is a bench with a conversation of the agent's.
type talk struct {
	*bench

	conv models.ConversationID
}

func newTalk(t *testing.T, opts ...storetest.Option) *talk {
	t.Helper()
	return &talk{bench: newBench(t, opts...), conv: models.NewID[models.ConversationID]()}
}

// begun is a talk in which the agent has said something, with that budget.
func begun(t *testing.T, budget int64, opts ...storetest.Option) *talk {
	t.Helper()
	c := newTalk(t, opts...)
	c.reply(t, "Hello.")
	c.set(t, c.Owner, budget)
	return c
}

func (c *talk) respond(t *testing.T, in models.ResponseInput) *models.Approval {
	t.Helper()
	a, err := c.tryRespond(t, in)
	if err != nil {
		t.Fatalf("respond: %v", err)
	}
	return a
}

func (c *talk) tryRespond(t *testing.T, in models.ResponseInput) (*models.Approval, error) {
	t.Helper()
	if in.ConversationID == "" {
		in.ConversationID = c.conv
	}
	return c.Respond(t.Context(), c.Agent, in)
}

func (c *talk) reply(t *testing.T, content string) *models.Approval {
	t.Helper()
	return c.respond(t, models.ResponseInput{Kind: models.KindReply, Content: content})
}

func (c *talk) propose(t *testing.T, content string) *models.Approval {
	t.Helper()
	return c.respond(t, models.ResponseInput{Kind: models.KindProposal, Content: content})
}

// in names the conversation in an ask.
func (c *talk) in(in models.AskInput) models.AskInput {
	in.ConversationID = string(c.conv)
	return in
}

func (c *talk) view(t *testing.T) *models.ConversationView {
	t.Helper()
	v, err := c.Requests.Conversation(t.Context(), c.Owner, c.conv)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (c *talk) wantStatus(t *testing.T, want models.ConversationStatus) {
	t.Helper()
	if got := c.view(t).Status; got != want {
		t.Fatalf("the conversation is %s, want %s", got, want)
	}
}

// wantBudget compares the budget: -1 is none.
func (c *talk) wantBudget(t *testing.T, total, used int64) {
	t.Helper()
	got := int64(-1)
	b := c.view(t).Budget()
	if b.Total != nil {
		got = *b.Total
	}
	if got != total || b.Used != used {
		t.Fatalf("budget %d, used %d; want %d, %d", got, b.Used, total, used)
	}
}

func (c *talk) change(t *testing.T, who models.Actor, change models.BudgetChange) *models.BudgetResult {
	t.Helper()
	r, err := c.ChangeBudget(t.Context(), who, c.conv, change, "")
	if err != nil {
		t.Fatalf("change budget: %v", err)
	}
	return r
}

func (c *talk) set(t *testing.T, who models.Actor, budget int64) *models.BudgetResult {
	t.Helper()
	return c.change(t, who, models.BudgetChange{Set: &budget})
}

func (c *talk) say(t *testing.T, content string, d *models.ConversationDecision) *models.MessageResult {
	t.Helper()
	r, err := c.Say(t.Context(), c.Owner, models.MessageInput{ConversationID: c.conv, Content: content, Decision: d})
	if err != nil {
		t.Fatalf("say: %v", err)
	}
	return r
}

// exhausted has the agent ask for more than is left, and returns the budget
// request that the refusal names.
func (c *talk) exhausted(t *testing.T) *models.Approval {
	t.Helper()
	e := refusal(t, second(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "More.", Energy: new(int64(1000))})), models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.Kind != models.KindBudget {
		t.Fatalf("the refusal names %+v", e.Approval)
	}
	return e.Approval
}

func (c *talk) approval(t *testing.T, id models.ResponseID) *models.Approval {
	t.Helper()
	a, err := c.Requests.Approval(t.Context(), c.Owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func approve(id models.ResponseID) models.ConversationDecision {
	return models.ConversationDecision{Approved: new(true), ResponseID: id, Page: models.NoPage}
}

func reject() models.ConversationDecision {
	return models.ConversationDecision{Approved: new(false)}
}

func (c *talk) decideIn(t *testing.T, who models.Actor, d models.ConversationDecision) *models.Approval {
	t.Helper()
	a, _, err := c.DecideIn(t.Context(), who, c.conv, d)
	if err != nil {
		t.Fatalf("decide: %v", err)
	}
	return a
}

// wantUnchanged runs what is refused with a code and finds every table as it was.
func wantUnchanged(t *testing.T, s *store.Store, code models.Code, do func() error) models.Error {
	t.Helper()
	before := storetest.Dump(t, s)
	err := do()
	if models.ErrorCode(err) != code {
		t.Errorf("error = %v (code %q), want code %q", err, models.ErrorCode(err), code)
	}
	if after := storetest.Dump(t, s); after != before {
		t.Errorf("a refused call changed something:\n%s", storetest.Difference(before, after))
	}
	if e, ok := errors.AsType[*models.Error](err); ok {
		return *e
	}
	return models.Error{}
}

func TestAProposalWaitsForAPersonAndCostsEnergy(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.respond(t, models.ResponseInput{
		Kind: models.KindProposal, Content: "I could delete the logs older than 30 days.", Energy: new(int64(7)), EnergyBudget: new(int64(100)), ModelUsed: "m1",
	})
	if a.Status() != models.StatusPending || !a.RequiresApproval || a.HasDeadline() || a.ToolName != models.ToolRespondWithApproval || a.Sequence != 1 {
		t.Errorf("proposed: %+v", a)
	}
	got := c.approval(t, a.ID)
	if got.Content != a.Content || got.EnergyBudget == nil || *got.EnergyBudget != 100 || got.ModelUsed != "m1" || got.Energy != 7 {
		t.Errorf("stored: %+v", got)
	}
	c.wantStatus(t, models.ConversationWaitingInput)
	c.wantBudget(t, -1, 7) // the proposed budget is not applied
	page, err := c.Requests.Inbox(t.Context(), c.Owner, requests.InboxQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != a.ID {
		t.Errorf("the inbox: %+v, %v", page.Items, err)
	}
	decided := c.decideIn(t, c.Owner, models.ConversationDecision{Approved: new(true), Feedback: "go on"})
	if decided.ID != a.ID || decided.Status() != models.StatusApproved || decided.Feedback() != "go on" || decided.Cause != models.CauseReviewer {
		t.Errorf("decided: %+v", decided)
	}
	c.wantStatus(t, models.ConversationRunning)
	c.wantBudget(t, -1, 7)
}

func TestI14RejectedWorkStaysSpent(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.respond(t, models.ResponseInput{Kind: models.KindProposal, Content: "Shall I?", Energy: new(int64(20))})
	c.decideIn(t, c.Owner, models.ConversationDecision{Approved: new(false), Feedback: "no"})
	c.wantBudget(t, 50, 21)
	c.wantStatus(t, models.ConversationRunning)
}

func TestAReplyNeedsNoApproval(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.reply(t, "Done.")
	if a.Status() != models.StatusNone || a.RequiresApproval || a.LetThrough() || a.Energy != models.DefaultEnergy {
		t.Errorf("replied: %+v", a)
	}
	c.wantStatus(t, models.ConversationRunning)
	wantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.Decide(t.Context(), c.Owner, a.ID, storetest.Yes())) })
	wantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.Cancel(t.Context(), c.Agent, a.ID)) })
}

func TestI9AResponseSentAgainIsTheSame(t *testing.T) {
	t.Parallel()
	c := begun(t, 10)
	second, _ := storetest.AgentToken(t, c.Store, c.Owner, "second")
	id := string(models.NewID[models.ResponseID]())
	in := models.ResponseInput{ConversationID: c.conv, Kind: models.KindProposal, Content: "Shall I?", ResponseID: id, Energy: new(int64(9))}
	first := c.respond(t, in)
	same := func(change func(*models.ResponseInput)) func() error {
		return func() error {
			again := in
			change(&again)
			a, err := c.Respond(t.Context(), c.Agent, again)
			if err == nil && (a.ID != first.ID || a.Sequence != first.Sequence || a.Energy != 9) {
				t.Errorf("another row: %+v", a)
			}
			return err
		}
	}
	for name, change := range map[string]func(*models.ResponseInput){
		"to the letter":           func(*models.ResponseInput) {},
		"with another energy":     func(in *models.ResponseInput) { in.Energy = new(int64(999)) },
		"with its id in capitals": func(in *models.ResponseInput) { in.ResponseID = strings.ToUpper(id) },
		"with the conversation in capitals": func(in *models.ResponseInput) {
			in.ConversationID = models.ConversationID(strings.ToUpper(string(c.conv)))
		},
	} {
		t.Run(name, func(t *testing.T) { wantUnchanged(t, c.Store, "", same(change)) })
	}
	for name, change := range map[string]func(*models.ResponseInput){
		"another content":      func(in *models.ResponseInput) { in.Content = "Shall I not?" },
		"another kind":         func(in *models.ResponseInput) { in.Kind = models.KindReply },
		"another conversation": func(in *models.ResponseInput) { in.ConversationID = models.NewID[models.ConversationID]() },
	} {
		t.Run(name, func(t *testing.T) {
			if e := wantUnchanged(t, c.Store, models.CodeKeyConflict, same(change)); e.Approval == nil || e.Approval.ID != first.ID {
				t.Errorf("the conflict lacks the standing row: %+v", e)
			}
		})
	}
	t.Run("by another agent", func(t *testing.T) {
		for _, who := range []models.Actor{second, c.Other} {
			e := wantUnchanged(t, c.Store, models.CodeIDTaken, func() error { return storetest.Err(c.Respond(t.Context(), who, in)) })
			if e.Approval != nil {
				t.Error("the conflict shows a stranger's row")
			}
		}
	})
	t.Run("after the decision", func(t *testing.T) {
		c.decideIn(t, c.Owner, approve(""))
		if a := c.respond(t, in); a.Status() != models.StatusApproved {
			t.Errorf("it is %s", a.Status())
		}
	})
	t.Run("with the budget spent", func(t *testing.T) {
		c.exhausted(t)
		wantUnchanged(t, c.Store, "", same(func(*models.ResponseInput) {}))
	})
}

func TestRespondRefuses(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	sibling, _ := storetest.AgentToken(t, c.Store, c.Owner, "sibling")
	reply := func(change func(*models.ResponseInput)) models.ResponseInput {
		in := models.ResponseInput{ConversationID: c.conv, Kind: models.KindReply, Content: "x"}
		change(&in)
		return in
	}
	for _, tt := range []struct {
		name  string
		who   models.Actor
		in    models.ResponseInput
		code  models.Code
		field string
	}{
		{"a person", c.Owner, reply(func(*models.ResponseInput) {}), models.CodeForbidden, ""},
		{"an admin", c.Admin, reply(func(*models.ResponseInput) {}), models.CodeForbidden, ""},
		{"nobody", models.Actor{}, reply(func(*models.ResponseInput) {}), models.CodeForbidden, ""},
		{"another agent of the owner", sibling, reply(func(*models.ResponseInput) {}), models.CodeOtherAgent, ""},
		{"a stranger's agent", c.Other, reply(func(*models.ResponseInput) {}), models.CodeIDTaken, "conversationId"},
		{"no conversation", c.Agent, reply(func(in *models.ResponseInput) { in.ConversationID = "" }), models.CodeInvalid, "conversationId"},
		{"no id of a conversation", c.Agent, reply(func(in *models.ResponseInput) { in.ConversationID = "run-1" }), models.CodeInvalid, "conversationId"},
		{"no kind", c.Agent, reply(func(in *models.ResponseInput) { in.Kind = "" }), models.CodeInvalid, "kind"},
		{"a budget request", c.Agent, reply(func(in *models.ResponseInput) { in.Kind = models.KindBudget }), models.CodeInvalid, "kind"},
		{"a tool call", c.Agent, reply(func(in *models.ResponseInput) { in.Kind = models.KindToolCall }), models.CodeInvalid, "kind"},
		{"no content", c.Agent, reply(func(in *models.ResponseInput) { in.Content = "" }), models.CodeInvalid, "content"},
		{"too much content", c.Agent, reply(func(in *models.ResponseInput) { in.Content = strings.Repeat("x", models.MaxContent+1) }), models.CodeInvalid, "content"},
		{"content that is no text", c.Agent, reply(func(in *models.ResponseInput) { in.Content = "\xff" }), models.CodeInvalid, "content"},
		{"negative energy", c.Agent, reply(func(in *models.ResponseInput) { in.Energy = new(int64(-1)) }), models.CodeInvalid, "energy"},
		{"absurd energy", c.Agent, reply(func(in *models.ResponseInput) { in.Energy = new(int64(models.MaxEnergy + 1)) }), models.CodeInvalid, "energy"},
		{"a long model", c.Agent, reply(func(in *models.ResponseInput) { in.ModelUsed = strings.Repeat("m", models.MaxName+1) }), models.CodeInvalid, "modelUsed"},
		{"no UUID", c.Agent, reply(func(in *models.ResponseInput) { in.ResponseID = "r1" }), models.CodeInvalid, "responseId"},
		{"a reply with a budget", c.Agent, reply(func(in *models.ResponseInput) { in.EnergyBudget = new(int64(5)) }), models.CodeInvalid, "energyBudget"},
		{"a negative budget", c.Agent, reply(func(in *models.ResponseInput) { in.Kind, in.EnergyBudget = models.KindProposal, new(int64(-5)) }), models.CodeInvalid, "energyBudget"},
		{"an absurd budget", c.Agent, reply(func(in *models.ResponseInput) {
			in.Kind, in.EnergyBudget = models.KindProposal, new(int64(models.MaxBudget+1))
		}), models.CodeInvalid, "energyBudget"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := wantUnchanged(t, c.Store, tt.code, func() error { return second(c.Respond(t.Context(), tt.who, tt.in)) })
			if tt.field != "" && e.Fields[tt.field] == "" {
				t.Errorf("fields %v, want %s", e.Fields, tt.field)
			}
		})
	}
}

func TestRespondKeepsTheLimits(t *testing.T) {
	t.Parallel()
	c := newTalk(t, func(o *store.Options) { o.AsksPerMinute = 2 })
	id := string(models.NewID[models.ResponseID]())
	in := models.ResponseInput{Kind: models.KindReply, Content: "one", ResponseID: id}
	c.respond(t, in)
	c.reply(t, "two")
	wantUnchanged(t, c.Store, models.CodeTooManyRequests, func() error {
		return second(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "three"}))
	})
	c.respond(t, in) // a repeat is not counted

	full := newTalk(t, func(o *store.Options) { o.PendingPerAgent = 1 })
	full.propose(t, "one")
	wantUnchanged(t, full.Store, models.CodeTooManyPending, func() error {
		return second(full.tryRespond(t, models.ResponseInput{Kind: models.KindProposal, Content: "two"}))
	})
}

func TestAnUnknownIDOpensTheAgentsConversation(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	at := storetest.LedgerAt(t, c.Store)
	c.reply(t, "Hello.")
	owner := string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, at), []string{"conversation.opened " + owner, "response.added " + owner})
	if v := c.view(t); v.AgentID != c.Agent.AgentID() || v.OwnerID != c.Owner.OwnerID || v.Standing || v.BuiltIn || v.Status != models.ConversationRunning {
		t.Errorf("opened: %+v", v)
	}
}

// TestWhoSeesAConversation: its agent, its owner, an admin by session, and nobody
// else.
func TestWhoSeesAConversation(t *testing.T) {
	t.Parallel()
	c := begun(t, 5)
	sibling, _ := storetest.AgentToken(t, c.Store, c.Owner, "sibling")
	noAdmin := c.Admin
	noAdmin.Admin = false // a reviewer's token of an admin
	for name, tt := range map[string]struct {
		who  models.Actor
		sees bool
	}{
		"its agent": {c.Agent, true}, "its owner": {c.Owner, true}, "an admin": {c.Admin, true},
		"a reviewer's token of an admin": {noAdmin, false}, "a stranger": {c.Stranger, false}, "a stranger's agent": {c.Other, false},
		"another agent of the owner": {sibling, false}, "nobody": {models.Actor{}, false}, "the system": {models.System("x"), false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, code := t.Context(), models.Code("")
			if !tt.sees {
				code = models.CodeNotFound
			}
			wantCode(t, second(c.Requests.Conversation(ctx, tt.who, c.conv)), code)
			wantCode(t, second(c.Requests.History(ctx, tt.who, c.conv, requests.HistoryQuery{})), code)
			wantCode(t, second(c.AwaitHistory(ctx, tt.who, c.conv, 0, 1, time.Minute)), code)
			wantCode(t, second(c.EnergyOf(ctx, tt.who, c.conv, 9)), code)
			wantCode(t, second(c.EnergyBy(ctx, tt.who, c.conv, 9)), code)
			wantCode(t, second(c.Requests.BudgetSteps(ctx, tt.who, c.conv, 0, 9)), code)
		})
	}
	wantCode(t, second(c.Requests.Conversation(t.Context(), c.Admin, models.NewID[models.ConversationID]())), models.CodeNotFound)
}
