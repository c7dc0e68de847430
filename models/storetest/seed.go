package storetest

import (
	"context"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/store"
)

// Rows is how much Seed puts into a database beside what is there.
type Rows struct {
	Settled int // approved long ago, one each second
	Pending int // waiting, an hour or more to go
	Pad     int // bytes that inputs are longer by; with some they have an amount too
}

// seeded is how each database says the values of row i. ?1 is the conversation, ?5 what pads the input.
type seeded struct{ id, digest, deadline, settled, command, padded string }

const numbers = ` WITH RECURSIVE n (i) AS (SELECT 1 WHERE ?4 > 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?4)`

var (
	ofSQLite = seeded{
		id:       `printf('%08x-0000-7000-8000-%012x', i / 65536, i + (SELECT next_sequence FROM conversations WHERE id = ?1) * 16777216)`,
		digest:   `printf('%064x', i)`,
		deadline: `printf('2097-01-01 %02d:%02d:%02d.%06d+00:00', i / 3600 % 24, i / 60 % 60, i % 60, i % 1000000)`,
		settled:  `strftime('%Y-%m-%d %H:%M:%S', '2026-01-02', i || ' seconds') || '+00:00'`,
		command:  `printf('{"command":"make step-%d"}', i)`,
		padded:   `printf('{"command":"make","amount":%d,"pad":"%s"}', i, ?5)`,
	}
	ofPostgres = seeded{
		id:       `lpad(to_hex(i / 65536), 8, '0') || '-0000-7000-8000-' || lpad(to_hex(i + (SELECT next_sequence FROM conversations WHERE id = ?1) * 16777216), 12, '0')`,
		digest:   `lpad(to_hex(i), 64, '0')`,
		deadline: `CAST('2097-01-01 00:00:00+00:00' AS timestamptz) + i % 86400 * interval '1 second' + i % 1000000 * interval '1 microsecond'`,
		settled:  `CAST('2026-01-02 00:00:00+00:00' AS timestamptz) + i * interval '1 second'`,
		command:  `'{"command":"make step-' || i || '"}'`,
		padded:   `'{"command":"make","amount":' || i || ',"pad":"' || ?5 || '"}'`,
	}
)

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
	db := dbtest.Beside(tb, s.Path())
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
	say := ofSQLite
	if dbtest.OnPostgres() {
		say = ofPostgres
	}
	insert := func(n int, status, stamp string) {
		exec(`INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, requires_approval,
 approval_status, approval_timestamp, cause, policy_version, approval_requested_at, approval_timeout_at, energy, description, tool_name, tool_input_json)
`+numbers+` SELECT `+say.id+`,
 ?1, (SELECT next_sequence FROM conversations WHERE id = ?1) + i, ?2, ?3, 'tool_call', '2026-01-01 00:00:00+00:00', `+say.digest+`, 'medium', TRUE, `+
			status+`, `+stamp+`, CASE `+status+` WHEN 'pending' THEN '' ELSE 'reviewer' END, 1, '2026-01-01 00:00:00+00:00',
 `+say.deadline+`, 1, 'seeded', 'Bash', CASE ?5 WHEN '' THEN `+say.command+` ELSE `+say.padded+` END FROM n`,
			a.ConversationID, a.OwnerID, a.AgentID, n, strings.Repeat("x", rows.Pad))
		exec(`UPDATE conversations SET next_sequence = next_sequence + ? WHERE id = ?`, n+1, a.ConversationID)
	}
	insert(rows.Settled, `'approved'`, say.settled)
	insert(rows.Pending, `'pending'`, `NULL`)
	exec(`INSERT OR IGNORE INTO deciders (user_id, deadline, response_id) SELECT owner_id, approval_timeout_at, id FROM responses WHERE approval_status = 'pending'`)
	if err := tx.Commit(); err != nil {
		tb.Fatalf("seed: %v", err)
	}
	if _, err := db.ExecContext(tb.Context(), `ANALYZE`); err != nil {
		tb.Fatalf("seed: %v", err)
	}
}
