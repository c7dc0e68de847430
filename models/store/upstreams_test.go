package store_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func TestUpstreamsAreForAdmins(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	in := store.NewUpstream{Name: "n", BaseURL: "https://n.example.com", Dialect: "plain", OwnerID: w.owner.OwnerID}
	for name, who := range storetest.WhoMayNot(t, w.Store) {
		for what, do := range map[string]func() error{
			"add":     func() error { return storetest.Err(w.AddUpstream(t.Context(), who, in)) },
			"list":    func() error { return storetest.Err(w.Upstreams(t.Context(), who)) },
			"states":  func() error { return storetest.Err(w.UpstreamStates(t.Context(), who)) },
			"key":     func() error { return w.SetUpstreamKey(t.Context(), who, w.up.ID, "k") },
			"disable": func() error { return w.EnableUpstream(t.Context(), who, w.up.ID, false) },
		} {
			if err := do(); models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %s: %v", what, name, err)
			}
		}
	}
	if all, err := w.Upstreams(t.Context(), storetest.Operator()); err != nil || len(all) != 1 || all[0].Name != "orders" || all[0].KeySealed != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAddUpstreamRefuses(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	fine := store.NewUpstream{Name: "n", BaseURL: "https://n.example.com", Dialect: "cloud", OwnerID: w.owner.OwnerID}
	for code, change := range map[models.Code][]func(*store.NewUpstream){
		models.CodeInvalid: {
			func(u *store.NewUpstream) { u.Name = "" }, func(u *store.NewUpstream) { u.Name = models.BuiltIn }, func(u *store.NewUpstream) { u.Dialect = "latin" },
		},
		models.CodeNotFound: {func(u *store.NewUpstream) { u.OwnerID = "x" }},
		models.CodeConflict: {func(u *store.NewUpstream) { u.Name = "orders" }, func(u *store.NewUpstream) { u.Name = "bot" }},
	} {
		for _, c := range change {
			in := fine
			c(&in)
			before := storetest.Dump(t, w.Store)
			if _, err := w.AddUpstream(t.Context(), w.admin, in); models.ErrorCode(err) != code {
				t.Errorf("%+v: %v, want %s", in, err, code)
			}
			if after := storetest.Dump(t, w.Store); after != before {
				t.Error(difference(before, after))
			}
		}
	}
	if _, err := w.AddUpstream(t.Context(), w.admin, fine); err != nil {
		t.Error(err)
	}
}

func TestEachChangeOfAnUpstreamIsRecordedOnce(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	owner := " " + string(w.owner.OwnerID)
	for _, tt := range []struct {
		do     func() error
		action string
	}{
		{func() error { return w.SetUpstreamKey(t.Context(), w.admin, w.up.ID, "other") }, "upstream.key_changed"},
		{func() error { return w.EnableUpstream(t.Context(), w.admin, w.up.ID, false) }, "upstream.disabled"},
		{func() error { return w.EnableUpstream(t.Context(), w.admin, w.up.ID, true) }, "upstream.enabled"},
	} {
		at := storetest.LedgerAt(t, w.Store)
		storetest.Must(t, tt.do())
		storetest.SameStrings(t, tt.action, storetest.ActionsSince(t, w.Store, at), []string{tt.action + owner})
	}
	at := storetest.LedgerAt(t, w.Store)
	storetest.Must(t, w.EnableUpstream(t.Context(), w.admin, w.up.ID, true))
	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Failed: true, Problem: "It failed."}))
	storetest.SameStrings(t, "bookkeeping", storetest.ActionsSince(t, w.Store, at), nil)
}

