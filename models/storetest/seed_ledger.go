package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/proof"
	"countersign/models/store"
)

// SeedLedger stores n approved requests of an agent as its ask and the owner's
// decision leave them, with votes and ledger entries: copies of one that was made
// so. A million takes a minute.
func SeedLedger(tb testing.TB, s *store.Store, agent, owner models.Actor, n int) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	stop := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("seed: %v", err)
		}
	}
	a, err := s.Ask(ctx, agent, models.AskInput{
		ToolName: "Bash", Explicit: true, Input: []byte(`{"command":"make test","cwd":"/src","description":"Run the tests"}`),
		Explanation: models.Explanation{Description: "Runs the tests."},
	})
	stop(err)
	a, err = s.Decide(ctx, owner, a.ID,
		models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage, Reason: "Fine."})
	stop(err)
	head, err := s.Ledger.Head(ctx)
	stop(err)

	db := Beside(tb, s)
	if !dbtest.OnPostgres() {
		db, err = sql.Open("sqlite3", "file:"+s.Path()+"?_busy_timeout=60000&_synchronous=OFF&_txlock=immediate&_cache_size=-1000000")
		stop(err)
		defer db.Close()
	}
	entries := make([]models.Entry, 2)
	for i := range entries {
		e := &entries[i]
		stop(db.QueryRowContext(ctx,
			`SELECT at, actor_kind, actor_id, actor_name, action, owner_id, conversation_id, data FROM ledger WHERE response_id = ? ORDER BY seq LIMIT 1 OFFSET ?`, a.ID, i).
			Scan(&e.At, &e.ActorKind, &e.ActorID, &e.ActorName, &e.Action, &e.OwnerID, &e.ConversationID, &e.Data))
	}
	copied := func(table, where string, own map[string]string) string {
		columns := dbtest.ColumnsOf(tb, db, table)
		values := make([]string, len(columns))
		for i, c := range columns {
			if values[i] = own[c]; values[i] == "" {
				values[i] = `t."` + c + `"`
			}
		}
		return `INSERT INTO ` + table + ` ("` + strings.Join(columns, `", "`) +
			`") WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
 SELECT ` + strings.Join(values, ", ") + ` FROM n CROSS JOIN ` + table + ` t WHERE ` + where
	}
	// Each is a second after the one before it: SQLite has the number behind each key of an index, PostgreSQL not.
	later := func(string) string { return "" }
	id, vote := `printf('%08x-0000-7000-8000-%012x', i % 65536 * 7919, i)`, `printf('%08x-0000-7000-9000-%012x', i % 65536 * 7919, i)`
	if dbtest.OnPostgres() {
		const made = `lpad(to_hex(i %% 65536 * 7919), 8, '0') || '-0000-7000-%s000-' || lpad(to_hex(i), 12, '0')`
		id, vote = fmt.Sprintf(made, "8"), fmt.Sprintf(made, "9")
		later = func(column string) string { return `t.` + column + ` - (CAST(?1 AS bigint) - i) * interval '1 second'` }
	}

	tx, err := db.BeginTx(ctx, nil)
	stop(err)
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		tb.Helper()
		_, err := tx.ExecContext(ctx, query, args...)
		stop(err)
	}
	// What is copied here never was pending.
	var triggers map[string]string
	if dbtest.OnPostgres() {
		exec(`SET LOCAL session_replication_role = replica`)
	} else {
		triggers = dbtest.Triggers(tb, tx)
		exec(`PRAGMA defer_foreign_keys = ON`)
	}
	for name := range triggers {
		exec(`DROP TRIGGER ` + name)
	}
	exec(copied("responses", "t.id = ?2",
		map[string]string{"number": "t.number + i", "id": id, "sequence": "t.sequence + i", "vote_id": vote, "created_at": later("created_at"), "approval_timestamp": later("approval_timestamp")}), n, a.ID)
	exec(copied("votes", "t.response_id = ?2", map[string]string{"id": vote, "response_id": id}), n, a.ID)
	add, err := tx.PrepareContext(ctx, `INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	stop(err)
	defer add.Close()
	digests, err := proof.Open(ctx, tx)
	stop(err)
	digestOf := func(table, id string) string {
		tb.Helper()
		digest, err := digests.DigestIn(ctx, tx, proof.Of(table, id))
		stop(err)
		return digest
	}
	was := []string{
		string(a.ID), string(*a.VoteID), digestOf("responses", string(a.ID)), digestOf("votes", string(*a.VoteID)),
	}
	sequence := fmt.Sprintf(`"sequence":%d,`, a.Sequence)
	for i := 1; i <= n; i++ {
		id, vote := fmt.Sprintf("%08x-0000-7000-8000-%012x", i%65536*7919, i), fmt.Sprintf("%08x-0000-7000-9000-%012x",
			i%65536*7919, i)
		proved := strings.NewReplacer(was[0], id, was[1], vote, was[2], digestOf("responses", id), was[3],
			digestOf("votes", vote))
		for _, e := range entries {
			e.ResponseID = models.ResponseID(id)
			e.Data = strings.Replace(proved.Replace(e.Data), sequence, fmt.Sprintf(`"sequence":%d,`, a.Sequence+int64(i)), 1)
			head = models.Seal(head, &e)
			_, err := add.ExecContext(ctx, e.Seq, e.At, string(e.ActorKind), e.ActorID, e.ActorName, e.Action, string(e.OwnerID),
				string(e.ConversationID), string(e.ResponseID), e.Data, e.Prev, e.Hash)
			stop(err)
		}
	}
	exec(`UPDATE ledger_head SET seq = ?, hash = ?`, head.Seq, head.Hash)
	exec(`UPDATE conversations SET next_sequence = next_sequence + ?1, energy_used = energy_used + ?1 * ?2 WHERE id = ?3`,
		n, a.Energy, a.ConversationID)
	for _, text := range triggers {
		exec(text)
	}
	stop(tx.Commit())
	IndexLedger(tb, s, head.Seq)
	if dbtest.OnPostgres() {
		for _, text := range []string{`UPDATE batches SET number = number + 1 WHERE writer = ''`, `SELECT setval(pg_get_serial_sequence('responses', 'number'), max(number)) FROM responses`, `ANALYZE`} {
			_, err := db.ExecContext(ctx, text)
			stop(err)
		}
	}
}
