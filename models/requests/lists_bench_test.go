package requests_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

// BenchmarkLists reads every list where a hundred requests wait and more and more are
// settled, up to BENCH_LISTS, and prints what a page of each takes. A list whose last
// column is far above 1 is not flat. `make bench-lists` runs it.
func BenchmarkLists(b *testing.B) {
	most, err := strconv.Atoi(os.Getenv("BENCH_LISTS"))
	if err != nil {
		b.Skip("make bench-lists")
	}
	var sizes []int
	for n := 10_000; n < most; n *= 10 {
		sizes = append(sizes, n)
	}
	sizes = append(sizes, most)
	took := make([]map[string]time.Duration, len(sizes))
	for i, n := range sizes {
		took[i] = listsOf(b, n)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-32s", "µs a page, of requests")
	for _, n := range sizes {
		fmt.Fprintf(&table, "%12d", n)
	}
	table.WriteString("  last/first\n")
	var names []string
	for name := range took[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&table, "%-32s", name)
		for i := range sizes {
			fmt.Fprintf(&table, "%12.0f", float64(took[i][name].Nanoseconds())/1000)
		}
		fmt.Fprintf(&table, "%12.2f\n", float64(took[len(sizes)-1][name])/float64(took[0][name]))
	}
	fmt.Fprintln(os.Stdout, table.String()) // of a log go test would show ten lines
}

// listsOf are the times that lists take of n settled requests.
func listsOf(b *testing.B, n int) map[string]time.Duration {
	b.Helper()
	ctx := b.Context()
	s := storetest.New(b, storetest.NoLimits)
	defer func() { storetest.Must(b, s.Close()) }()
	admin, owner := storetest.Admin(b, s), storetest.Reviewer(b, s, "ada@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	begin := time.Now()
	storetest.SeedLedger(b, s, agent, owner, n)
	b.Logf("%d requests were made in %s", n, time.Since(begin).Round(time.Second))
	var last *models.Approval
	for i := range 100 {
		var err error
		last, err = s.Ask(ctx, agent, models.AskInput{ToolName: "Bash", Explicit: true, Input: fmt.Appendf(nil, `{"n":%d}`, i)})
		storetest.Must(b, err)
	}
	settled, err := s.Requests.Settled(ctx, admin, requests.SettledQuery{})
	storetest.Must(b, err)
	head, err := s.Ledger.Head(ctx)
	storetest.Must(b, err)

	out := map[string]time.Duration{}
	measure := func(name string, read func(context.Context) error) {
		b.Helper()
		var all []time.Duration
		for range 60 {
			start := time.Now()
			storetest.Must(b, read(ctx))
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		out[name] = all[len(all)/2]
	}
	for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner} {
		measure("inbox, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Inbox(ctx, actor, requests.InboxQuery{}))
		})
		measure("history, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Settled(ctx, actor, requests.SettledQuery{}))
		})
		measure("history, next page, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Settled(ctx, actor, requests.SettledQuery{After: settled.Next}))
		})
		measure("request, "+who, func(ctx context.Context) error { return storetest.Err(s.RequestPage(ctx, actor, last.ID, true)) })
		measure("all requests, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Approvals(ctx, actor, requests.ListQuery{}))
		})
		measure("counts, "+who, func(ctx context.Context) error { return storetest.Err(s.Stats(ctx, actor)) })
		measure("conversations, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Conversations(ctx, actor, requests.ConversationQuery{}))
		})
		measure("trail of ada, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Trail(ctx, actor, requests.TrailQuery{Person: owner.UserID()}))
		})
		measure("stream from 200 back, "+who, func(ctx context.Context) error {
			return storetest.Err(s.Requests.Feed(ctx, actor, head.Seq-200, func(*requests.FeedEvent) error { return nil }))
		})
	}
	measure("all requests, agent", func(ctx context.Context) error {
		return storetest.Err(s.Requests.Approvals(ctx, agent, requests.ListQuery{}))
	})
	measure("history of a conversation", func(ctx context.Context) error {
		return storetest.Err(s.Requests.History(ctx, owner, last.ConversationID, requests.HistoryQuery{Limit: models.DefaultPage}))
	})
	for name, q := range map[string]ledger.Query{
		"all": {}, "a person": {Who: owner.ID}, "an action": {Action: "approval.approved"}, "a conversation": {Conversation: last.ConversationID},
		"far back": {Who: owner.ID, Before: int64(n / 2)}, "since a day": {From: s.Now().AddDate(0, 0, -1)},
	} {
		measure("audit, "+name, func(ctx context.Context) error { return storetest.Err(s.Ledger.Page(ctx, admin, q)) })
	}
	measure("audit, names of actions", func(ctx context.Context) error { return storetest.Err(s.Ledger.Actions(ctx, admin)) })
	byStatus(s, admin, owner, agent, last, measure)
	besideLists(s, admin, owner, agent, last, measure)
	return out
}

// measuring notes what it takes to read something.
type measuring func(name string, read func(context.Context) error)

