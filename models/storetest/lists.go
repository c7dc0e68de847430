package storetest

import (
	"context"
	"testing"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
)

// Reading takes the name of a list, and what reads a page of it.
type Reading func(name string, read func(context.Context) error)

// EachList names every list that people and agents read, and what pages read besides. last is a pending request.
func EachList(tb testing.TB, s *store.Store, admin, owner, agent models.Actor, last *models.Approval, measure Reading) {
	tb.Helper()
	ctx := tb.Context()
	settled, err := s.Requests.Settled(ctx, admin, requests.SettledQuery{})
	Must(tb, err)
	head, err := s.Ledger.Head(ctx)
	Must(tb, err)
	for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner} {
		measure("inbox, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Inbox(ctx, actor, requests.InboxQuery{}))
		})
		measure("history, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Settled(ctx, actor, requests.SettledQuery{}))
		})
		measure("history, next page, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Settled(ctx, actor, requests.SettledQuery{After: settled.Next}))
		})
		measure("request, "+who, func(ctx context.Context) error { return Err(s.RequestPage(ctx, actor, last.ID, true)) })
		measure("all requests, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Approvals(ctx, actor, requests.ListQuery{}))
		})
		measure("counts, "+who, func(ctx context.Context) error { return Err(s.Stats(ctx, actor)) })
		measure("conversations, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Conversations(ctx, actor, requests.ConversationQuery{}))
		})
		measure("trail of ada, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Trail(ctx, actor, requests.TrailQuery{Person: owner.UserID()}))
		})
		measure("stream from 200 back, "+who, func(ctx context.Context) error {
			return Err(s.Requests.Feed(ctx, actor, head.Seq-200, func(*requests.FeedEvent) error { return nil }))
		})
	}
	measure("all requests, agent", func(ctx context.Context) error {
		return Err(s.Requests.Approvals(ctx, agent, requests.ListQuery{}))
	})
	measure("history of a conversation", func(ctx context.Context) error {
		return Err(s.Requests.History(ctx, owner, last.ConversationID, requests.HistoryQuery{Limit: models.DefaultPage}))
	})
	for name, q := range map[string]ledger.Query{
		"all": {}, "a person": {Who: owner.ID}, "an action": {Action: "approval.approved"}, "a conversation": {Conversation: last.ConversationID},
		"far back": {Who: owner.ID, Before: head.Seq / 4}, "since a day": {From: s.Now().AddDate(0, 0, -1)},
	} {
		measure("audit, "+name, func(ctx context.Context) error { return Err(s.Ledger.Page(ctx, admin, q)) })
	}
	measure("audit, names of actions", func(ctx context.Context) error { return Err(s.Ledger.Actions(ctx, admin)) })
	byStatus(s, admin, owner, agent, last, measure)
	besideLists(s, admin, owner, agent, last, measure)
}

// byStatus are lists that a filter leaves little of.
func byStatus(s *store.Store, admin, owner, agent models.Actor, last *models.Approval, measure Reading) {
	for _, status := range []models.Status{models.StatusPending, models.StatusApproved, models.StatusRejected, models.StatusExpired, models.StatusCancelled} {
		for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner, "agent": agent} {
			measure("all requests, "+string(status)+", "+who, func(ctx context.Context) error {
				return Err(s.Requests.Approvals(ctx, actor, requests.ListQuery{Status: status}))
			})
		}
		measure("requests of a conversation, "+string(status), func(ctx context.Context) error {
			return Err(s.Requests.Approvals(ctx, owner, requests.ListQuery{Status: status, Conversation: last.ConversationID}))
		})
		if status != models.StatusPending {
			measure("history, "+string(status), func(ctx context.Context) error {
				return Err(s.Requests.Settled(ctx, admin, requests.SettledQuery{Status: status}))
			})
		}
	}
	for name, q := range map[string]requests.SettledQuery{
		"tool": {Tool: "none"}, "agent": {Agent: agent.AgentID()}, "text": {Text: "nowhere"}, "by": {By: admin.UserID()}, "cause": {Cause: models.CauseTimeout},
		"conversation": {Conversation: last.ConversationID}, "risk": {Risk: models.RiskCritical},
	} {
		measure("history, by "+name, func(ctx context.Context) error { return Err(s.Requests.Settled(ctx, owner, q)) })
	}
	for name, q := range map[string]requests.InboxQuery{
		"tool": {Tool: "none"}, "agent": {Agent: agent.AgentID()}, "text": {Text: "nowhere"}, "conversation": {Conversation: last.ConversationID}, "risk": {Order: requests.ByRisk},
	} {
		measure("inbox, by "+name, func(ctx context.Context) error { return Err(s.Requests.Inbox(ctx, owner, q)) })
	}
}

