//go:build postgres

package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/db/postgres"
	"countersign/models/insights"
	"countersign/models/storetest"
)

// growing are the tables that have many rows in this test, as they have after a while.
var growing = []string{"responses", "votes", "ledger", "ledger_keys"}

// step is a node of PostgreSQL's EXPLAIN.
type step struct {
	Type      string  `json:"Node Type"`
	Table     string  `json:"Relation Name"`
	Alias     string  `json:"Alias"`
	Index     string  `json:"Index Name"`
	Condition string  `json:"Index Cond"`
	Plans     []*step `json:"Plans"`
}

// What the store has prepared, and what its lists have read by the end of this test, is planned without arguments and as if
// scans cost a fortune: what scans all the same has no index that serves it. A LIMIT that is not known counts as a tenth of
// the table, by which two tables would be merged: that is out of the question too.
func TestEachStatementIsServedByAnIndex(t *testing.T) {
	s := storetest.New(t, storetest.NoLimits)
	admin, owner := storetest.Admin(t, s), storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	storetest.SeedLedger(t, s, agent, owner, 20_000)
	last, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true, Input: []byte(`{}`)})
	storetest.Must(t, err)
	storetest.EachList(t, s, admin, owner, agent, last, func(name string, read func(context.Context) error) {
		if err := read(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	for range 3 {
		storetest.Must(t, storetest.Err(s.Insights.SumNext(t.Context(), time.UTC)))
	}
	now := s.Now()
	storetest.Must(t, storetest.Err(s.Insights.Report(t.Context(), admin, insights.Query{From: now.AddDate(-1, 0, 0), To: now, Zone: time.UTC})))
	pool, err := postgres.OpenPlain(t.Context(), dbtest.URL(t, filepath.Dir(s.Path())))
	storetest.Must(t, err)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	partial := map[string]bool{}
	for _, name := range parts(t, pool, `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indpred IS NOT NULL`) {
		partial[name] = true
	}
	for _, text := range []string{`SET plan_cache_mode = force_generic_plan`, `SET enable_seqscan = off`, `SET enable_hashjoin = off`, `SET enable_mergejoin = off`} {
		_, err := pool.ExecContext(t.Context(), text)
		storetest.Must(t, err)
	}
	planned := 0
	for i, statement := range postgres.Known() {
		if !planable.MatchString(statement.Text) || statement.Text == "DELETE FROM ledger_keys" { // that is storetest's
			continue
		}
		planned++
		for _, bad := range planOf(t, pool, fmt.Sprintf("asked_%d", i), statement).unserved(partial, false) {
			t.Errorf("%s\n%s\n", bad, statement.Text)
		}
	}
	planted := postgres.Statement{Text: `SELECT p.id FROM votes v JOIN responses p ON p.number IN (SELECT o.number FROM responses o WHERE o.digest = v.digest LIMIT 1)`}
	if found := planOf(t, pool, "planted", planted).unserved(partial, false); !slices.ContainsFunc(found, func(bad string) bool { return strings.Contains(bad, " p ") }) {
		t.Errorf("of a query that scans: %q", found)
	}
	if planned < 250 {
		t.Errorf("only %d statements were planned", planned)
	}
}

var planable = regexp.MustCompile(`^(SELECT|WITH|UPDATE|DELETE|INSERT)\b`)

func planOf(t *testing.T, pool *sql.DB, name string, s postgres.Statement) *step {
	t.Helper()
	asked := name
	if n := len(s.Places); n > 0 {
		asked += "(" + strings.Join(slices.Repeat([]string{"NULL"}, n), ", ") + ")"
	}
	if _, err := pool.ExecContext(t.Context(), `PREPARE `+name+` AS `+s.Text); err != nil {
		t.Errorf("%s: %v", s.Text, err)
		return &step{}
	}
	var raw string
	storetest.Must(t, pool.QueryRowContext(t.Context(), `EXPLAIN (FORMAT JSON) EXECUTE `+asked).Scan(&raw))
	var plans []struct{ Plan *step }
	storetest.Must(t, json.Unmarshal([]byte(raw), &plans))
	return plans[0].Plan
}

// unserved are the readings of growing tables that nothing bounds.
func (s *step) unserved(partial map[string]bool, limited bool) (all []string) {
	if slices.Contains(growing, s.Table) && s.Condition == "" {
		switch {
		case s.Type == "Seq Scan", strings.HasPrefix(s.Type, "Index") && !partial[s.Index] && !limited:
			all = append(all, s.Type+" of "+s.Table+" "+s.Alias+" "+s.Index)
		}
	}
	for _, p := range s.Plans {
		all = append(all, p.unserved(partial, s.Type == "Limit" || limited && s.Type != "Sort" && s.Type != "Aggregate")...)
	}
	return all
}
