package store_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/proof"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

const (
	oneOf      = ` WHERE number = (SELECT max(number) FROM responses WHERE `
	insertLike = `INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, requires_approval, approval_status, tool_name, tool_input_json)
 SELECT 'made-up', conversation_id, 999, owner_id, agent_id, kind, created_at, digest, risk, TRUE, 'approved', tool_name, tool_input_json FROM responses WHERE approval_status = 'approved' LIMIT 1`
)

// TestEachEditOfARowIsFound changes one thing beside the store, as whoever can
// write the file could, and has it named.
func TestEachEditOfARowIsFound(t *testing.T) {
	t.Parallel()
	w := pastOf(t)
	storetest.IndexLedger(t, w.Store, storetest.LedgerAt(t, w.Store)-3)
	storetest.CheckRows(t, w.Store)
	file := copyOf(t, w.Store)
	edits := editsOfTriggers()
	for _, tt := range []struct{ name, edit, table string }{
		{"a rejection into an approval", `UPDATE responses SET approval_status = 'approved'` + oneOf + `approval_status = 'rejected' AND vote_id IS NOT NULL)`, "responses"},
		{"a policy's rejection into a release", `UPDATE responses SET approval_status = NULL, approval_timestamp = NULL` + oneOf + `cause = 'policy' AND approval_status = 'rejected')`, "responses"},
		{"a pending request into an approved one", `UPDATE responses SET approval_status = 'approved', cause = 'reviewer', decided_by = owner_id` + oneOf + `approval_status = 'pending' AND tool_name = 'pay')`, "responses"},
		{"an input", `UPDATE responses SET tool_input_json = '{"command":"curl x|sh"}'` + oneOf + `approval_status = 'approved' AND tool_name = 'Bash')`, "responses"},
		{"an input with its digest", `UPDATE responses SET tool_input_json = '{}', digest = 'f1d2'` + oneOf + `approval_status = 'approved' AND tool_name = 'Bash')`, "responses"},
		{"a description", `UPDATE responses SET description = 'Harmless.'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"a headline", `UPDATE responses SET headline = '{"lead":"Read a file"}'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"a preview", `UPDATE responses SET preview = 'Nothing.'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"what a client sent, where none did", `UPDATE responses SET client_data = '{"subject":"urgent"}'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"a client that takes no edits", `UPDATE responses SET protocol = 'function_calls', tool_use_id = 'x'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"a question's options", `UPDATE responses SET options = '[{"name":"no"}]'` + oneOf + `kind = 'question' AND options <> '')`, "responses"},
		{"what a proposal says", `UPDATE responses SET content = 'I would not.'` + oneOf + `kind = 'proposal')`, "responses"},
		{"a risk", `UPDATE responses SET risk = 'low'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"the rule", `UPDATE responses SET policy_rule = 'other'` + oneOf + `tool_name = 'pay')`, "responses"},
		{"an earlier deadline", `UPDATE responses SET approval_timeout_at = '2026-03-02 12:00:01+00:00'` + oneOf + `approval_status = 'pending' AND tool_name = 'pay')`, "responses"},
		{"a later deadline", `UPDATE responses SET approval_timeout_at = '2036-03-02 12:00:00+00:00'` + oneOf + `approval_status = 'pending' AND tool_name = 'pay')`, "responses"},
		{"what a pause put aside", `UPDATE responses SET paused_left = 99999` + oneOf + `paused_left IS NOT NULL)`, "responses"},
		{"who decided", `UPDATE responses SET decided_by = (SELECT id FROM users WHERE email LIKE 'stranger%')` + oneOf + `decided_by IS NOT NULL)`, "responses"},
		{"a reason that agents are told", `UPDATE responses SET approval_feedback = 'Yes.'` + oneOf + `approval_status = 'rejected' AND vote_id IS NOT NULL)`, "responses"},
		{"an answer", `UPDATE responses SET answer = 'Red.'` + oneOf + `answer <> '')`, "responses"},
		{"what a request cost", `UPDATE responses SET energy = 0` + oneOf + `energy > 0)`, "responses"},
		{"a deleted response", `DELETE FROM responses` + oneOf + `tool_name = 'format')`, "responses"},
		{"an inserted response", insertLike, "responses"},
		{"another agent's request", `UPDATE responses SET agent_id = (SELECT id FROM agents WHERE name = 'orders')` + oneOf + `tool_name = 'format')`, "responses"},
		{"a call's grant", `UPDATE responses SET grant_id = NULL` + oneOf + `grant_id IS NOT NULL)`, "responses"},

		{"a vote's person", `UPDATE votes SET user_id = (SELECT id FROM users WHERE email LIKE 'stranger%') WHERE verdict = 'reject'`, "votes"},
		{"a vote's reason", `UPDATE votes SET reason = 'Fine.' WHERE verdict = 'reject'`, "votes"},
		{"a verdict", `UPDATE votes SET verdict = 'approve' WHERE verdict = 'reject'`, "votes"},
		{"an edited input", `UPDATE votes SET input = '{"command":"make install","cwd":"/src"}' WHERE input IS NOT NULL`, "votes"},
		{"an edited input with its digest", `UPDATE votes SET input_digest = 'f1d2' WHERE input IS NOT NULL`, "votes"},
		{"a vote that stands again", `UPDATE votes SET withdrawn_at = NULL WHERE withdrawn_at IS NOT NULL`, "votes"},
		{"a longer undo window", `UPDATE votes SET undo_until = '2036-01-01 00:00:00+00:00' WHERE undo_until IS NOT NULL`, "votes"},
		{"an inserted vote", `INSERT INTO votes (id, response_id, user_id, user_name, verdict, digest, at) SELECT 'made-up', response_id, user_id, user_name, verdict, digest, at FROM votes LIMIT 1`, "votes"},
		{"a deleted vote", `DELETE FROM votes WHERE verdict = 'reject'`, "votes"},

		{"a role", `UPDATE users SET role = 'admin' WHERE email LIKE 'stranger%'`, "users"},
		{"a password", `UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE email LIKE 'stranger%') WHERE email LIKE 'admin%'`, "users"},
		{"an e-mail", `UPDATE users SET email = 'eve@example.com' WHERE email LIKE 'stranger%'`, "users"},
		{"a person enabled again", `UPDATE users SET disabled_at = NULL WHERE disabled_at IS NOT NULL`, "users"},
		{"an inserted person", `INSERT INTO users (id, email, name, role, password_hash, created_at, disabled_at) SELECT 'made-up', 'eve@example.com', name, role, password_hash, created_at, NULL FROM users WHERE role = 'admin' LIMIT 1`, "users"},
		{"a token's scope", `UPDATE tokens SET scope = 'admin' WHERE scope = 'reviewer'`, "tokens"},
		{"a token's secret", `UPDATE tokens SET secret_hash = x'00' WHERE name = 'old'`, "tokens"},
		{"a token that works again", `UPDATE tokens SET revoked_at = NULL WHERE name = 'old'`, "tokens"},
		{"a token without an end", `UPDATE tokens SET expires_at = NULL WHERE name = 'old'`, "tokens"},
		{"somebody else's token", `UPDATE tokens SET user_id = (SELECT id FROM users WHERE role = 'admin' LIMIT 1) WHERE name = 'old'`, "tokens"},
		{"somebody else's session", `UPDATE web_sessions SET user_id = (SELECT id FROM users WHERE email LIKE 'admin%')`, "web_sessions"},
		{"an inserted session", `INSERT INTO web_sessions (id, secret_hash, user_id, created_at, last_seen_at, expires_at, address, user_agent)
 SELECT 'made-up', x'01', user_id, created_at, last_seen_at, expires_at, address, user_agent FROM web_sessions`, "web_sessions"},
		{"an invitation's role", `UPDATE invites SET role = 'admin'`, "invites"},
		{"an agent's owner", `UPDATE agents SET owner_id = (SELECT id FROM users WHERE email LIKE 'finance%') WHERE name = 'orders'`, "agents"},
		{"an agent's name", `UPDATE agents SET name = 'trusted' WHERE name = 'orders'`, "agents"},

		{"a policy", `UPDATE policies SET document = replace(document, '20', '0') WHERE version = (SELECT max(version) FROM policies)`, "policies"},
		{"a policy taken away", `DELETE FROM policies WHERE version = (SELECT max(version) FROM policies)`, "policies"},
		{"a policy put in", `INSERT INTO policies SELECT version + 1, document, author_id, author_name, note, created_at, signed FROM policies ORDER BY version DESC LIMIT 1`, "policies"},
		{"a grant's uses", `UPDATE grants SET uses = 0 WHERE uses > 0`, "grants"},
		{"a grant's limit", `UPDATE grants SET max_uses = 1000 WHERE uses > 0`, "grants"},
		{"a grant's end", `UPDATE grants SET expires_at = '2036-01-01 00:00:00+00:00' WHERE uses > 0`, "grants"},
		{"what a grant fixes", `UPDATE grants SET fixed = '{}' WHERE uses > 0`, "grants"},
		{"a grant that lives again", `UPDATE grants SET revoked_at = NULL WHERE revoked_at IS NOT NULL`, "grants"},
		{"a stop taken away", `DELETE FROM stops WHERE lifted_at IS NULL`, "stops"},
		{"a stop lifted", `UPDATE stops SET lifted_at = at WHERE lifted_at IS NULL`, "stops"},
		{"a stop of another agent", `UPDATE stops SET agent_id = (SELECT id FROM agents WHERE name = 'orders') WHERE lifted_at IS NULL`, "stops"},
		{"a stop's note", `UPDATE stops SET note = 'Nothing.' WHERE lifted_at IS NULL`, "stops"},
		{"a stop in force again", `UPDATE stops SET lifted_at = NULL WHERE lifted_at IS NOT NULL`, "stops"},
		{"a stop put in", `INSERT INTO stops (id, agent_id, note, at, by_id, by_name, lifted_at) SELECT 'made-up', agent_id, note, at, by_id, by_name, at FROM stops LIMIT 1`, "stops"},

		{"an upstream's address", `UPDATE upstreams SET base_url = 'https://evil.example'`, "upstreams"},
		{"an upstream's key", `UPDATE upstreams SET key_sealed = x'00'`, "upstreams"},

		{"a message", `UPDATE messages SET content = 'Stop.' WHERE author_kind = 'user'`, "messages"},
		{"a message put in", `INSERT INTO messages SELECT 'made-up', conversation_id, 998, author_kind, author_id, author_name, content, NULL, created_at, NULL, NULL FROM messages WHERE author_kind = 'user'`, "messages"},
		{"a question about a request", `UPDATE notes SET content = 'Fine by me.' WHERE asks`, "notes"},
		{"a budget", `UPDATE conversations SET energy_budget = 100000 WHERE energy_budget IS NOT NULL`, "conversations"},
		{"energy", `UPDATE conversations SET energy_used = 0 WHERE energy_used > 0`, "conversations"},
		{"a step of a budget", `UPDATE budget_steps SET new = 1 WHERE reason = 'More.'`, "budget_steps"},
		{"a run that goes on", `UPDATE conversations SET paused_at = NULL WHERE paused_at IS NOT NULL`, "conversations"},
		{"what follows a rejection", `UPDATE conversations SET on_reject = 'continue' WHERE on_reject = 'cascade' AND run_id IS NOT NULL`, "conversations"},
		{"another owner of a run", `UPDATE conversations SET owner_id = (SELECT id FROM users WHERE email LIKE 'stranger%') WHERE run_id = 'batch'`, "conversations"},
		{"a reviewer put in", `INSERT INTO reviewers (user_id, response_id) SELECT (SELECT id FROM users WHERE email LIKE 'stranger%'), id FROM responses WHERE tool_name = 'pay'`, "responses"},
		{"a reviewer taken away", `DELETE FROM reviewers`, "responses"},
		{"a reviewer who has left a group", `INSERT INTO reviewers (user_id, response_id) SELECT (SELECT id FROM users WHERE email LIKE 'stranger%'), id FROM responses WHERE tool_name = 'pay' AND approval_status = 'pending'`, "responses"},
		{"a reviewer of a group taken away", `DELETE FROM reviewers WHERE user_id = (SELECT id FROM users WHERE email LIKE 'cy@%')`, "responses"},
		{"a member put in", `INSERT INTO group_members SELECT 'made-up', group_id, (SELECT id FROM users WHERE email LIKE 'admin%'), joined_at, NULL FROM group_members LIMIT 1`, "group_members"},
		{"a member who had left", `UPDATE group_members SET left_at = NULL WHERE left_at IS NOT NULL`, "group_members"},
		{"somebody else as a member", `UPDATE group_members SET user_id = (SELECT id FROM users WHERE email LIKE 'admin%') WHERE left_at IS NULL`, "group_members"},
		{"a member taken away", `DELETE FROM group_members WHERE left_at IS NULL`, "group_members"},
		{"a group's name", `UPDATE groups SET name = 'other'`, "groups"},
		{"a group's note", `UPDATE groups SET note = 'other'`, "groups"},
		{"a group put in", `INSERT INTO groups SELECT 'made-up', 'other', note, created_at, NULL FROM groups`, "groups"},
		{"a reader of the ledger", `INSERT INTO ledger_readers SELECT (SELECT id FROM users WHERE email LIKE 'stranger%'), 20`, "ledger_readers"},
		{"an entry hidden from lists", `DELETE FROM ledger_keys WHERE seq = 7 AND kind = 4`, "ledger_keys"},
		{"entries hidden from lists", `UPDATE ledger_head SET indexed = 1000`, "ledger_keys"},
		{"an entry in somebody else's list", `UPDATE ledger_keys SET key = 'somebody' WHERE seq = 7 AND kind = 1`, "ledger_keys"},
		{"a decider", `INSERT INTO deciders SELECT (SELECT id FROM users WHERE email LIKE 'stranger%'), approval_timeout_at, id FROM responses WHERE approval_status = 'pending'`, "deciders"},

		{"when somebody is told", `UPDATE notification_settings SET moments = '{}'`, "notification_settings"},
		{"somebody's quiet hours", `UPDATE notification_settings SET quiet_from = '00:00', quiet_to = '23:59'`, "notification_settings"},
		{"that nothing breaks through", `UPDATE notification_settings SET critical_breaks_through = FALSE`, "notification_settings"},
		{"settings put in", `INSERT INTO notification_settings SELECT (SELECT id FROM users WHERE email LIKE 'stranger%'), moments, digest_at, quiet_from, quiet_to, zone, critical_breaks_through FROM notification_settings`, "notification_settings"},
		{"settings taken away", `DELETE FROM notification_settings`, "notification_settings"},
		{"a host put in", `INSERT INTO notification_hosts SELECT 'evil.example', added_at, added_by, by_name FROM notification_hosts LIMIT 1`, "notification_hosts"},
		{"a host put back", `INSERT INTO notification_hosts SELECT 'gone.example.com', added_at, added_by, by_name FROM notification_hosts LIMIT 1`, "notification_hosts"},
		{"a host taken away", `DELETE FROM notification_hosts WHERE host = 'ntfy.example.com'`, "notification_hosts"},
		{"a host that is another", `UPDATE notification_hosts SET host = 'evil.example' WHERE host = 'ntfy.example.com'`, "notification_hosts"},
		{"who allowed a host", `UPDATE notification_hosts SET by_name = 'somebody'`, "notification_hosts"},

		{"an endpoint's right to inputs", `UPDATE webhooks SET inputs = TRUE`, "webhooks"},
		{"which events an endpoint gets", `UPDATE webhooks SET types = '[]'`, "webhooks"},
		{"an endpoint's name", `UPDATE webhooks SET name = name || '!'`, "webhooks"},
		{"an endpoint's host", `UPDATE webhooks SET label = 'https://evil.example'`, "webhooks"},
		{"an endpoint's address and keys", `UPDATE webhooks SET target_sealed = (SELECT target_sealed FROM webhooks WHERE name = 'paused') WHERE name = 'copy'`, "webhooks"},
		{"another owner of an endpoint", `UPDATE webhooks SET owner_id = (SELECT id FROM users WHERE email LIKE 'stranger%')`, "webhooks"},
		{"an endpoint that runs again", `UPDATE webhooks SET paused_at = NULL, paused_why = '', paused_by = '' WHERE name = 'failing'`, "webhooks"},
		{"why an endpoint is paused", `UPDATE webhooks SET paused_why = 'by_person', paused_by = 'admin' WHERE name = 'failing'`, "webhooks"},
		{"who paused an endpoint", `UPDATE webhooks SET paused_by = 'somebody' WHERE name = 'paused'`, "webhooks"},
		{"an endpoint that is paused", `UPDATE webhooks SET paused_at = created_at, paused_why = 'gone' WHERE name = 'copy'`, "webhooks"},
		{"an endpoint put in", `INSERT INTO webhooks (id, name, label, owner_id, types, inputs, cursor, created_at) SELECT 'made-up', 'other', label, owner_id, '[]', TRUE, 0, created_at FROM webhooks LIMIT 1`, "webhooks"},
		{"an endpoint put back", `UPDATE webhooks SET removed_at = NULL WHERE removed_at IS NOT NULL`, "webhooks"},
		{"an endpoint taken away", `DELETE FROM webhooks WHERE name = 'paused'`, "webhooks"},
		{"a dead letter's reason", `UPDATE webhook_skipped SET reason = 'Nobody needs it.'`, "webhook_skipped"},
		{"whose dead letter it is", `UPDATE webhook_skipped SET by_name = 'somebody'`, "webhook_skipped"},
		{"which event was given up", `UPDATE webhook_skipped SET seq = 3`, "webhook_skipped"},
		{"a dead letter taken away", `DELETE FROM webhook_skipped`, "webhook_skipped"},
		{"a dead letter put in", `INSERT INTO webhook_skipped SELECT 'made-up', webhook_id, seq, type, at, by_id, by_name, reason, class, status FROM webhook_skipped LIMIT 1`, "webhook_skipped"},

		{"a dropped trigger", edits.drop, "schema"},
		{"a trigger that does nothing", edits.empty, "schema"},
		{"a trigger put in", edits.add, "schema"},
		{"a dropped index", `DROP INDEX responses_history`, "schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := tampered(t, file, tt.edit, tt.table != "schema")
			if !slices.ContainsFunc(found.Faults, func(f models.RowFault) bool {
				return f.Table == tt.table && f.ID != "" && f.Text != ""
			}) {
				t.Errorf("not named: %+v", found.Faults)
			}
		})
	}
}

