package insights_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/store"
	"countersign/models/storetest"
)

// killedEnv holds the folder of the process that is killed while it sums, killedAtEnv its time, and killedBeforeEnv before
// which of its statements.
const killedEnv, killedAtEnv, killedBeforeEnv = "INSIGHTS_KILLED", "INSIGHTS_KILLED_AT", "INSIGHTS_KILLED_BEFORE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedEnv); dir != "" {
		os.Exit(sumUntilKilled(dir))
	}
	os.Exit(m.Run())
}

// sumUntilKilled sums what is due in a process that ends itself with kill -9 before one of its statements.
func sumUntilKilled(dir string) int {
	ctx := context.Background()
	at, err := time.Parse(time.RFC3339Nano, os.Getenv(killedAtEnv))
	left, wrong := strconv.Atoi(os.Getenv(killedBeforeEnv))
	if err != nil || wrong != nil {
		return 2
	}
	s, err := store.Open(ctx, store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return at }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	err = s.DB().WriteAnyway(ctx, func(t *db.Tx) error { return dbtest.DieBefore(t, left) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	for more := true; more; {
		if more, err = s.Insights.SumNext(ctx, time.UTC); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	return 0
}

// TestSumsAreRightAfterAKillAtAnyStep: killed with kill -9 before each statement of summing, the next server sums to the
// same rows as one that was not killed.
func TestSumsAreRightAfterAKillAtAnyStep(t *testing.T) {
	t.Parallel()
	storetest.OnlySQLite(t, "another process works on a copy of the folder; on PostgreSQL a transaction that was not committed is as void")
	world := storetest.Dir(t)
	clock := storetest.NewClock()
	fill(t, storetest.New(t, storetest.WithDir(world), storetest.WithClock(clock)), clock)
	want, killed := "", 0
	for before := 0; ; before++ {
		dir := storetest.Dir(t)
		_ = dbtest.Copy(t, world, dir)
		process := exec.CommandContext(t.Context(), os.Args[0])
		process.Env = append(os.Environ(), killedEnv+"="+dir, killedAtEnv+"="+clock.Now().Format(time.RFC3339Nano), killedBeforeEnv+"="+strconv.Itoa(before))
		out, err := process.CombinedOutput()
		if code := process.ProcessState.ExitCode(); err != nil && code != -1 {
			t.Fatalf("before statement %d it ended with %d: %s", before, code, out)
		}
		s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
		for more := true; more; {
			more, err = s.Insights.SumNext(t.Context(), time.UTC)
			storetest.Must(t, err)
		}
		got := sums(t, s)
		if want == "" {
			want = got // it was killed before it wrote anything
		}
		if got != want {
			t.Errorf("after a kill before statement %d:\n%s\nwant\n%s", before, got, want)
		}
		if process.ProcessState.ExitCode() == 0 {
			break
		}
		killed++
	}
	if killed < 12 || // four statements of each of two days and an hour
		strings.Count(want, "day") < 2 || strings.Count(want, "\nhour") < 1 {
		t.Errorf("it was killed %d times over %d bytes", killed, len(want))
	}
}

// fill has some requests decided on two days and the morning of a third.
func fill(t *testing.T, s *store.Store, clock *storetest.Clock) {
	t.Helper()
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	for i := range 22 {
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, i), Explicit: true})
		storetest.Must(t, err)
		clock.Step(time.Minute)
		storetest.Must(t, storetest.Err(s.Decide(t.Context(), admin, a.ID, models.DecisionInput{Approved: new(i%3 > 0), Reason: "No.", Digest: a.Digest, Page: models.NoPage})))
		clock.Step(100 * time.Minute)
	}
}

// sums are all rows, one on a line.
func sums(t *testing.T, s *store.Store) string {
	t.Helper()
	rows, err := storetest.Beside(t, s).QueryContext(t.Context(), `SELECT span, begins_at, about, ends_at, figures, waiting, last_number FROM insights WHERE span <> '' ORDER BY span, begins_at, about`)
	storetest.Must(t, err)
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var span, begins, about, ends, figures, waiting string
		var last int64
		storetest.Must(t, rows.Scan(&span, &begins, &about, &ends, &figures, &waiting, &last))
		fmt.Fprintln(&b, span, begins, about, ends, figures, waiting, last)
	}
	storetest.Must(t, rows.Err())
	return b.String()
}
