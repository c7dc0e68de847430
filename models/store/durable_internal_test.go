package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
)

func openTemp(t *testing.T, opts Options) *Store {
	t.Helper()
	opts.Dir = filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestI2EveryWritingConnectionSyncsAlsoAfterAReconnect(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, when := range []string{"at first", "after a reconnect"} {
		before := s.writer
		if err := s.write(t.Context(), func(tx *tx) error {
			var level int
			if err := tx.conn.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
				t.Errorf("%s: synchronous = %d, %v; want 2", when, level, err)
			}
			return tx.record(models.System("test"), "test", subject{}, nil)
		}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if s.writer == nil || (when != "at first" && s.writer == before) {
			t.Error("there was no reconnect")
		}
		if err := s.dropWriter(); err != nil {
			t.Fatal(err)
		}
		if n := s.w.Stats().OpenConnections; n != 0 {
			t.Errorf("%d connections are left open", n)
		}
	}
	weak := strings.Replace(writeDSN(s.path), "_synchronous=FULL", "_synchronous=NORMAL", 1)
	if db, err := openDatabase(weak); err == nil {
		db.Close()
		t.Error("a connection that does not sync was accepted")
	}
}

func TestACleanStopLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != FileName {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestTheDataFolderIsNarrow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, s.path: 0o600, s.path + "-wal": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", filepath.Base(path), info.Mode().Perm(), err, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for path, wide := range map[string]os.FileMode{dir: 0o755, s.path: 0o644} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, wide); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "chmod") {
			t.Errorf("%s with mode %v: %v, want an error that says what to do", filepath.Base(path), wide, err)
		}
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// together has fns commit in one batch: they queue while a first one is held.
func together(t *testing.T, s *Store, hold chan struct{}, fns ...func(*tx) error) []error {
	t.Helper()
	ctx := context.Background()
	var wg sync.WaitGroup
	leading := make(chan struct{})
	wg.Go(func() {
		if err := s.write(ctx, func(*tx) error { close(leading); <-hold; return nil }); err != nil {
			t.Errorf("the first: %v", err)
		}
	})
	<-leading
	errs := make([]error, len(fns))
	for i, fn := range fns {
		wg.Go(func() { errs[i] = s.write(ctx, fn) })
		for {
			s.queue.mu.Lock()
			n := len(s.queue.waiting)
			s.queue.mu.Unlock()
			if n > i {
				break
			}
		}
	}
	close(hold)
	wg.Wait()
	return errs
}

func TestOneCallersFailureNeverFailsItsNeighbours(t *testing.T) {
	t.Parallel()
	var sizes []int
	var mu sync.Mutex
	s := openTemp(t, Options{Observe: func(n int, _ time.Duration) { mu.Lock(); defer mu.Unlock(); sizes = append(sizes, n) }})
	var runs [4]atomic.Int32
	add := func(i int, fails error, panics bool) func(*tx) error {
		return func(t *tx) error {
			runs[i].Add(1)
			if err := t.record(models.System("test"), "test", subject{}, map[string]int{"n": i}); err != nil {
				return err
			}
			if panics {
				panic("no")
			}
			return fails
		}
	}
	refuses := errors.New("refused")
	head := func() int64 {
		h, err := s.LedgerHead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return h.Seq
	}

	before := head()
	errs := together(t, s, make(chan struct{}), add(0, nil, false), func(*tx) error { runs[1].Add(1); return refuses }, add(2, nil, false))
	if errs[0] != nil || !errors.Is(errs[1], refuses) || errs[2] != nil {
		t.Fatalf("a rule that refused: %v", errs)
	}
	if got := head() - before; got != 2 || runs[0].Load() != 1 || runs[2].Load() != 1 {
		t.Errorf("%d entries, runs %d and %d: a refusal without a write must not undo the batch", got, runs[0].Load(), runs[2].Load())
	}

	before = head()
	errs = together(t, s, make(chan struct{}), add(0, nil, false), add(1, refuses, false), add(2, nil, true), add(3, nil, false))
	if errs[0] != nil || !errors.Is(errs[1], refuses) || models.ErrorCode(errs[2]) != models.CodeInternal || errs[3] != nil {
		t.Fatalf("one failed after writing, one panicked: %v", errs)
	}
	if got := head() - before; got != 2 {
		t.Errorf("%d entries were kept, want those of the two that succeeded", got)
	}
	if _, err := s.VerifyLedger(t.Context(), nil); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(sizes, 3) || !slices.Contains(sizes, 4) {
		t.Errorf("batches of %v callers: they did not share a commit", sizes)
	}
}
