package outside_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func TestUpstreamsAreForAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := outside.NewUpstream{Name: "n", BaseURL: "https://n.example.com", Dialect: "plain", OwnerID: w.Owner.OwnerID}
	for name, who := range storetest.WhoMayNot(t, w.Store) {
		for what, do := range map[string]func() error{
			"add":     func() error { return storetest.Err(outside.New(w.Store).AddUpstream(t.Context(), who, in)) },
			"list":    func() error { return storetest.Err(outside.New(w.Store).Upstreams(t.Context(), who)) },
			"states":  func() error { return storetest.Err(outside.New(w.Store).UpstreamStates(t.Context(), who)) },
			"key":     func() error { return outside.New(w.Store).SetUpstreamKey(t.Context(), who, w.Up.ID, "k") },
			"disable": func() error { return outside.New(w.Store).EnableUpstream(t.Context(), who, w.Up.ID, false) },
		} {
			if err := do(); models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %s: %v", what, name, err)
			}
		}
	}
	if all, err := outside.New(w.Store).Upstreams(t.Context(), storetest.Operator()); err != nil || len(all) != 1 || all[0].Name != "orders" || all[0].KeySealed != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAddUpstreamRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fine := outside.NewUpstream{Name: "n", BaseURL: "https://n.example.com", Dialect: "cloud", OwnerID: w.Owner.OwnerID}
	for code, change := range map[models.Code][]func(*outside.NewUpstream){
		models.CodeInvalid: {
			func(u *outside.NewUpstream) { u.Name = "" }, func(u *outside.NewUpstream) { u.Name = models.BuiltIn }, func(u *outside.NewUpstream) { u.Dialect = "latin" },
		},
		models.CodeNotFound: {func(u *outside.NewUpstream) { u.OwnerID = "x" }},
		models.CodeConflict: {func(u *outside.NewUpstream) { u.Name = "orders" }, func(u *outside.NewUpstream) { u.Name = "bot" }},
	} {
		for _, c := range change {
			in := fine
			c(&in)
			before := storetest.Dump(t, w.Store)
			if _, err := outside.New(w.Store).AddUpstream(t.Context(), w.Admin, in); models.ErrorCode(err) != code {
				t.Errorf("%+v: %v, want %s", in, err, code)
			}
			if after := storetest.Dump(t, w.Store); after != before {
				t.Error(storetest.Difference(before, after))
			}
		}
	}
	if _, err := outside.New(w.Store).AddUpstream(t.Context(), w.Admin, fine); err != nil {
		t.Error(err)
	}
}

func TestEachChangeOfAnUpstreamIsRecordedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := " " + string(w.Owner.OwnerID)
	for _, tt := range []struct {
		do     func() error
		action string
	}{
		{func() error { return outside.New(w.Store).SetUpstreamKey(t.Context(), w.Admin, w.Up.ID, "other") }, "upstream.key_changed"},
		{func() error { return outside.New(w.Store).EnableUpstream(t.Context(), w.Admin, w.Up.ID, false) }, "upstream.disabled"},
		{func() error { return outside.New(w.Store).EnableUpstream(t.Context(), w.Admin, w.Up.ID, true) }, "upstream.enabled"},
	} {
		at := storetest.LedgerAt(t, w.Store)
		storetest.Must(t, tt.do())
		storetest.SameStrings(t, tt.action, storetest.ActionsSince(t, w.Store, at), []string{tt.action + owner})
	}
	at := storetest.LedgerAt(t, w.Store)
	storetest.Must(t, outside.New(w.Store).EnableUpstream(t.Context(), w.Admin, w.Up.ID, true))
	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Failed: true, Problem: "It failed."}))
	storetest.SameStrings(t, "bookkeeping", storetest.ActionsSince(t, w.Store, at), nil)
}

