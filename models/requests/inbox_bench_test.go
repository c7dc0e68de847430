package requests_test

import (
	"fmt"
	"testing"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// crowded is a store with 100,000 requests that wait and a million that are
// settled, all of one reviewer's agent.
func crowded(b *testing.B) (s *store.Store, admin, owner models.Actor) {
	b.Helper()
	s = storetest.New(b, storetest.NoLimits)
	admin, owner = storetest.Admin(b, s), storetest.Reviewer(b, s, "ada@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	storetest.Seed(b, s, agent, storetest.Rows{Pending: 100_000, Settled: 1_000_000})
	return s, admin, owner
}

// BenchmarkDesk reads a page of the inbox and of the history, and what stands
// around a request, where 100,000 wait and a million are settled.
func BenchmarkDesk(b *testing.B) {
	s, admin, owner := crowded(b)
	for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner} {
		first, err := s.Requests.Inbox(b.Context(), actor, requests.InboxQuery{})
		if err != nil {
			b.Fatal(err)
		}
		for name, q := range map[string]requests.InboxQuery{
			"deadline": {}, "age": {Order: requests.ByAge}, "risk": {Order: requests.ByRisk}, "mine": {Whose: requests.WhoseMine}, "next": {After: first.Next},
			"tool": {Tool: "Bash"}, "rare": {Tool: "rare"}, "rare text": {Text: "nowhere"}, "agent": {Agent: first.Items[0].AgentID},
		} {
			b.Run("inbox/"+who+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Requests.Inbox(b.Context(), actor, q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		settled, err := s.Requests.Settled(b.Context(), actor, requests.SettledQuery{})
		if err != nil {
			b.Fatal(err)
		}
		for name, q := range map[string]requests.SettledQuery{
			"newest": {}, "next": {After: settled.Next}, "mine": {Whose: requests.WhoseMine}, "by": {By: "x"}, "tool": {Tool: "rare"},
			"text": {Text: "nowhere"}, "agent": {Agent: first.Items[0].AgentID}, "conversation": {Conversation: first.Items[0].ConversationID},
		} {
			b.Run("history/"+who+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Requests.Settled(b.Context(), actor, q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		// The first that waits is of a tool of its own; the second has a million before it.
		b.Run("page/"+who, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.RequestPage(b.Context(), actor, first.Items[1].ID, true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkInboxBesideAFlood reads the inbox while an agent has 10,000 requests in it, which are compared with each other
// and stepped over.
func BenchmarkInboxBesideAFlood(b *testing.B) {
	s := storetest.New(b, storetest.NoLimits)
	admin, owner := storetest.Admin(b, s), storetest.Reviewer(b, s, "ada@example.com")
	agent, _ := storetest.AgentToken(b, s, owner, "bot")
	quiet, _ := storetest.AgentToken(b, s, owner, "quiet")
	storetest.Seed(b, s, agent, storetest.Rows{Pending: 9_990})
	for n := range models.FloodAlike + 1 {
		who := agent
		if n == models.FloodAlike {
			who = quiet
		}
		_, err := s.Ask(b.Context(), who, models.AskInput{ToolName: "Bash", Input: fmt.Appendf(nil, `{"command":"make %d"}`, n), Explicit: true})
		storetest.Must(b, err)
	}
	for name, actor := range map[string]models.Actor{"admin": admin, "reviewer": owner} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page, err := s.Requests.Inbox(b.Context(), actor, requests.InboxQuery{Aside: true})
				if storetest.Must(b, err); len(page.Aside.Floods) != 1 || len(page.Items) == 0 {
					b.Fatalf("%+v, %d in the list", page.Aside, len(page.Items))
				}
			}
		})
	}
}
