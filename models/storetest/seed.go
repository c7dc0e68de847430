package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/store"
)

// Rows is how much Seed puts into a database beside what is there.
type Rows struct {
	Settled int // approved long ago, one each second
	Pending int // waiting, an hour or more to go
	Pad     int // bytes that inputs are longer by; with some they have an amount too
}

// Seed stores rows of an agent as its asks and their decisions would have left
// them, without ledger entries: a million takes seconds. The deadlines of what
// is pending lie in the far future of any test's clock.
func Seed(tb testing.TB, s *store.Store, agent models.Actor, rows Rows) {
	tb.Helper()
	Tampered(s)
	a, err := s.Ask(tb.Context(), agent, models.AskInput{ToolName: "seed", Explicit: true}) // opens the conversation
	if err != nil {
		tb.Fatalf("seed: %v", err)
	}
	db, err := sql.Open("sqlite3", "file:"+s.Path()+"?_busy_timeout=60000&_synchronous=OFF&_txlock=immediate")
	if err != nil {
		tb.Fatalf("seed: %v", err)
	}
	defer db.Close()
	tx, err := db.BeginTx(context.WithoutCancel(tb.Context()), nil)
	if err != nil {
		tb.Fatalf("seed: %v", err)
	}
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		tb.Helper()
		if _, err := tx.ExecContext(tb.Context(), query, args...); err != nil {
			tb.Fatalf("seed: %v\n%s", err, query)
		}
	}
	insert := func(n int, status, stamp string) {
		exec(`INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, requires_approval,
 approval_status, approval_timestamp, cause, policy_version, approval_requested_at, approval_timeout_at, energy, description, tool_name, tool_input_json)
 WITH RECURSIVE n (i) AS (SELECT 1 WHERE ?4 > 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)
 SELECT printf('%08x-0000-7000-8000-%012x', i / 65536, i + (SELECT next_sequence FROM conversations WHERE id = ?1) * 16777216),
 ?1, (SELECT next_sequence FROM conversations WHERE id = ?1) + i, ?2, ?3, 'tool_call', '2026-01-01 00:00:00+00:00', printf('%064x', i), 'medium', TRUE, `+
			status+`, `+stamp+`, CASE `+status+` WHEN 'pending' THEN '' ELSE 'reviewer' END, 1, '2026-01-01 00:00:00+00:00',
 printf('2097-01-01 %02d:%02d:%02d.%06d+00:00', i / 3600 % 24, i / 60 % 60, i % 60, i % 1000000), 1, 'seeded', 'Bash', CASE ?5 WHEN '' THEN printf('{"command":"make step-%d"}', i) ELSE printf('{"command":"make","amount":%d,"pad":"%s"}', i, ?5) END FROM n`,
			a.ConversationID, a.OwnerID, a.AgentID, n, strings.Repeat("x", rows.Pad))
		exec(`UPDATE conversations SET next_sequence = next_sequence + ? WHERE id = ?`, n+1, a.ConversationID)
	}
	insert(rows.Settled, `'approved'`, `strftime('%Y-%m-%d %H:%M:%S', '2026-01-02', i || ' seconds') || '+00:00'`)
	insert(rows.Pending, `'pending'`, `NULL`)
	exec(`INSERT OR IGNORE INTO deciders (user_id, deadline, response_id) SELECT owner_id, approval_timeout_at, id FROM responses WHERE approval_status = 'pending'`)
	if err := tx.Commit(); err != nil {
		tb.Fatalf("seed: %v", err)
	}
	if _, err := db.ExecContext(tb.Context(), `ANALYZE`); err != nil {
		tb.Fatalf("seed: %v", err)
	}
}
