package store_test

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/migrations"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestReleasedMigrationsAreUnchanged: a database that has a migration never runs
// it again, so an edited one would leave two schemas of one number. A release
// adds its files to testdata/released.sha256 and a dump beside it.
func TestReleasedMigrationsAreUnchanged(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/released.sha256")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	released := 0
	for lines := bufio.NewScanner(f); lines.Scan(); released++ {
		want, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			t.Fatalf("line %d is not as sha256sum writes it", released+1)
		}
		raw, err := fs.ReadFile(migrations.SQLite, "sqlite/"+name)
		if err != nil {
			t.Errorf("%s was released and is gone: %v", name, err)
			continue
		}
		if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s was released and then changed: put the change into a new migration", name)
		}
	}
	if released == 0 {
		t.Error("nothing is listed")
	}
}

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

// TestUpgradeKeepsWhatStands opens a dump of every released schema, with rows in
// each table, and finds every row and the whole ledger as it was.
func TestUpgradeKeepsWhatStands(t *testing.T) {
	t.Parallel()
	dumps, err := filepath.Glob("testdata/[0-9][0-9][0-9][0-9].sql")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("dumps: %v, %v", dumps, err)
	}
	for _, dump := range dumps {
		t.Run(filepath.Base(dump), func(t *testing.T) {
			t.Parallel()
			dir := loadDump(t, dump)
			before := tables(t, dir)
			for _, table := range before {
				if len(table.rows) == 0 && table.name != "agent_allowances" {
					t.Errorf("the dump has no row of %s", table.name)
				}
			}
			var kept models.Head
			storetest.ReadFile(t, filepath.Join(dir, models.DatabaseFile), `SELECT seq, hash FROM ledger_head`, &kept.Seq, &kept.Hash)

			s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
			if have, want, err := s.Schema(t.Context()); err != nil || have != want {
				t.Errorf("schema %d, %v; want %d", have, err, want)
			}
			if head, err := s.Ledger.Verify(t.Context(), &kept); err != nil || head.String() != kept.String() {
				t.Errorf("ledger: head %s, %v; want %s", head, err, kept)
			}
			for _, table := range before {
				compare(t, dir, table)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if found, err := upkeep.VerifyFile(t.Context(), filepath.Join(dir, models.DatabaseFile)); err != nil {
				t.Errorf("the upgraded file: %+v, %v", found, err)
			}
			folder, err := upkeep.Inspect(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			found, err := folder.Rows(t.Context())
			if err != nil || found.Found > 0 || found.Uncovered() == 0 || found.Rows() == 0 {
				t.Errorf("rows against the ledger: %+v, %v; want none that differ, and what older entries do not cover", found, err)
			}
			if f, err := folder.Energy(t.Context()); err != nil || len(f.Sums)+len(f.Alone) > 0 {
				t.Errorf("energy: %+v, %v", f, err)
			}
		})
	}
}

// TestUpgradeGoesOn works with what an older program left: people sign in, the
// agent meets its request, and it is decided.
func TestUpgradeGoesOn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := storetest.New(t, storetest.WithDir(loadDump(t, "testdata/0001.sql")), storetest.WithClock(afterDump()))
	finance, _ := storetest.Session(t, s, "finance@example.com")
	owner, _ := storetest.Session(t, s, "owner@example.com")
	if _, _, err := s.People.SignIn(ctx, "gone@example.com", storetest.Password, people.SignInFrom{Address: "192.0.2.1"}); err == nil {
		t.Error("a disabled person signed in")
	}
	page, err := s.Inbox(ctx, finance, store.InboxQuery{Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].ToolName != "payment.refund" {
		t.Fatalf("the inbox of whoever it was routed to: %+v, %v", page.Items, err)
	}
	waits := page.Items[0]
	agent, _ := storetest.AgentToken(t, s, owner, "deployer")
	again := models.AskInput{ToolUseID: "pending", ToolName: "payment.refund", Input: []byte(`{"amount":5}`), RunID: "run-3"}
	if a, err := s.Ask(ctx, agent, again); err != nil || a.ID != waits.ID || a.Status() != models.StatusPending {
		t.Errorf("the request sent again: %+v, %v; want its own row (I8, I9)", a, err)
	}
	before, err := s.Settled(ctx, finance, store.SettledQuery{Whose: store.WhoseRouted})
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

// TestUpgradeLeavesTheBuiltInAgentItsName: an agent that bore it before goes on
// under another, and is nobody's built-in agent.
func TestUpgradeLeavesTheBuiltInAgentItsName(t *testing.T) {
	t.Parallel()
	dir := loadDump(t, "testdata/0001.sql")
	storetest.Plant(t, dir, `UPDATE agents SET name = 'built-in' WHERE name = 'deployer'`)
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
	owner, _ := storetest.Session(t, s, "owner@example.com")
	list, err := s.Conversations(t.Context(), owner, store.ConversationQuery{})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("conversations of before: %+v, %v", list, err)
	}
	old := list.Items[0]
	if old.AgentName != "built-in of "+string(old.AgentID) || old.BuiltIn || old.ActiveAt.IsZero() || old.EnergyBudget != nil {
		t.Errorf("a conversation of before: %+v", old)
	}
	r, err := s.Say(t.Context(), owner, models.MessageInput{Content: "Hello."})
	if err != nil || r.Conversation.AgentID == old.AgentID {
		t.Fatalf("a message: %+v, %v", r, err)
	}
	if v, err := s.Conversation(t.Context(), owner, r.Conversation.ID); err != nil || !v.BuiltIn || v.AgentName != models.BuiltIn {
		t.Errorf("begun: %+v, %v", v, err)
	}
	if _, err := s.Say(t.Context(), owner, models.MessageInput{ConversationID: old.ID, Content: "And you?"}); err != nil {
		t.Errorf("a message to an agent of before: %v", err)
	}
	if _, err := s.Ledger.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestUpgradedRunsTakeReports has an agent report calls about which it asked an
// older program: they are its rows, and the run is described and ended.
func TestUpgradedRunsTakeReports(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := storetest.New(t, storetest.WithDir(loadDump(t, "testdata/0001.sql")), storetest.WithClock(afterDump()))
	owner, _ := storetest.Session(t, s, "owner@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "deployer")
	waits, err := s.Ask(ctx, agent, models.AskInput{ToolUseID: "pending", ToolName: "payment.refund", Input: []byte(`{"amount":5}`), RunID: "run-3"})
	if err != nil {
		t.Fatal(err)
	}
	conv, opened, err := s.OpenRun(ctx, agent, models.RunInput{RunID: "run-3", Title: "Refunds"})
	if err != nil || opened || conv.ID != waits.ConversationID || conv.Title != "Refunds" {
		t.Fatalf("the run: %+v, %v, %v", conv, opened, err)
	}
	out, err := s.ReportEvents(ctx, agent, conv.ID, []models.RunEvent{queued("pending", "payment.refund", `{"amount":5}`, "b"), status("end", models.ConversationCompleted)})
	if err != nil || out[0].Status != models.RunEventStored || out[0].ResponseID != waits.ID || out[1].Status != models.RunEventStored {
		t.Fatalf("report: %+v, %v", out, err)
	}
	if a, err := s.Approval(ctx, agent, waits.ID); err != nil || a.Status() != models.StatusCancelled || a.Cause != models.CauseRunEnded {
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
	storetest.Plant(t, dir, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	if s, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("open: %v, %v; want a refusal", s, err)
	}
}

// afterDump is a clock a minute after the last row of the dumps.
func afterDump() *storetest.Clock {
	clock := storetest.NewClock()
	clock.Step(time.Date(2026, time.March, 2, 14, 25, 0, 0, time.UTC).Sub(clock.Now()))
	return clock
}

// loadDump makes a data folder of what `sqlite3 countersign.db .dump` wrote.
func loadDump(t *testing.T, dump string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	dir = storetest.Dir(t)
	file := filepath.Join(dir, models.DatabaseFile)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.PlantFile(t, file, string(text))
	return dir
}

// table is what stands in one table, a line a row.
type table struct {
	name, query string
	rows        []string
}

// tables reads all tables, each with the columns that it has now.
func tables(t *testing.T, dir string) []table {
	t.Helper()
	var out []table
	for _, name := range lines(t, dir, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`) {
		columns := lines(t, dir, `SELECT name FROM pragma_table_info('`+name+`') WHERE name NOT IN ('reasked_from')`) // which nothing read, and is gone
		query := `SELECT quote(` + strings.Join(columns, `) || ' ' || quote(`) + `) FROM ` + name
		one := table{name: name, query: strings.Replace(query, `quote(approval_feedback)`, `quote(nullif(approval_feedback, ''))`, 1)}
		one.rows = lines(t, dir, one.query)
		out = append(out, one)
	}
	return out
}

// compare looks for every row that stood there.
func compare(t *testing.T, dir string, before table) {
	t.Helper()
	now := map[string]int{}
	after := lines(t, dir, before.query)
	for _, row := range after {
		now[row]++
	}
	for _, row := range before.rows {
		if now[row]--; now[row] < 0 {
			t.Errorf("%s lost or changed: %s", before.name, row)
		}
	}
	if before.name != "goose_db_version" && len(after) != len(before.rows) {
		t.Errorf("%s has %d rows, had %d", before.name, len(after), len(before.rows))
	}
}

func lines(t *testing.T, dir, query string) []string {
	t.Helper()
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