func TestAKeyIsSealedAndNeverShown(t *testing.T) {
	t.Parallel()
	dir, said := storetest.Dir(t), &bytes.Buffer{}
	w := newWorld(t, storetest.WithDir(dir), func(o *store.Options) {
		o.Log = slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	storetest.Must(t, outside.New(w.Store).SetUpstreamKey(t.Context(), w.Admin, w.Up.ID, storetest.UpstreamSecret))
	due, _, err := outside.New(w.Store).DueUpstreams(t.Context())
	storetest.Must(t, err)
	if key, err := outside.New(w.Store).UpstreamKey(&due[0]); err != nil || key != storetest.UpstreamSecret {
		t.Errorf("%q, %v", key, err)
	}
	other := w.Upstream(t, "other")
	swapped := due[0]
	swapped.ID = other.ID
	if _, err := outside.New(w.Store).UpstreamKey(&swapped); err == nil || strings.Contains(err.Error(), storetest.UpstreamSecret) {
		t.Errorf("a key of one opens for another: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, models.KeyFile))
	storetest.Must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v", info.Mode())
	}
	if dump := storetest.Dump(t, w.Store); strings.Contains(dump, storetest.UpstreamSecret) || strings.Contains(said.String(), storetest.UpstreamSecret) {
		t.Error("the key stands in the database or the log")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	storetest.Must(t, err)
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	storetest.Must(t, err)
	if len(hidden) != 0 {
		t.Errorf("left behind: %v", hidden)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		storetest.Must(t, err)
		if bytes.Contains(raw, []byte(storetest.UpstreamSecret)) {
			t.Errorf("the key stands in %s", filepath.Base(f))
		}
	}
}

func TestAKeyFileThatIsLostOrOpenIsSaid(t *testing.T) {
	t.Parallel()
	storetest.OnlySQLite(t, "several servers have one key there: TestServersHaveOneKey in models/store")
	dir := storetest.Dir(t)
	w := newWorld(t, storetest.WithDir(dir))
	due, _, err := outside.New(w.Store).DueUpstreams(t.Context())
	storetest.Must(t, err)
	file := filepath.Join(dir, models.KeyFile)
	storetest.Must(t, os.WriteFile(file, bytes.Repeat([]byte("k"), 32), 0o600))
	if _, err := outside.New(w.Store).UpstreamKey(&due[0]); err == nil || !strings.Contains(err.Error(), "set it again") {
		t.Errorf("another file: %v", err)
	}
	storetest.Must(t, os.WriteFile(file, []byte("short"), 0o600))
	if _, err := outside.New(w.Store).UpstreamKey(&due[0]); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	storetest.Must(t, os.Remove(file))
	if _, err := outside.New(w.Store).UpstreamKey(&due[0]); err == nil {
		t.Error("no file: it opened")
	}
	storetest.Must(t, outside.New(w.Store).SetUpstreamKey(t.Context(), w.Admin, w.Up.ID, "anew"))
	due, _, err = outside.New(w.Store).DueUpstreams(t.Context())
	storetest.Must(t, err)
	if key, err := outside.New(w.Store).UpstreamKey(&due[0]); err != nil || key != "anew" {
		t.Errorf("%q, %v", key, err)
	}
	storetest.Must(t, w.Close())
	storetest.Must(t, os.Chmod(file, 0o644)) // others may read it: that is the fault
	if s, err := store.Open(t.Context(), store.Options{Dir: dir, URL: dbtest.URL(t, dir)}); err == nil || !strings.Contains(err.Error(), models.KeyFile) {
		t.Errorf("a key file that others may read: %v, %v", s, err)
	}
}

func TestPollsAreNotedForAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := func() models.UpstreamState {
		t.Helper()
		all, err := outside.New(w.Store).UpstreamStates(t.Context(), w.Admin)
		storetest.Must(t, err)
		return all[0]
	}
	if due, next, err := outside.New(w.Store).DueUpstreams(t.Context()); len(due) != 1 || !next.IsZero() || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	at := w.Clock.Now()
	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Next: 5 * time.Second}))
	if s := state(); s.SucceededAt == nil || !s.SucceededAt.Equal(at) || s.Failures != 0 || s.OwnerName != "owner@example.com" || s.KeySealed != nil {
		t.Errorf("%+v", s)
	}
	for n := 1; n < 4; n++ {
		w.Clock.Step(time.Minute)
		storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Failed: true, Problem: "It failed (500).", Next: 10 * time.Second}))
		if s := state(); !s.SucceededAt.Equal(at) || s.Failures != n || s.Problem != "It failed (500)." || !s.NextPollAt.Equal(w.Clock.Now().Add(10*time.Second)) {
			t.Errorf("%+v", s)
		}
	}
	if due, next, err := outside.New(w.Store).DueUpstreams(t.Context()); len(due) != 0 || !next.Equal(w.Clock.Now().Add(10*time.Second)) || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Problem: "The list changes."}))
	if s := state(); s.Failures != 0 || s.Problem != "The list changes." || s.SucceededAt.Equal(at) {
		t.Errorf("%+v", s)
	}
	w.Taken(t, storetest.Call("waits", "", "bash", `{}`))
	w.Vote(t, w.Taken(t, storetest.Call("untold", "", "bash", `{}`)), storetest.Yes())
	if s := state(); s.Waiting != 1 || s.Unsent != 1 || s.UnsentSince == nil || s.UnsentProblem != "" {
		t.Errorf("%+v", s)
	}
	if n, err := upkeep.New(w.Store).Numbers(t.Context()); err != nil || n.UnsentVerdicts != 1 || n.FailingUpstreams != 0 {
		t.Errorf("%+v, %v", n, err)
	}
	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Failed: true}))
	if n, err := upkeep.New(w.Store).Numbers(t.Context()); err != nil || n.FailingUpstreams != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	storetest.Must(t, outside.New(w.Store).EnableUpstream(t.Context(), w.Admin, w.Up.ID, false))
	if due, next, err := outside.New(w.Store).DueUpstreams(t.Context()); len(due) != 0 || !next.IsZero() || err != nil {
		t.Errorf("a disabled one: %v, %v, %v", due, next, err)
	}
	if len(w.Due(t)) != 1 {
		t.Error("what was decided is told to a disabled one too")
	}
}

func TestOneHolderHasALeaseUntilItRunsOutOrIsGivenBack(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	take := func(holder string) *models.Lease {
		t.Helper()
		l, err := b.Nodes.TakeLease(t.Context(), "poll", holder, 20*time.Second)
		storetest.Must(t, err)
		return l
	}
	first := take("a")
	if take("b") != nil {
		t.Fatal("two have it")
	}
	b.Clock.Step(19 * time.Second)
	if again := take("a"); again.Number != first.Number {
		t.Error("renewing changes the number")
	}
	b.Clock.Step(19 * time.Second)
	if take("b") != nil {
		t.Fatal("two have it")
	}
	b.Clock.Step(time.Second)
	second := take("b")
	if second == nil || second.Number == first.Number || take("a") != nil {
		t.Fatalf("%+v", second)
	}
	storetest.Must(t, b.Nodes.DropLease(t.Context(), first)) // it is not theirs any more
	if take("a") != nil {
		t.Fatal("two have it")
	}
	storetest.Must(t, b.Nodes.DropLease(t.Context(), second))
	if third := take("a"); third == nil || third.Number == second.Number {
		t.Errorf("%+v", third)
	}
}
