package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/upkeep"
)

// Bench is a store with an admin, a plain reviewer and the reviewer's agent.
type Bench struct {
	*store.Store
	*runs.Runs

	Clock                  *Clock
	Admin, Owner, Stranger models.Actor
	Agent, Other           models.Actor
}

// NewBench is one on a fresh database, whose rows are compared with the ledger at the end.
func NewBench(tb testing.TB, opts ...Option) *Bench {
	tb.Helper()
	clock := NewClock()
	s := New(tb, append([]Option{WithClock(clock)}, opts...)...)
	b := &Bench{Clock: clock}
	b.Use(s)
	tb.Cleanup(func() {
		if _, err := s.Ledger.Head(context.WithoutCancel(tb.Context())); err == nil && !tb.Failed() { // else it is closed
			CheckRows(tb, s)
		}
	})
	b.Admin = Admin(tb, s)
	b.Owner = Reviewer(tb, s, "owner@example.com")
	b.Stranger = Reviewer(tb, s, "stranger@example.com")
	b.Agent, _ = AgentToken(tb, s, b.Owner, "bot")
	b.Other, _ = AgentToken(tb, s, b.Stranger, "bot")
	return b
}

// Use has the bench go on with another store, as after a restart.
func (b *Bench) Use(s *store.Store) { b.Store, b.Runs = s, runs.New(s) }

// AskFor asks for a decision, as the agent that takes edits.
func (b *Bench) AskFor(tb testing.TB, in models.AskInput) *models.Approval {
	tb.Helper()
	if in.ToolName == "" && in.Kind != models.KindQuestion {
		in.ToolName = "Bash"
	}
	in.Explicit, in.AcceptsEdits = true, true
	a, err := b.Ask(tb.Context(), b.Agent, in)
	if err != nil {
		tb.Fatalf("ask: %v", err)
	}
	return a
}

// UsePolicy makes a document the policy.
func (b *Bench) UsePolicy(tb testing.TB, doc string) {
	tb.Helper()
	if _, err := b.ApplyPolicy(tb.Context(), b.Admin, []byte(doc), "test", 0); err != nil {
		tb.Fatalf("apply policy: %v", err)
	}
}

// Yes approves, without a page.
func Yes() models.DecisionInput {
	v := true
	return models.DecisionInput{Approved: &v, Page: models.NoPage}
}

// No rejects.
func No(reason string) models.DecisionInput {
	v := false
	return models.DecisionInput{Approved: &v, Reason: reason}
}

// Read is a request as an admin sees it.
func (b *Bench) Read(tb testing.TB, id models.ResponseID) *models.Approval {
	tb.Helper()
	a, err := b.Requests.Approval(tb.Context(), b.Admin, id)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// Difference are the lines of a dump that were not there before.
func Difference(before, after string) string {
	stood := map[string]bool{}
	for line := range strings.SplitSeq(before, "\n") {
		stood[line] = true
	}
	var out []string
	for line := range strings.SplitSeq(after, "\n") {
		if !stood[line] {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Each runs a query beside the store, and row for each of its rows.
func Each(t interface {
	Fatalf(text string, args ...any)
}, db *sql.DB, query string, row func(scan func(...any)), args ...any,
) {
	rows, err := db.QueryContext(context.Background(), query, args...) //nolint:sqlclosecheck // it is, at the end
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		row(func(dest ...any) {
			if err := rows.Scan(dest...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		})
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Purge removes contents.
func Purge(tb testing.TB, s *store.Store, q models.PurgeQuery) *models.PurgeReport {
	tb.Helper()
	p, err := upkeep.New(s).NewPurge(tb.Context(), Operator(), q)
	Must(tb, err)
	report, err := p.All(tb.Context())
	Must(tb, err)
	return report
}

// IDList are the ids of rows.
func IDList[T models.Approval | models.Brief](rows []T) []models.ResponseID {
	out := make([]models.ResponseID, 0, len(rows))
	for i := range rows {
		switch row := any(&rows[i]).(type) {
		case *models.Approval:
			out = append(out, row.ID)
		case *models.Brief:
			out = append(out, row.ID)
		}
	}
	return out
}

// NoLimits lets an agent ask as often as it likes.
func NoLimits(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 }

// Approvals are the requests of briefs.
func Approvals(rows []models.Brief) []models.Approval {
	out := make([]models.Approval, len(rows))
	for i := range rows {
		out[i] = rows[i].Approval
	}
	return out
}

// Settle asks for a payment, and decides it as the owner.
func (b *Bench) Settle(tb testing.TB, input string, in models.DecisionInput) *models.Approval {
	tb.Helper()
	a := b.AskFor(tb, models.AskInput{ToolName: "pay", Input: []byte(input)})
	in.Digest = a.Digest
	a, err := b.Decide(tb.Context(), b.Owner, a.ID, in)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}