// An extension is the operator's: what it brings is no change of ours. What is made beside it is.
func TestWhatAnExtensionBringsIsNoFinding(t *testing.T) {
	t.Parallel()
	if !dbtest.OnPostgres() {
		t.Skip("only PostgreSQL has extensions")
	}
	s := storetest.New(t)
	pool := storetest.Tamper(t, s)
	exec := func(query string) {
		t.Helper()
		_, err := pool.ExecContext(t.Context(), query)
		storetest.Must(t, err)
	}
	report := func() *models.RowReport {
		t.Helper()
		out, err := upkeep.New(s).VerifyRows(t.Context(), nil)
		storetest.Must(t, err)
		return out
	}
	exec(`CREATE EXTENSION pg_stat_statements`)
	if found := report(); found.Found > 0 {
		t.Errorf("of the extension: %+v", found.Faults)
	}
	exec(`CREATE VIEW beside AS SELECT 1 AS one`)
	if found := report(); found.Found != 1 || found.Faults[0].ID != "view beside" {
		t.Errorf("of a view: %+v", found.Faults)
	}
}

// TestAReportNamesWhatIsNotCompared fails for a table with rows that the check leaves out, whole
// or in some columns, and that its report does not name.
func TestAReportNamesWhatIsNotCompared(t *testing.T) {
	t.Parallel()
	w := pastOf(t)
	report, err := upkeep.New(w.Store).VerifyRows(t.Context(), nil)
	storetest.Must(t, err)
	for _, table := range proof.Tables() {
		rows := storetest.Column(t, w.Store, `SELECT count(*) FROM `+table)[0]
		for _, column := range dbtest.ColumnsOf(t, storetest.Beside(t, w.Store), table) {
			reason, followed := proof.Unproved(table, column)
			if reason == "" || followed || rows == "0" {
				continue
			}
			named := slices.ContainsFunc(slices.Collect(maps.Keys(report.NotCompared)), func(name string) bool {
				what, why, _ := strings.Cut(name, ": ")
				of, columns, some := strings.Cut(what, " ")
				return of == table && why == reason && (!some || strings.Contains(columns, column))
			})
			if !named {
				t.Errorf("%s rows of %s.%s are not compared, and the report does not say so", rows, table, column)
			}
		}
	}
}

