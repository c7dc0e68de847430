package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// BenchmarkRespond stores responses that are paid for from a budget, each on the
// disk before its caller hears of it.
func BenchmarkRespond(b *testing.B) {
	for _, writers := range []int{1, 64} {
		for _, many := range []bool{false, true} {
			name := fmt.Sprintf("writers=%d/conversations=%d", writers, map[bool]int{false: 1, true: writers}[many])
			if many && writers == 1 {
				continue
			}
			b.Run(name, func(b *testing.B) {
				s := storetest.New(b, storetest.NoLimits)
				owner := storetest.Admin(b, s)
				agent, _ := storetest.AgentToken(b, s, owner, "bench")
				convs := make([]models.ConversationID, writers)
				for i := range convs {
					if convs[i] = convs[0]; many || i == 0 {
						convs[i] = models.NewID[models.ConversationID]()
						begin(b, s, owner, agent, convs[i])
					}
				}
				content := string(make200('x'))
				work := make(chan struct{}, b.N)
				for range b.N {
					work <- struct{}{}
				}
				close(work)
				var wg sync.WaitGroup
				b.ReportAllocs()
				b.ResetTimer()
				for i := range writers {
					wg.Go(func() {
						for range work {
							in := models.ResponseInput{ConversationID: convs[i], ResponseID: string(models.NewID[models.ResponseID]()), Kind: models.KindReply, Content: content}
							if _, err := s.Respond(b.Context(), agent, in); err != nil {
								b.Errorf("respond: %v", err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "responses/s")
			})
		}
	}
}

func begin(tb testing.TB, s *store.Store, owner, agent models.Actor, conv models.ConversationID) {
	tb.Helper()
	if _, err := s.Respond(tb.Context(), agent, models.ResponseInput{ConversationID: conv, Kind: models.KindReply, Content: "x"}); err != nil {
		tb.Fatal(err)
	}
	if _, err := s.ChangeBudget(tb.Context(), owner, conv, models.BudgetChange{Set: new(int64(models.MaxBudget))}, ""); err != nil {
		tb.Fatal(err)
	}
}

// long is a conversation of n entries: replies, messages and changes of its
// budget.
func long(tb testing.TB, s *store.Store, n int) (agent models.Actor, conv models.ConversationID) {
	tb.Helper()
	owner := storetest.Admin(tb, s)
	agent, _ = storetest.AgentToken(tb, s, owner, "bench")
	conv = models.NewID[models.ConversationID]()
	begin(tb, s, owner, agent, conv)
	db := dbtest.Beside(tb, s.Path())
	tx, err := db.BeginTx(context.WithoutCancel(tb.Context()), nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer tx.Rollback()
	const at, upTo = `'2026-01-01 00:00:00+00:00'`, ` FROM (WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT i FROM n) WHERE `
	for _, query := range []string{
		`INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, energy, content)
 SELECT '00000000-0000-7000-8000-' || substr('000000000000' || i, -12), ?1, i, (SELECT owner_id FROM conversations), (SELECT agent_id FROM conversations), 'reply', ` + at + `, 'd', 'low', 1, ?3` + upTo + `i % 3 <> 0`,
		`INSERT INTO messages (id, conversation_id, sequence, author_kind, author_id, author_name, content, created_at)
 SELECT 'm' || i, ?1, i, 'user', 'u', 'U', ?3, ` + at + upTo + `i % 30 <> 0 AND i % 3 = 0`,
		`INSERT INTO budget_steps (conversation_id, sequence, at, actor_kind, actor_id, actor_name, old, new)
 SELECT ?1, i, ` + at + `, 'user', 'u', 'U', i, i + 1` + upTo + `i % 30 = 0`,
		`UPDATE conversations SET next_sequence = ?2 + 1, energy_used = (SELECT sum(energy) FROM responses WHERE conversation_id = ?1) WHERE id = ?1`,
	} {
		if _, err := tx.ExecContext(tb.Context(), query, conv, n, strings.Repeat("x", 500)); err != nil {
			tb.Fatalf("%s: %v", query, err)
		}
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	return agent, conv
}

const longHistory = 10_000

// BenchmarkHistory opens a history of 10,000 entries at its end, and in its
// middle.
func BenchmarkHistory(b *testing.B) {
	s := storetest.New(b)
	agent, conv := long(b, s, longHistory)
	for name, q := range map[string]requests.HistoryQuery{"end": {}, "middle": {Before: longHistory / 2}, "on": {After: longHistory / 2}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h, err := s.Requests.History(b.Context(), agent, conv, q)
				if err != nil || len(h.Entries) != models.DefaultPage {
					b.Fatalf("%+v, %v", h, err)
				}
			}
		})
	}
	b.Run("energy", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.EnergyOf(b.Context(), agent, conv, 200); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestALongHistoryOpensAtItsEnd and pages by key to its beginning; how long that
// takes is BenchmarkHistory's.
func TestALongHistoryOpensAtItsEnd(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	agent, conv := long(t, s, longHistory)
	h, err := s.Requests.History(t.Context(), agent, conv, requests.HistoryQuery{})
	if err != nil || h.After != longHistory || len(h.Entries) != models.DefaultPage {
		t.Fatalf("%+v, %v", h, err)
	}
	seen := 0
	for q := (requests.HistoryQuery{Limit: models.MaxPage}); ; {
		h, err := s.Requests.History(t.Context(), agent, conv, q)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(h.Entries)
		if q.Before = h.Before; q.Before == 0 {
			break
		}
	}
	if seen != longHistory {
		t.Errorf("%d entries on all pages", seen)
	}
}
