package requests_test

import (
	"slices"
	"testing"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// However few requests are of a status, a page of them looks at a bounded number of rows: it
// may have none, and the next goes on. Together the pages have them all, once and in order.
func TestAListByStatusLooksAtFewRowsAPage(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.NoLimits)
	admin, owner := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	var want []models.ResponseID // newest first
	var conv models.ConversationID
	rejected := func(n int) {
		for range n {
			a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true, Input: []byte(`{"a":1}`)})
			storetest.Must(t, err)
			a, err = s.Decide(t.Context(), owner, a.ID, models.DecisionInput{Approved: new(false), Digest: a.Digest, Page: models.NoPage, Reason: "No."})
			storetest.Must(t, err)
			want, conv = slices.Insert(want, 0, a.ID), a.ConversationID
		}
	}
	rejected(3)
	storetest.Seed(t, s, agent, storetest.Rows{Settled: 9_000})
	rejected(2)
	for name, c := range map[string]struct {
		actor models.Actor
		query requests.ListQuery
		pages int
	}{
		"an admin's":          {admin, requests.ListQuery{}, 3},
		"an owner's":          {owner, requests.ListQuery{}, 3},
		"an agent's":          {agent, requests.ListQuery{}, 3},
		"a conversation's":    {owner, requests.ListQuery{Conversation: conv}, 3},
		"one a page":          {agent, requests.ListQuery{Limit: 1}, 6},
		"few bytes a page":    {owner, requests.ListQuery{MaxBytes: 1}, 6},
		"none in all of them": {owner, requests.ListQuery{Status: models.StatusCancelled}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			q, want := c.query, want
			if q.Status == models.StatusNone {
				q.Status = models.StatusRejected
			} else {
				want = nil
			}
			var got []models.ResponseID
			pages := 0
			for {
				page, err := s.Requests.Approvals(t.Context(), c.actor, q)
				storetest.Must(t, err)
				for _, a := range page.Items {
					got = append(got, a.ID)
				}
				if pages++; page.Next == "" {
					break
				}
				q.Cursor = page.Next
			}
			if !slices.Equal(got, want) || pages != c.pages {
				t.Errorf("%v on %d pages, want %v on %d", got, pages, want, c.pages)
			}
		})
	}
}

// What waits is found through its own index, however much has come since.
func TestAListOfWhatWaitsReadsOnlyThat(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.NoLimits)
	admin, owner := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true})
	storetest.Must(t, err)
	storetest.Seed(t, s, agent, storetest.Rows{Settled: 5_000})
	b, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true, ToolUseID: "2"})
	storetest.Must(t, err)
	for _, actor := range []models.Actor{admin, owner, agent} {
		for _, conv := range []models.ConversationID{"", a.ConversationID} {
			q := requests.ListQuery{Status: models.StatusPending, Conversation: conv, Limit: 1}
			var got []models.ResponseID
			for {
				page, err := s.Requests.Approvals(t.Context(), actor, q)
				storetest.Must(t, err)
				for _, a := range page.Items {
					got = append(got, a.ID)
				}
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			if len(got) < 2 || got[0] != b.ID || got[len(got)-1] != a.ID {
				t.Errorf("%s, %q: %v, want %v first and %v last", actor.Kind, conv, got, b.ID, a.ID)
			}
		}
	}
}