func TestAKeyIsSealedAndNeverShown(t *testing.T) {
	t.Parallel()
	dir, said := storetest.Dir(t), &bytes.Buffer{}
	w := newOutsideWorld(t, storetest.WithDir(dir), func(o *store.Options) {
		o.Log = slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	storetest.Must(t, w.SetUpstreamKey(t.Context(), w.admin, w.up.ID, upstreamSecret))
	due, _, err := w.DueUpstreams(t.Context())
	storetest.Must(t, err)
	if key, err := w.UpstreamKey(&due[0]); err != nil || key != upstreamSecret {
		t.Errorf("%q, %v", key, err)
	}
	other := w.upstream(t, "other")
	swapped := due[0]
	swapped.ID = other.ID
	if _, err := w.UpstreamKey(&swapped); err == nil || strings.Contains(err.Error(), upstreamSecret) {
		t.Errorf("a key of one opens for another: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, models.KeyFile))
	storetest.Must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v", info.Mode())
	}
	if dump := storetest.Dump(t, w.Store); strings.Contains(dump, upstreamSecret) || strings.Contains(said.String(), upstreamSecret) {
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
		if bytes.Contains(raw, []byte(upstreamSecret)) {
			t.Errorf("the key stands in %s", filepath.Base(f))
		}
	}
}

func TestAKeyFileThatIsLostOrOpenIsSaid(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	w := newOutsideWorld(t, storetest.WithDir(dir))
	due, _, err := w.DueUpstreams(t.Context())
	storetest.Must(t, err)
	file := filepath.Join(dir, models.KeyFile)
	storetest.Must(t, os.WriteFile(file, bytes.Repeat([]byte("k"), 32), 0o600))
	if _, err := w.UpstreamKey(&due[0]); err == nil || !strings.Contains(err.Error(), "set it again") {
		t.Errorf("another file: %v", err)
	}
	storetest.Must(t, os.WriteFile(file, []byte("short"), 0o600))
	if _, err := w.UpstreamKey(&due[0]); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged file: %v", err)
	}
	storetest.Must(t, os.Remove(file))
	if _, err := w.UpstreamKey(&due[0]); err == nil {
		t.Error("no file: it opened")
	}
	storetest.Must(t, w.SetUpstreamKey(t.Context(), w.admin, w.up.ID, "anew"))
	due, _, err = w.DueUpstreams(t.Context())
	storetest.Must(t, err)
	if key, err := w.UpstreamKey(&due[0]); err != nil || key != "anew" {
		t.Errorf("%q, %v", key, err)
	}
	storetest.Must(t, w.Close())
	storetest.Must(t, os.Chmod(file, 0o644)) // others may read it: that is the fault
	if s, err := store.Open(t.Context(), store.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), models.KeyFile) {
		t.Errorf("a key file that others may read: %v, %v", s, err)
	}
}

func TestPollsAreNotedForAdmins(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	state := func() models.UpstreamState {
		t.Helper()
		all, err := w.UpstreamStates(t.Context(), w.admin)
		storetest.Must(t, err)
		return all[0]
	}
	if due, next, err := w.DueUpstreams(t.Context()); len(due) != 1 || !next.IsZero() || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	at := w.clock.Now()
	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Next: 5 * time.Second}))
	if s := state(); s.SucceededAt == nil || !s.SucceededAt.Equal(at) || s.Failures != 0 || s.OwnerName != "owner@example.com" || s.KeySealed != nil {
		t.Errorf("%+v", s)
	}
	for n := 1; n < 4; n++ {
		w.clock.Step(time.Minute)
		storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Failed: true, Problem: "It failed (500).", Next: 10 * time.Second}))
		if s := state(); !s.SucceededAt.Equal(at) || s.Failures != n || s.Problem != "It failed (500)." || !s.NextPollAt.Equal(w.clock.Now().Add(10*time.Second)) {
			t.Errorf("%+v", s)
		}
	}
	if due, next, err := w.DueUpstreams(t.Context()); len(due) != 0 || !next.Equal(w.clock.Now().Add(10*time.Second)) || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Problem: "The list changes."}))
	if s := state(); s.Failures != 0 || s.Problem != "The list changes." || s.SucceededAt.Equal(at) {
		t.Errorf("%+v", s)
	}
	w.taken(t, call("waits", "", "bash", `{}`))
	w.vote(t, w.taken(t, call("untold", "", "bash", `{}`)), yes())
	if s := state(); s.Waiting != 1 || s.Unsent != 1 || s.UnsentSince == nil || s.UnsentProblem != "" {
		t.Errorf("%+v", s)
	}
	if n, err := upkeep.New(w.Store).Numbers(t.Context()); err != nil || n.UnsentVerdicts != 1 || n.FailingUpstreams != 0 {
		t.Errorf("%+v, %v", n, err)
	}
	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Failed: true}))
	if n, err := upkeep.New(w.Store).Numbers(t.Context()); err != nil || n.FailingUpstreams != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	storetest.Must(t, w.EnableUpstream(t.Context(), w.admin, w.up.ID, false))
	if due, next, err := w.DueUpstreams(t.Context()); len(due) != 0 || !next.IsZero() || err != nil {
		t.Errorf("a disabled one: %v, %v, %v", due, next, err)
	}
	if len(w.due(t)) != 1 {
		t.Error("what was decided is told to a disabled one too")
	}
}

func TestOneHolderHasALeaseUntilItRunsOutOrIsGivenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	take := func(holder string) *models.Lease {
		t.Helper()
		l, err := b.TakeLease(t.Context(), "poll", holder, 20*time.Second)
		storetest.Must(t, err)
		return l
	}
	first := take("a")
	if take("b") != nil {
		t.Fatal("two have it")
	}
	b.clock.Step(19 * time.Second)
	if again := take("a"); again.Number != first.Number {
		t.Error("renewing changes the number")
	}
	b.clock.Step(19 * time.Second)
	if take("b") != nil {
		t.Fatal("two have it")
	}
	b.clock.Step(time.Second)
	second := take("b")
	if second == nil || second.Number == first.Number || take("a") != nil {
		t.Fatalf("%+v", second)
	}
	storetest.Must(t, b.DropLease(t.Context(), first)) // it is not theirs any more
	if take("a") != nil {
		t.Fatal("two have it")
	}
	storetest.Must(t, b.DropLease(t.Context(), second))
	if third := take("a"); third == nil || third.Number == second.Number {
		t.Errorf("%+v", third)
	}
}