// editsOfTriggers take a rule of a table away, empty one, and add one.
func editsOfTriggers() (edits struct{ drop, empty, add string }) {
	edits.drop = `DROP TRIGGER responses_move`
	edits.empty = `DROP TRIGGER responses_outcome; CREATE TRIGGER responses_outcome BEFORE DELETE ON responses BEGIN SELECT 1; END`
	edits.add = `CREATE TRIGGER extra AFTER INSERT ON responses BEGIN SELECT 1; END`
	if dbtest.OnPostgres() {
		edits.drop += ` ON responses`
		edits.empty = `CREATE OR REPLACE TRIGGER responses_outcome BEFORE DELETE ON responses FOR EACH ROW EXECUTE FUNCTION refuse('')`
		edits.add = `CREATE TRIGGER extra AFTER INSERT ON responses FOR EACH ROW EXECUTE FUNCTION refuse('')`
	}
	return edits
}

// copyOf is a data folder with a copy of the database of a store.
func copyOf(t *testing.T, s *store.Store) (dir string) {
	t.Helper()
	dir = storetest.Dir(t)
	_ = dbtest.Copy(t, filepath.Dir(s.Path()), dir)
	return dir
}

// tampered edits a copy of the database of a data folder, past the rules of its tables where they stand afterwards, and
// compares its rows.
func tampered(t *testing.T, original, edit string, keepTriggers bool) *models.RowReport {
	t.Helper()
	ctx, dir := t.Context(), storetest.Dir(t)
	url := dbtest.Copy(t, original, dir)
	pool := dbtest.Beside(t, filepath.Join(dir, models.DatabaseFile))
	if !keepTriggers {
		_, err := pool.ExecContext(ctx, edit)
		storetest.Must(t, err)
	} else if dbtest.Forge(t, pool, edit) == 0 {
		t.Fatal("the edit changed nothing")
	}
	storetest.Must(t, pool.Close())
	folder, err := upkeep.Inspect(ctx, dir, url)
	storetest.Must(t, err)
	defer folder.Close()
	found, err := folder.Rows(ctx)
	storetest.Must(t, err)
	return found
}

// TestTheDeclarationKnowsEachTable fails when a migration adds a table that nobody has thought
// about, and for a column that is said not to be proved and is not there. A column that nobody has
// thought about is proved.
func TestTheDeclarationKnowsEachTable(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	pool := storetest.Beside(t, s)
	tables := dbtest.Tables(t, pool)
	if known := proof.Tables(); !slices.Equal(tables, known) {
		t.Errorf("there are the tables\n%s\nand the declaration knows\n%s", tables, known)
	}
	for _, table := range tables {
		columns := dbtest.ColumnsOf(t, pool, table)
		for _, column := range proof.Named(table) {
			if !slices.Contains(columns, column) {
				t.Errorf("the declaration names a column %s.%s, which is not there", table, column)
			}
		}
	}
}
