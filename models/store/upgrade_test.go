package store_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/migrations"
	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/people"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func TestMigrationsAreNumberedWithoutGap(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations.SQLite, "sqlite/*")
	if err != nil || len(names) == 0 {
		t.Fatalf("migrations: %v, %v", names, err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("sqlite/%04d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s stands where %s… belongs", name, want)
		}
	}
}

// TestTakeoverKeepsWhatStands opens a database of before the migrations became one, and finds
// every row and the whole ledger as it was.
func TestTakeoverKeepsWhatStands(t *testing.T) {
	t.Parallel()
	dir := folderOf46(t)
	was := tables(t, dir)
	for _, table := range was {
		if len(table.rows) == 0 && slices.Contains([]string{"users", "agents", "tokens", "policies", "conversations", "responses", "votes", "reviewers", "deciders", "ledger"}, table.name) {
			t.Errorf("there is no row of %s", table.name)
		}
	}
	var kept models.Head
	storetest.ReadFile(t, filepath.Join(dir, models.DatabaseFile), `SELECT seq, hash FROM ledger_head`, &kept.Seq, &kept.Hash)

	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
	if have, want, err := db.SchemaOf(t.Context(), s.DB().Reads()); err != nil || have != want {
		t.Errorf("schema %d, %v; want %d", have, err, want)
	}
	if head, err := s.Ledger.Verify(t.Context(), &kept); err != nil || head.Seq <= kept.Seq {
		t.Errorf("ledger: head %s, %v; want %s, and what lists the rows that were there", head, err, kept)
	}
	for _, table := range was {
		switch table.name {
		case "goose_db_version", "ledger_head":
		case "ledger": // what stood there begins it
			now := lines(t, dir, table.query)
			if !slices.Equal(now[:min(len(now), len(table.rows))], table.rows) {
				t.Error("the ledger has changed")
			}
		default:
			compare(t, dir, table)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if found, err := upkeep.VerifyFile(t.Context(), filepath.Join(dir, models.DatabaseFile)); err != nil {
		t.Errorf("the file: %+v, %v", found, err)
	}
	rowsAgainstTheLedger(t, dir)
}

// TestAFolderThatWaitsToBeTakenOverIsInspected reads it as it is, and changes nothing.
func TestAFolderThatWaitsToBeTakenOverIsInspected(t *testing.T) {
	t.Parallel()
	dir := folderOf46(t)
	was := tables(t, dir)
	if found, err := upkeep.VerifyFile(t.Context(), filepath.Join(dir, models.DatabaseFile)); err != nil || found.Schema != 1 {
		t.Errorf("the file: %+v, %v", found, err)
	}
	// Its chain is verified; its rows are those of another schema, and it says what to do.
	folder, err := upkeep.Inspect(t.Context(), dir, "")
	storetest.Must(t, err)
	if found, err := folder.Verify(t.Context(), nil, false); err != nil || found.Head.Seq == 0 {
		t.Errorf("the chain: %+v, %v", found, err)
	}
	if _, err := folder.Verify(t.Context(), nil, true); err == nil || !strings.Contains(err.Error(), "has schema 1") || !strings.Contains(err.Error(), "run `countersign migrate`") {
		t.Errorf("the rows: %v", err)
	}
	storetest.Must(t, folder.Close())
	if now := tables(t, dir); !reflect.DeepEqual(now, was) {
		t.Error("looking at it has changed it")
	}
}

func rowsAgainstTheLedger(t *testing.T, dir string) {
	t.Helper()
	folder, err := upkeep.Inspect(t.Context(), dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	found, err := folder.Verify(t.Context(), nil, true)
	if err != nil || found.Found > 0 || found.Uncovered() == 0 || found.Rows() == 0 {
		t.Errorf("rows against the ledger: %+v, %v; want none that differ, and what older entries do not cover", found, err)
	}
	if f, err := folder.Energy(t.Context()); err != nil || len(f.Sums)+len(f.Orphans) > 0 {
		t.Errorf("energy: %+v, %v", f, err)
	}
}

// TestTakeoverGoesOn works with what an older program left: people sign in, the
// agent meets its request, and it is decided.
func TestTakeoverGoesOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := storetest.New(t, storetest.WithDir(folderOf46(t)), storetest.WithClock(afterDump()))
	finance, _ := storetest.Session(t, s, "finance@example.com")
	owner, _ := storetest.Session(t, s, "owner@example.com")
	if _, _, err := s.People.SignIn(ctx, "gone@example.com", storetest.Password, people.SignInFrom{Address: "192.0.2.1"}); err == nil {
		t.Error("a disabled person signed in")
	}
	page, err := s.Requests.Inbox(ctx, finance, requests.InboxQuery{Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].ToolName != "payment.refund" {
		t.Fatalf("the inbox of whoever it was routed to: %+v, %v", page.Items, err)
	}
	waits := page.Items[0]
	agent, _ := storetest.AgentToken(t, s, owner, "deployer")
	again := models.AskInput{ToolUseID: "pending", ToolName: "payment.refund", Input: []byte(`{"amount":5}`), RunID: "run-3"}
	if a, err := s.Ask(ctx, agent, again); err != nil || a.ID != waits.ID || a.Status() != models.StatusPending {
		t.Errorf("the request sent again: %+v, %v; want its own row (I8, I9)", a, err)
	}
	before, err := s.Requests.Settled(ctx, finance, requests.SettledQuery{Whose: requests.WhoseRouted})
	if err != nil || len(before.Items) != 1 || before.Items[0].ToolName != "payment.send" {
		t.Errorf("the history of whoever it was routed to: %+v, %v", before.Items, err)
	}
	if _, err := s.Decide(ctx, finance, waits.ID, models.DecisionInput{Approved: new(true), Digest: waits.Digest, Page: models.NoPage}); err != nil {
		t.Errorf("decide: %v", err)
	}
	if a, err := s.Ask(ctx, agent, again); err != nil || a.Status() != models.StatusApproved {
		t.Errorf("after the decision: %+v, %v", a, err)
	}
	edited := models.AskInput{ToolUseID: "edited", ToolName: "payment.send", Input: []byte(`{"amount":9007199254740993}`), RunID: "run-1"}
	if a, err := s.Ask(ctx, agent, edited); err != nil || a.Status() != models.StatusApproved {
		t.Errorf("an outcome of before: %+v, %v", a, err)
	}
	if _, err := s.Ledger.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

// TestTakenOverRunsTakeReports has an agent report calls about which it asked an
// older program: they are its rows, and the run is described and ended.
func TestTakenOverRunsTakeReports(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := storetest.New(t, storetest.WithDir(folderOf46(t)), storetest.WithClock(afterDump()))
	owner, _ := storetest.Session(t, s, "owner@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "deployer")
	waits, err := s.Ask(ctx, agent, models.AskInput{ToolUseID: "pending", ToolName: "payment.refund", Input: []byte(`{"amount":5}`), RunID: "run-3"})
	if err != nil {
		t.Fatal(err)
	}
	conv, opened, err := runs.New(s).OpenRun(ctx, agent, models.RunInput{RunID: "run-3", Title: "Refunds"})
	if err != nil || opened || conv.ID != waits.ConversationID || conv.Title != "Refunds" {
		t.Fatalf("the run: %+v, %v, %v", conv, opened, err)
	}
	out, err := runs.New(s).ReportEvents(ctx, agent, conv.ID, []models.RunEvent{storetest.Queued("pending", "payment.refund", `{"amount":5}`, "b"), storetest.StatusEvent("end", models.ConversationCompleted)})
	if err != nil || out[0].Status != models.RunEventStored || out[0].ResponseID != waits.ID || out[1].Status != models.RunEventStored {
		t.Fatalf("report: %+v, %v", out, err)
	}
	if a, err := s.Requests.Approval(ctx, agent, waits.ID); err != nil || a.Status() != models.StatusCancelled || a.Cause != models.CauseRunEnded {
		t.Errorf("what was pending: %+v, %v", a, err)
	}
	if _, err := s.Ledger.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	if err := storetest.New(t, storetest.WithDir(dir)).Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Plant(t, dir, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`)
	storetest.Plant(t, dir, `UPDATE schema_use SET writable_by = 9999`)
	if s, err := store.Open(t.Context(), store.Options{Dir: dir, URL: dbtest.URL(t, dir)}); err == nil || !strings.Contains(err.Error(), "install") {
		t.Errorf("open: %v, %v; want a refusal", s, err)
	}
}

// afterDump is a clock a minute after the last row of such a database.
func afterDump() *storetest.Clock {
	clock := storetest.NewClock()
	clock.Step(time.Date(2026, time.March, 2, 14, 25, 0, 0, time.UTC).Sub(clock.Now()))
	return clock
}

// folderOf46 is a data folder of before the migrations became one.
func folderOf46(t *testing.T) (dir string) {
	t.Helper()
	dbtest.OnlySQLite(t, "only there are older versions")
	dir = storetest.Dir(t)
	dbtest.Before(t, dir)
	return dir
}

// table is what stands in one table, a line a row.
type table struct {
	name, query string
	rows        []string
}

// tables reads all tables.
func tables(t *testing.T, dir string) []table {
	t.Helper()
	var out []table
	for _, name := range lines(t, dir, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		columns := lines(t, dir, `SELECT name FROM pragma_table_info('`+name+`')`)
		one := table{name: name, query: `SELECT quote(` + strings.Join(columns, `) || ' ' || quote(`) + `) FROM ` + name}
		one.rows = lines(t, dir, one.query)
		out = append(out, one)
	}
	return out
}

// compare looks for every row that stood there, and for no other.
func compare(t *testing.T, dir string, before table) {
	t.Helper()
	now := lines(t, dir, before.query)
	slices.Sort(now)
	slices.Sort(before.rows)
	if !slices.Equal(now, before.rows) {
		t.Errorf("%s has the rows\n%s\nand had\n%s", before.name, strings.Join(now, "\n"), strings.Join(before.rows, "\n"))
	}
}

func lines(t *testing.T, dir, query string) []string {
	t.Helper()
	dbtest.OnlySQLite(t, "its file is read")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, models.DatabaseFile)+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// unlived are rows of the tables in which no world of ours has any.
var unlived = []string{
	`INSERT INTO agent_allowances SELECT id, 1, 'r', 0 FROM agents WHERE name = 'bot'`,
	`INSERT INTO agent_energy SELECT id, 9007199254740993, 2 FROM agents`,
	`INSERT INTO agent_inbox (conversation_id, ready_at) SELECT id, created_at FROM conversations`,
	`INSERT INTO agent_windows SELECT id, 1, 1, 0, 0 FROM agents`,
	`INSERT INTO desk_active SELECT id, created_at FROM users`,
	`INSERT INTO escalations SELECT id, 1, created_at, NULL FROM responses`,
	`INSERT INTO given_answers SELECT id, '' FROM responses`,
	`INSERT INTO known_devices SELECT secret_hash, user_id, created_at, created_at FROM tokens`,
	`INSERT INTO floods SELECT id, created_at, 60, created_at FROM agents`,
	`INSERT INTO dismissed_suggestions SELECT id, name, id, name, created_at FROM users`,
	`INSERT INTO insights SELECT 'day', created_at, 'agent:' || id, created_at, 'UTC', '{}', '', 9007199254740993 FROM agents`,
	`INSERT INTO key_checks SELECT 'x.key', secret_hash FROM tokens LIMIT 1`,
	`INSERT INTO notified SELECT r.id, c.id, r.created_at, FALSE, TRUE, NULL FROM responses r CROSS JOIN channels c`,
	`INSERT INTO opened_parts SELECT owner_id, id, 'input', created_at FROM responses`,
	`INSERT INTO policy_drafts SELECT id, 1, 2, '{"a":"\u2028\\u0000"}', '', 0, created_at FROM users WHERE id NOT IN (SELECT user_id FROM policy_drafts)`,
	`INSERT INTO saved_views SELECT id, 'history', name, '', created_at FROM users`,
	`INSERT INTO seen SELECT owner_id, id, created_at, created_at FROM responses`,
	`INSERT INTO setup_links SELECT secret_hash, created_at, NULL FROM tokens`,
	`INSERT INTO signin_failures (id, account, address, at) SELECT 1000000, email, '192.0.2.1', created_at FROM users LIMIT 1`,
	`INSERT INTO signin_lots SELECT email, '', created_at, NULL FROM users`,
	`INSERT INTO told_headlines SELECT id FROM responses`,
	`INSERT INTO webhook_answers SELECT id, 1, 1, created_at, 0, '', 1, 1, 'ok', 200, target_sealed FROM webhooks WHERE target_sealed IS NOT NULL`,
	`INSERT INTO webhook_blocks SELECT id, 's', '', '', 1, '', created_at, created_at, 1, '', 500 FROM webhooks`,
}

// A world with rows in every table is moved to SQLite and back, and is the same: each row, the chain, and what the rows
// prove. Only the ledger says that it was moved.
func TestAMovedWorldIsTheSame(t *testing.T) {
	t.Parallel()
	if !dbtest.OnPostgres() {
		t.Skip("only on PostgreSQL: it is moved from there, and back")
	}
	w := pastOf(t)
	w.othersAct(t)
	lived(t, w, &secrets{name: "moved"})
	storetest.IndexLedger(t, w.Store, storetest.LedgerAt(t, w.Store))
	original := copyOf(t, w.Store)
	storetest.Plant(t, original, unlived...)
	begun := storetest.New(t, storetest.WithDir(original))
	want := storetest.Dump(t, begun)
	source := copyOf(t, begun)
	storetest.Must(t, os.WriteFile(filepath.Join(source, models.PushKeyFile), []byte("key"), 0o600))
	there := upkeep.Installation{Dir: source, URL: dbtest.URL(t, source)}
	here := upkeep.Installation{Dir: filepath.Join(t.TempDir(), "file")}
	move := func(from, to upkeep.Installation) *upkeep.MoveResult {
		t.Helper()
		result, err := upkeep.Move{From: from, To: to, By: storetest.Operator(), Now: w.Clock.Now(), Tell: func(upkeep.MoveState) {}}.Run(t.Context())
		storetest.Must(t, err)
		return result
	}
	first := move(there, here)
	for _, table := range first.Tables {
		if table.Rows == 0 {
			t.Errorf("there was no row of %s to move", table.Name)
		}
	}
	storetest.SameStrings(t, "key files", first.Keys, []string{models.KeyFile, models.PushKeyFile})
	if again := move(here, upkeep.Installation{Dir: here.Dir, URL: dbtest.URL(t, here.Dir)}); again.Rows != first.Rows+1 || len(again.Tables) != len(first.Tables) {
		t.Errorf("%d rows were moved there, and %d back", first.Rows, again.Rows)
	}
	end := storetest.New(t, storetest.WithDir(here.Dir), storetest.WithClock(w.Clock))
	got := storetest.Dump(t, end)
	for line := range strings.SplitSeq(storetest.Difference(want, got)+"\n"+storetest.Difference(got, want), "\n") {
		if !strings.Contains(line, `"ledger.moved"`) && !strings.HasPrefix(line, "['\\x01' ") && !strings.Contains(line, ` "h" `) { // the entries, the head, and leases
			t.Errorf("one of them only has %s", line)
		}
	}
	if entries := storetest.ActionsSince(t, end, storetest.LedgerAt(t, begun)); len(entries) != 2 {
		t.Errorf("its ledger says of two moves: %q", entries)
	}
	w.Use(end)
	if late := w.AskFor(t, models.AskInput{Input: []byte(`{"command":"late"}`)}); late.Number <= storetest.Scalar[int64](t, begun, `SELECT max(number) FROM responses`) {
		t.Errorf("a request that came later has number %d", late.Number)
	}
	storetest.CheckRows(t, end)
}
