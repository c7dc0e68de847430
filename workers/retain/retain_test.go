package retain_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
	"countersign/workers/retain"
)

func inputs(t *testing.T, s *store.Store) string {
	t.Helper()
	var all string
	if err := storetest.Beside(t, s).QueryRowContext(t.Context(), `SELECT group_concat(tool_input_json) FROM responses`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTheRuleRemovesWhatIsOlderThanItKeeps: off by default, then what is over for
// longer, in steps; the log is emptied as soon as nobody reads from it.
func TestTheRuleRemovesWhatIsOlderThanItKeeps(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	decide := func(input string) {
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Input: []byte(input), Explicit: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(t.Context(), admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage}); err != nil {
			t.Fatal(err)
		}
	}
	for range 60 { // more than two steps
		decide(`{"v":"older"}`)
	}
	clock.Step(8 * 24 * time.Hour)
	decide(`{"v":"newer"}`)
	var log bytes.Buffer
	w := &retain.Worker{Store: s, Log: slog.New(slog.NewTextHandler(&log, nil))}
	once := func() {
		t.Helper()
		if err := w.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if got := inputs(t, s); strings.Count(got, "older") != 60 {
		t.Fatalf("without a rule there is left %s", got)
	}
	if _, err := s.ApplyPolicy(t.Context(), admin, []byte(`{"retention_days":7}`), "", 0); err != nil {
		t.Fatal(err)
	}
	release := func() error { return nil } // PostgreSQL empties its log by itself
	if !storetest.OnPostgres() {
		release = readFromTheLog(t, s)
	}
	once()
	if got := inputs(t, s); strings.Count(got, "older") != 60 {
		t.Fatalf("before the rule begins there is left %s", got)
	}
	clock.Step(store.RetentionBegins)
	once()
	if got := inputs(t, s); strings.Count(got, ", by the retention rule") != 60 || strings.Count(got, "newer") != 1 {
		t.Errorf("the rule left %s", got)
	}
	if strings.Contains(log.String(), "could not be emptied") == storetest.OnPostgres() {
		t.Errorf("while somebody reads from the log: %s", &log)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	once()
	if strings.Contains(log.String(), "could not be emptied") {
		t.Errorf("afterwards: %s", &log)
	}
	storetest.CheckRows(t, s)
}

// readFromTheLog keeps SQLite's log from being emptied.
func readFromTheLog(t *testing.T, s *store.Store) (release func() error) {
	t.Helper()
	reader, err := sql.Open("sqlite3", "file:"+s.Path()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	snapshot, err := reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := snapshot.QueryRowContext(t.Context(), `SELECT count(*) FROM responses`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return snapshot.Rollback
}

// TestTheLogIsEmptiedAfterACrash that came between removing and emptying it.
func TestTheLogIsEmptiedAfterACrash(t *testing.T) {
	t.Parallel()
	storetest.OnlySQLite(t, "its log is read")
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Input: []byte(`{"v":"only-once"}`), Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Decide(t.Context(), admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyPolicy(t.Context(), admin, []byte(`{"retention_days":1}`), "", 0); err != nil {
		t.Fatal(err)
	}
	clock.Step(8 * 24 * time.Hour)
	p, err := upkeep.New(s).NewPurge(t.Context(), models.System(models.RetentionActor), models.PurgeQuery{Before: s.Now().AddDate(0, 0, -1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds := func() bool { // by another process: closing the file here would drop the store's locks
		raw, err := exec.CommandContext(t.Context(), "cat", s.Path()+"-wal").Output()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(raw, []byte("only-once"))
	}
	if !holds() {
		t.Fatal("the log does not hold what was removed")
	}
	w := &retain.Worker{Store: s, Log: slog.New(slog.DiscardHandler)}
	if err := w.Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holds() {
		t.Error("the log still holds what was removed")
	}
}
