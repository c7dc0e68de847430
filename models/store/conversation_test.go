package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestAProposalWaitsForAPersonAndCostsEnergy(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.Responds(t, models.ResponseInput{
		Kind: models.KindProposal, Content: "I could delete the logs older than 30 days.", Energy: new(int64(7)), EnergyBudget: new(int64(100)), ModelUsed: "m1",
	})
	if a.Status() != models.StatusPending || !a.RequiresApproval || a.HasDeadline() || a.ToolName != models.ToolRespondWithApproval || a.Sequence != 1 {
		t.Errorf("proposed: %+v", a)
	}
	got := c.Reads(t, a.ID)
	if got.Content != a.Content || got.EnergyBudget == nil || *got.EnergyBudget != 100 || got.ModelUsed != "m1" || got.Energy != 7 {
		t.Errorf("stored: %+v", got)
	}
	c.WantStatus(t, models.ConversationWaitingInput)
	c.WantBudget(t, -1, 7) // the proposed budget is not applied
	page, err := c.Requests.Inbox(t.Context(), c.Owner, requests.InboxQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != a.ID {
		t.Errorf("the inbox: %+v, %v", page.Items, err)
	}
	decided := c.DecidesIn(t, c.Owner, models.ConversationDecision{Approved: new(true), Feedback: "go on"})
	if decided.ID != a.ID || decided.Status() != models.StatusApproved || decided.Feedback() != "go on" || decided.Cause != models.CauseReviewer {
		t.Errorf("decided: %+v", decided)
	}
	c.WantStatus(t, models.ConversationRunning)
	c.WantBudget(t, -1, 7)
}

func TestI14RejectedWorkStaysSpent(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.Responds(t, models.ResponseInput{Kind: models.KindProposal, Content: "Shall I?", Energy: new(int64(20))})
	c.DecidesIn(t, c.Owner, models.ConversationDecision{Approved: new(false), Feedback: "no"})
	c.WantBudget(t, 50, 21)
	c.WantStatus(t, models.ConversationRunning)
}

func TestAReplyNeedsNoApproval(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.Replies(t, "Done.")
	if a.Status() != models.StatusNone || a.RequiresApproval || a.LetThrough() || a.Energy != models.DefaultEnergy {
		t.Errorf("replied: %+v", a)
	}
	c.WantStatus(t, models.ConversationRunning)
	storetest.WantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.Decide(t.Context(), c.Owner, a.ID, storetest.Yes())) })
	storetest.WantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.Cancel(t.Context(), c.Agent, a.ID)) })
}

func TestI9AResponseSentAgainIsTheSame(t *testing.T) {
	t.Parallel()
	c := begun(t, 10)
	second, _ := storetest.AgentToken(t, c.Store, c.Owner, "second")
	id := string(models.NewID[models.ResponseID]())
	in := models.ResponseInput{ConversationID: c.Conv, Kind: models.KindProposal, Content: "Shall I?", ResponseID: id, Energy: new(int64(9))}
	first := c.Responds(t, in)
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
			in.ConversationID = models.ConversationID(strings.ToUpper(string(c.Conv)))
		},
	} {
		t.Run(name, func(t *testing.T) { storetest.WantUnchanged(t, c.Store, "", same(change)) })
	}
	for name, change := range map[string]func(*models.ResponseInput){
		"another content":      func(in *models.ResponseInput) { in.Content = "Shall I not?" },
		"another kind":         func(in *models.ResponseInput) { in.Kind = models.KindReply },
		"another conversation": func(in *models.ResponseInput) { in.ConversationID = models.NewID[models.ConversationID]() },
	} {
		t.Run(name, func(t *testing.T) {
			if e := storetest.WantUnchanged(t, c.Store, models.CodeKeyConflict, same(change)); e.Approval == nil || e.Approval.ID != first.ID {
				t.Errorf("the conflict lacks the standing row: %+v", e)
			}
		})
	}
	t.Run("by another agent", func(t *testing.T) {
		for _, who := range []models.Actor{second, c.Other} {
			e := storetest.WantUnchanged(t, c.Store, models.CodeIDTaken, func() error { return storetest.Err(c.Respond(t.Context(), who, in)) })
			if e.Approval != nil {
				t.Error("the conflict shows a stranger's row")
			}
		}
	})
	t.Run("after the decision", func(t *testing.T) {
		c.DecidesIn(t, c.Owner, storetest.Approving(""))
		if a := c.Responds(t, in); a.Status() != models.StatusApproved {
			t.Errorf("it is %s", a.Status())
		}
	})
	t.Run("with the budget spent", func(t *testing.T) {
		c.Exhausts(t)
		storetest.WantUnchanged(t, c.Store, "", same(func(*models.ResponseInput) {}))
	})
}

func TestRespondRefuses(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	sibling, _ := storetest.AgentToken(t, c.Store, c.Owner, "sibling")
	reply := func(change func(*models.ResponseInput)) models.ResponseInput {
		in := models.ResponseInput{ConversationID: c.Conv, Kind: models.KindReply, Content: "x"}
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
			e := storetest.WantUnchanged(t, c.Store, tt.code, func() error { return second(c.Respond(t.Context(), tt.who, tt.in)) })
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
	c.Responds(t, in)
	c.Replies(t, "two")
	storetest.WantUnchanged(t, c.Store, models.CodeTooManyRequests, func() error {
		return second(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "three"}))
	})
	c.Responds(t, in) // a repeat is not counted

	full := newTalk(t, func(o *store.Options) { o.PendingPerAgent = 1 })
	full.Proposes(t, "one")
	storetest.WantUnchanged(t, full.Store, models.CodeTooManyPending, func() error {
		return second(full.TriesToRespond(t, models.ResponseInput{Kind: models.KindProposal, Content: "two"}))
	})
}

func TestAnUnknownIDOpensTheAgentsConversation(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	at := storetest.LedgerAt(t, c.Store)
	c.Replies(t, "Hello.")
	owner := string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, at), []string{"conversation.opened " + owner, "response.added " + owner})
	if v := c.View(t); v.AgentID != c.Agent.AgentID() || v.OwnerID != c.Owner.OwnerID || v.Standing || v.BuiltIn || v.Status != models.ConversationRunning {
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
			wantCode(t, second(c.Requests.Conversation(ctx, tt.who, c.Conv)), code)
			wantCode(t, second(c.Requests.History(ctx, tt.who, c.Conv, requests.HistoryQuery{})), code)
			wantCode(t, second(c.AwaitHistory(ctx, tt.who, c.Conv, 0, 1, time.Minute)), code)
			wantCode(t, second(c.EnergyOf(ctx, tt.who, c.Conv, 9)), code)
			wantCode(t, second(c.EnergyBy(ctx, tt.who, c.Conv, 9)), code)
			wantCode(t, second(c.Requests.BudgetSteps(ctx, tt.who, c.Conv, 0, 9)), code)
		})
	}
	wantCode(t, second(c.Requests.Conversation(t.Context(), c.Admin, models.NewID[models.ConversationID]())), models.CodeNotFound)
}