// byStatus are lists that a filter leaves little of.
func byStatus(s *store.Store, admin, owner, agent models.Actor, last *models.Approval, measure measuring) {
	for _, status := range []models.Status{models.StatusPending, models.StatusApproved, models.StatusRejected, models.StatusExpired, models.StatusCancelled} {
		for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner, "agent": agent} {
			measure("all requests, "+string(status)+", "+who, func(ctx context.Context) error {
				return storetest.Err(s.Requests.Approvals(ctx, actor, requests.ListQuery{Status: status}))
			})
		}
		measure("requests of a conversation, "+string(status), func(ctx context.Context) error {
			return storetest.Err(s.Requests.Approvals(ctx, owner, requests.ListQuery{Status: status, Conversation: last.ConversationID}))
		})
		if status != models.StatusPending {
			measure("history, "+string(status), func(ctx context.Context) error {
				return storetest.Err(s.Requests.Settled(ctx, admin, requests.SettledQuery{Status: status}))
			})
		}
	}
	for name, q := range map[string]requests.SettledQuery{
		"tool": {Tool: "none"}, "agent": {Agent: agent.AgentID()}, "text": {Text: "nowhere"}, "by": {By: admin.UserID()}, "cause": {Cause: models.CauseTimeout},
		"conversation": {Conversation: last.ConversationID}, "risk": {Risk: models.RiskCritical},
	} {
		measure("history, by "+name, func(ctx context.Context) error { return storetest.Err(s.Requests.Settled(ctx, owner, q)) })
	}
	for name, q := range map[string]requests.InboxQuery{
		"tool": {Tool: "none"}, "agent": {Agent: agent.AgentID()}, "text": {Text: "nowhere"}, "conversation": {Conversation: last.ConversationID}, "risk": {Order: requests.ByRisk},
	} {
		measure("inbox, by "+name, func(ctx context.Context) error { return storetest.Err(s.Requests.Inbox(ctx, owner, q)) })
	}
}

// besideLists is what pages read besides their lists.
func besideLists(s *store.Store, admin, owner, agent models.Actor, last *models.Approval, measure measuring) {
	some := []models.AgentID{agent.AgentID()}
	measure("look up", func(ctx context.Context) error { return storetest.Err(s.Requests.LookUp(ctx, owner, "nowhere")) })
	measure("look up, id", func(ctx context.Context) error { return storetest.Err(s.Requests.LookUp(ctx, owner, string(last.ID))) })
	measure("energy of a conversation", func(ctx context.Context) error {
		return storetest.Err(s.EnergyOf(ctx, owner, last.ConversationID, models.BurnPoints))
	})
	measure("energy by tool", func(ctx context.Context) error {
		return storetest.Err(s.EnergyBy(ctx, owner, last.ConversationID, models.SharesRead))
	})
	measure("budget steps", func(ctx context.Context) error {
		return storetest.Err(s.Requests.BudgetSteps(ctx, owner, last.ConversationID, 0, 50))
	})
	measure("conversation", func(ctx context.Context) error {
		return storetest.Err(s.Requests.Conversation(ctx, owner, last.ConversationID))
	})
	measure("pending list, admin", func(ctx context.Context) error { return storetest.Err(s.Requests.PendingList(ctx, admin, "", 50)) })
	measure("pending list, agent", func(ctx context.Context) error { return storetest.Err(s.Requests.PendingList(ctx, agent, "", 50)) })
	measure("function calls", func(ctx context.Context) error {
		return storetest.Err(runs.New(s).PendingCalls(ctx, agent, runs.CallsQuery{Kind: models.KindToolCall, Limit: 50}))
	})
	measure("own conversation", func(ctx context.Context) error { return storetest.Err(runs.New(s).OwnConversation(ctx, agent)) })
	measure("agent figures", func(ctx context.Context) error { return storetest.Err(s.AgentFigures(ctx, admin, some)) })
	measure("of an agent", func(ctx context.Context) error { return storetest.Err(s.Requests.OfAgent(ctx, admin, agent.AgentID())) })
	measure("sending", func(ctx context.Context) error { return storetest.Err(s.Sending(ctx, owner)) })
	measure("rights", func(ctx context.Context) error { return storetest.Err(s.Rights(ctx, owner, last)) })
	measure("twins", func(ctx context.Context) error { return storetest.Err(s.Requests.Twins(ctx, owner, last)) })
	measure("origins", func(ctx context.Context) error { return storetest.Err(s.Requests.Origins(ctx, owner, last.ID)) })
	measure("grant reach", func(ctx context.Context) error { return storetest.Err(s.GrantReach(ctx, owner, last.ID, nil)) })
	measure("grants", func(ctx context.Context) error { return storetest.Err(s.Grants(ctx, owner, "", 50)) })
	measure("call of", func(ctx context.Context) error { return storetest.Err(s.CallOf(ctx, last)) })
	measure("next deadline", func(ctx context.Context) error { _, _, err := s.NextDeadline(ctx); return err })
	measure("next escalation", func(ctx context.Context) error { _, _, err := s.NextEscalation(ctx); return err })
	measure("family", func(ctx context.Context) error {
		_, _, err := s.Requests.Family(ctx, owner, last.ConversationID)
		return err
	})
	measure("agents", func(ctx context.Context) error { return storetest.Err(s.People.Agents(ctx, owner)) })
	measure("agents to choose", func(ctx context.Context) error { return storetest.Err(s.People.AgentsToChoose(ctx, admin)) })
	measure("people", func(ctx context.Context) error { return storetest.Err(s.People.List(ctx, admin, "", 50)) })
}
