package runs_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

// turnOf is what a coding agent reports of about twenty turns: a hundred events.
func turnOf(request int) []models.RunEvent {
	var out []models.RunEvent
	for turn := range 20 {
		id := fmt.Sprintf("msg_%d_%d", request, turn)
		out = append(out, storetest.Said(id+"/0", "I will look at the next file and run its tests.", id))
		for n := range 2 {
			use := fmt.Sprintf("toolu_%s_%d", id, n)
			e := storetest.Queued(use, "Bash", fmt.Sprintf(`{"command":"go test -run %s ./...","description":"Run the tests of the package"}`, use), id)
			e.ID = fmt.Sprintf("%s/%d", id, n+1)
			out = append(out, e)
		}
		for n := range 2 {
			use := fmt.Sprintf("toolu_%s_%d", id, n)
			e := storetest.Gave(use, strings.Repeat("x", 200))
			e.ID = "r" + use
			out = append(out, e)
		}
	}
	return out
}

// BenchmarkReportEvents is how fast runs are taken in, each request of a hundred
// events on the disk before it is answered.
func BenchmarkReportEvents(b *testing.B) {
	for _, callers := range []int{1, 8} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s := storetest.New(b, storetest.NoLimits, func(o *store.Options) { o.ReportsPerHour = -1 })
			owner := storetest.Admin(b, s)
			agent, _ := storetest.AgentToken(b, s, owner, "bench")
			work := make(chan int, b.N)
			for i := range b.N {
				work <- i
			}
			close(work)
			done := make(chan error, callers)
			b.ReportAllocs()
			b.ResetTimer()
			for n := range callers {
				go func() { done <- reportAll(b.Context(), s, agent, fmt.Sprint(n), work) }()
			}
			for range callers {
				if err := <-done; err != nil {
					b.Error(err)
				}
			}
			b.ReportMetric(float64(b.N*100)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func reportAll(ctx context.Context, s *store.Store, agent models.Actor, run string, work <-chan int) error {
	conv, _, err := runs.New(s).OpenRun(ctx, agent, models.RunInput{RunID: run})
	if err != nil {
		return err
	}
	for i := range work {
		out, err := runs.New(s).ReportEvents(ctx, agent, conv.ID, turnOf(i))
		if err != nil {
			return err
		}
		for _, e := range out {
			if e.Status != models.RunEventStored {
				return fmt.Errorf("%+v", e)
			}
		}
	}
	return nil
}

// BenchmarkCorrelate is one approval from outside that finds its call among many
// open ones of the same tool, and is stored as pending: by its input, which is that
// of a late one, or by the order. It costs the same among however many.
func BenchmarkCorrelate(b *testing.B) {
	for _, calls := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			s := storetest.New(b, storetest.NoLimits)
			owner := storetest.Admin(b, s)
			agent, _ := storetest.AgentToken(b, s, owner, "bench")
			conv, _, err := runs.New(s).OpenRun(b.Context(), agent, models.RunInput{RunID: "run"})
			if err != nil {
				b.Fatal(err)
			}
			seedCalls(b, s, conv, calls)
			up, err := outside.New(s).AddUpstream(b.Context(), owner, outside.NewUpstream{Name: "up", BaseURL: "https://up.example.com", Dialect: "plain", Key: "k", OwnerID: owner.OwnerID})
			if err != nil {
				b.Fatal(err)
			}
			lease, err := s.Nodes.TakeLease(b.Context(), "poll", "h", 1000*time.Hour)
			if err != nil {
				b.Fatal(err)
			}
			for _, by := range []models.MatchedBy{models.MatchedByOrder, models.MatchedByInput} {
				argument := func(i int) int {
					if by == models.MatchedByOrder {
						return 0 // which no call has
					}
					return calls - i
				}
				var n atomic.Int64
				b.Run("by="+string(by), func(b *testing.B) {
					b.SetParallelism(32) // which share the commits: their fsync is not what is measured
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							i := n.Add(1)
							item := models.OutsideItem{
								Kind: models.OutsideCallKind, CallID: fmt.Sprintf("%s-%d", by, i), RunID: "run", Name: "Bash", Arguments: fmt.Appendf(nil, `{"n":%d}`, argument(int(i))), Raw: []byte(`{}`),
							}
							if err := outside.New(s).Take(b.Context(), lease, up.ID, item); err != nil {
								b.Error(err)
							}
						}
					})
				})
				matched := int64(0)
				if err := benchFile(b, s).QueryRowContext(b.Context(), `SELECT count(*) FROM responses WHERE matched_by = ?`, by).Scan(&matched); err != nil || matched != n.Load() {
					b.Errorf("%d of %d were matched by %s, %v", matched, n.Load(), by, err)
				}
			}
		})
	}
}

func benchFile(tb testing.TB, s *store.Store) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite3", "file:"+s.Path()+"?_busy_timeout=60000&_synchronous=OFF")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

// realCalls is how many of the calls that are seeded have the digest of their
// input, {"n":I}: the last ones.
const realCalls = 9_000

// seedCalls stores open calls as reporting them would have: a million takes
// seconds.
func seedCalls(b *testing.B, s *store.Store, conv *models.Conversation, calls int) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	db := benchFile(b, s)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			b.Fatalf("seed: %v\n%s", err, query)
		}
	}
	const insert = `INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, tool_use_id, batch_id,
 digest, risk, tool_name, tool_input_json, reported_at) `
	const values = `printf('00000000-0000-7000-8000-%012x', i), ?1, i, ?2, ?3, 'tool_call', ?4, printf('toolu_%d', i), 'b', `
	const rest = `, 'medium', 'Bash', printf('{"n":%d}', i), ?4`
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	exec(insert+`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?5) SELECT `+values+`printf('%064x', i)`+rest+` FROM n`,
		conv.ID, conv.OwnerID, conv.AgentID, at, calls-realCalls)
	for i := calls - realCalls + 1; i <= calls; i++ {
		canonical, err := models.Canonical(models.KindToolCall, "Bash", fmt.Appendf(nil, `{"n":%d}`, i))
		if err != nil {
			b.Fatal(err)
		}
		exec(insert+`WITH n (i) AS (SELECT ?5) SELECT `+values+`?6`+rest+` FROM n`, conv.ID, conv.OwnerID, conv.AgentID, at, i, models.Digest(canonical))
	}
	exec(`UPDATE conversations SET next_sequence = ? WHERE id = ?`, calls+1, conv.ID)
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		b.Fatal(err)
	}
}