// besideLists is what pages read besides their lists.
func besideLists(s *store.Store, admin, owner, agent models.Actor, last *models.Approval, measure Reading) {
	some := []models.AgentID{agent.AgentID()}
	measure("look up", func(ctx context.Context) error { return Err(s.Requests.LookUp(ctx, owner, "nowhere")) })
	measure("look up, id", func(ctx context.Context) error { return Err(s.Requests.LookUp(ctx, owner, string(last.ID))) })
	measure("energy of a conversation", func(ctx context.Context) error {
		return Err(s.EnergyOf(ctx, owner, last.ConversationID, models.BurnPoints))
	})
	measure("energy by tool", func(ctx context.Context) error {
		return Err(s.EnergyBy(ctx, owner, last.ConversationID, models.SharesRead))
	})
	measure("budget steps", func(ctx context.Context) error {
		return Err(s.Requests.BudgetSteps(ctx, owner, last.ConversationID, 0, 50))
	})
	measure("conversation", func(ctx context.Context) error {
		return Err(s.Requests.Conversation(ctx, owner, last.ConversationID))
	})
	measure("pending list, admin", func(ctx context.Context) error { return Err(s.Requests.PendingList(ctx, admin, "", 50)) })
	measure("pending list, agent", func(ctx context.Context) error { return Err(s.Requests.PendingList(ctx, agent, "", 50)) })
	measure("function calls", func(ctx context.Context) error {
		return Err(runs.New(s).PendingCalls(ctx, agent, runs.CallsQuery{Kind: models.KindToolCall, Limit: 50}))
	})
	measure("own conversation", func(ctx context.Context) error { return Err(runs.New(s).OwnConversation(ctx, agent)) })
	measure("agent figures", func(ctx context.Context) error { return Err(s.AgentFigures(ctx, admin, some)) })
	measure("of an agent", func(ctx context.Context) error { return Err(s.Requests.OfAgent(ctx, admin, agent.AgentID())) })
	measure("sending", func(ctx context.Context) error { return Err(s.Sending(ctx, owner)) })
	measure("rights", func(ctx context.Context) error { return Err(s.Rights(ctx, owner, last)) })
	measure("twins", func(ctx context.Context) error { return Err(s.Requests.Twins(ctx, owner, last)) })
	measure("origins", func(ctx context.Context) error { return Err(s.Requests.Origins(ctx, owner, last.ID)) })
	measure("grant reach", func(ctx context.Context) error { return Err(s.GrantReach(ctx, owner, last.ID, nil)) })
	measure("grants", func(ctx context.Context) error { return Err(s.Grants(ctx, owner, "", 50)) })
	measure("call of", func(ctx context.Context) error { return Err(s.CallOf(ctx, last)) })
	measure("next deadline", func(ctx context.Context) error { _, _, err := s.NextDeadline(ctx); return err })
	measure("next escalation", func(ctx context.Context) error { _, _, err := s.NextEscalation(ctx); return err })
	measure("family", func(ctx context.Context) error {
		_, _, err := s.Requests.Family(ctx, owner, last.ConversationID)
		return err
	})
	measure("agents", func(ctx context.Context) error { return Err(s.People.Agents(ctx, owner)) })
	measure("agents to choose", func(ctx context.Context) error { return Err(s.People.AgentsToChoose(ctx, admin)) })
	measure("people", func(ctx context.Context) error { return Err(s.People.List(ctx, admin, "", 50)) })
}
