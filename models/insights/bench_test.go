package insights_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"countersign/models/db/dbtest"
	"countersign/models/insights"
	"countersign/models/storetest"
)

// BenchmarkReport reads reports over a year with BENCH_LISTS requests of 20 agents, 40 tools, 10 rules and 12 people, and
// with as many on its last day as ten times so many requests would have. `make bench-lists` runs it.
func BenchmarkReport(b *testing.B) {
	most, err := strconv.Atoi(os.Getenv("BENCH_LISTS"))
	if err != nil {
		b.Skip("make bench-lists")
	}
	dbtest.OnlySQLite(b, "it spreads the rows in SQLite's words")
	w := storetest.NewBench(b)
	storetest.Seed(b, w.Store, w.Agent, storetest.Rows{Settled: most})
	for i := range 20 {
		storetest.AgentToken(b, w.Store, w.Owner, fmt.Sprintf("agent-%02d", i))
	}
	for i := range 10 {
		storetest.Reviewer(b, w.Store, fmt.Sprintf("person-%d@example.com", i))
	}
	w.Clock.Step(365*24*time.Hour + 50*time.Minute)
	today := w.Store.Now().Truncate(24 * time.Hour)
	begin := time.Now()
	spread(b, w, most, today)
	b.Logf("seeded in %s", time.Since(begin))
	begin = time.Now()
	for done := true; done; {
		done, err = w.Insights.SumNext(b.Context(), time.UTC)
		storetest.Must(b, err)
	}
	b.Logf("summed in %s: %d rows, %d bytes", time.Since(begin), storetest.Scalar[int](b, w.Store, `SELECT count(*) FROM insights`), storetest.Scalar[int](b, w.Store, `SELECT sum(length(figures)) FROM insights`))
	for name, q := range map[string]insights.Query{
		"year": {From: today.AddDate(-1, 0, 5), To: today}, "year-of-a-tool": {From: today.AddDate(-1, 0, 5), To: today, Tool: "tool-7", Offer: true},
		"month": {From: today.AddDate(0, 0, -29), To: today}, "day": {From: today, To: today},
	} {
		b.Run(name, func(b *testing.B) {
			q.Zone = time.UTC
			for b.Loop() {
				r, err := w.Insights.Report(b.Context(), w.Admin, q)
				storetest.Must(b, err)
				r.Total.Cut()
				storetest.Must(b, storetest.Err(w.Insights.Names(b.Context(), &r.Total)))
			}
		})
	}
}

// spread has the seeded requests be of a year, of several agents, tools, rules and people.
func spread(b *testing.B, w *storetest.Bench, most int, today time.Time) {
	b.Helper()
	pool := dbtest.Beside(b, w.Store.Path())
	dbtest.NoRules(b, pool)
	busy := most * 10 / 365
	exec := func(query string, args ...any) {
		b.Helper()
		_, err := pool.ExecContext(b.Context(), query, args...)
		storetest.Must(b, err)
	}
	exec(`CREATE TEMP TABLE asker AS SELECT row_number() OVER () - 1 AS i, id FROM agents WHERE name LIKE 'agent-%'`)
	exec(`CREATE TEMP TABLE decider AS SELECT row_number() OVER () - 1 AS i, id FROM users`)
	// The later half of the numbers is of the last day, as far as that is full.
	exec(`UPDATE responses SET created_at = strftime('%Y-%m-%d %H:%M:%S', ?1, (CASE WHEN number > ?2 - ?3 THEN (number - ?2 + ?3) * 46000.0 / ?3 ELSE number * 364.0 * 86400 / (?2 - ?3) - 364 * 86400 END) || ' seconds') || '+00:00',
 tool_name = 'tool-' || (number * 7919 % 40), policy_rule = 'rule ' || (number * 31 % 10), agent_id = (SELECT id FROM asker WHERE i = number * 17 % 20),
 approval_status = CASE number % 10 WHEN 0 THEN 'rejected' ELSE 'approved' END, cause = CASE number % 3 WHEN 0 THEN 'policy' ELSE 'reviewer' END,
 approval_feedback = CASE number % 10 WHEN 0 THEN 'reason ' || (number % 700) END,
 decided_by = (SELECT id FROM decider WHERE i = number % 12) WHERE approval_status = 'approved'`, today.Format(time.DateTime), most, busy)
	exec(`UPDATE responses SET approval_requested_at = created_at, approval_timestamp = strftime('%Y-%m-%d %H:%M:%S', created_at, (number % 3600) || ' seconds') || '+00:00' WHERE approval_timestamp IS NOT NULL`)
	exec(`ANALYZE`)
}
