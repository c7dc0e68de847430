package db

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
)

// numbered is a room that numbers its rows, as the ledger does: it remembers the last
// number from batch to batch and stores it as the last step of one.
type numbered struct {
	d     *DB
	addTo *Stmt
	store *Stmt

	last, stored int64
	known        bool
}

func openTemp(t *testing.T, opts Options) (*DB, *numbered) {
	t.Helper()
	opts.Dir = filepath.Join(t.TempDir(), "data")
	d, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &numbered{d: d}
	d.Register(Room{
		Statements: map[**Stmt]string{
			&n.addTo: `INSERT INTO leases (name, number, holder, until) VALUES (?1, ?2, ?3, '')`,
			&n.store: `INSERT INTO leases (name, number, holder, until) VALUES ('last', ?1, '', '') ON CONFLICT (name) DO UPDATE SET number = ?1`,
		},
		Forget: func() { n.known = false },
		BeforeCommit: func() error {
			if !n.known || n.last == n.stored {
				return nil
			}
			n.stored = n.last
			return n.store.Run(n.last)
		},
	})
	return d, n
}

// add stores a row of a kind under the next number.
func (n *numbered) add(t *Tx, kind string) error {
	if !n.known {
		if err := t.QueryRowContext(context.Background(), `SELECT coalesce(max(number), 0) FROM leases WHERE name = 'last'`).Scan(&n.last); err != nil {
			return err
		}
		n.known, n.stored = true, n.last
	}
	n.last++
	_, err := t.Exec(n.addTo, string(models.NewID[models.ResponseID]()), n.last, kind)
	return err
}

// stands is how many rows of a kind there are.
func (n *numbered) stands(t *testing.T, kind string) int64 {
	t.Helper()
	var count int64
	if err := n.d.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM leases WHERE holder = ?`, kind).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// check finds the rows numbered without a gap, and the last number stored.
func (n *numbered) check(t *testing.T) {
	t.Helper()
	var rows, most, last int64
	err := n.d.Reads().QueryRowContext(t.Context(), `SELECT count(DISTINCT number), max(number), (SELECT number FROM leases WHERE name = 'last')
 FROM leases WHERE name <> 'last'`).Scan(&rows, &most, &last)
	if err != nil || rows != most || most != last {
		t.Errorf("%d rows up to number %d, and %d is stored as the last: %v", rows, most, last, err)
	}
}

// together has fns commit in one batch: they queue while a first one is held.
func together(t *testing.T, d *DB, hold chan struct{}, fns ...func(*Tx) error) []error {
	t.Helper()
	ctx := context.Background()
	var wg sync.WaitGroup
	leading := make(chan struct{})
	wg.Go(func() {
		if err := d.Write(ctx, func(*Tx) error { close(leading); <-hold; return nil }); err != nil {
			t.Errorf("the first: %v", err)
		}
	})
	<-leading
	errs := make([]error, len(fns))
	for i, fn := range fns {
		wg.Go(func() { errs[i] = d.Write(ctx, fn) })
		for {
			d.queue.mu.Lock()
			n := len(d.queue.ops)
			d.queue.mu.Unlock()
			if n > i {
				break
			}
		}
	}
	close(hold)
	wg.Wait()
	return errs
}

// Those who can run when a batch begins are in it. On one processor none of them has run
// before the first gives way. Not beside other tests, which would have one processor too.
func TestCallersOnTheirWayJoinTheBatch(t *testing.T) {
	const callers = 20
	sizes := make(chan int, callers+1)
	d, room := openTemp(t, Options{Observe: func(n int, _ time.Duration) { sizes <- n }})
	write := func() {
		if err := d.Write(context.Background(), func(t *Tx) error { return room.add(t, "test") }); err != nil {
			t.Error(err)
		}
	}
	write() // opens the connection
	<-sizes
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var wg sync.WaitGroup
	for range callers {
		wg.Go(write)
	}
	wg.Wait()
	if n := <-sizes; n < callers/2 { // the system may stop one of them on its way
		t.Errorf("the first batch has %d callers of %d", n, callers)
	}
}

func TestOneCallersFailureNeverFailsItsNeighbours(t *testing.T) {
	t.Parallel()
	var sizes []int
	var mu sync.Mutex
	d, room := openTemp(t, Options{Observe: func(n int, _ time.Duration) { mu.Lock(); defer mu.Unlock(); sizes = append(sizes, n) }})
	var runs [4]atomic.Int32
	add := func(i int, fails error, panics bool) func(*Tx) error {
		return func(t *Tx) error {
			runs[i].Add(1)
			if err := room.add(t, "test"); err != nil {
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
		t.Helper()
		return room.stands(t, "test")
	}

	before := head()
	errs := together(t, d, make(chan struct{}), add(0, nil, false), func(*Tx) error { runs[1].Add(1); return refuses }, add(2, nil, false))
	if errs[0] != nil || !errors.Is(errs[1], refuses) || errs[2] != nil {
		t.Fatalf("a rule that refused: %v", errs)
	}
	if got := head() - before; got != 2 || runs[0].Load() != 1 || runs[2].Load() != 1 {
		t.Errorf("%d entries, runs %d and %d: a refusal without a write must not undo the batch", got, runs[0].Load(), runs[2].Load())
	}

	before = head()
	errs = together(t, d, make(chan struct{}), add(0, nil, false), add(1, refuses, false), add(2, nil, true), add(3, nil, false))
	if errs[0] != nil || !errors.Is(errs[1], refuses) || models.ErrorCode(errs[2]) != models.CodeInternal || errs[3] != nil {
		t.Fatalf("one failed after writing, one panicked: %v", errs)
	}
	if got := head() - before; got != 2 {
		t.Errorf("%d entries were kept, want those of the two that succeeded", got)
	}
	room.check(t)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(sizes, 3) || !slices.Contains(sizes, 4) {
		t.Errorf("batches of %v callers: they did not share a commit", sizes)
	}
}

// A statement that a room asks for is prepared once for each writing connection, and on the next one anew.
func TestAStatementIsPreparedOnceForAConnection(t *testing.T) {
	t.Parallel()
	d, _ := openTemp(t, Options{})
	prepared := func() (got *Stmt) {
		t.Helper()
		if err := d.Write(t.Context(), func(tx *Tx) (err error) {
			if got, err = tx.Prepared(`SELECT 7`); err != nil {
				return err
			}
			n := 0
			if err := tx.Row(got).Scan(&n); err != nil || n != 7 {
				t.Errorf("it reads %d, %v", n, err)
			}
			_, err = tx.Prepared(`SELECT nothing`)
			if err == nil {
				t.Error("what is no statement was prepared")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := prepared()
	if prepared() != first {
		t.Error("it was prepared again")
	}
	if err := d.dropWriter(); err != nil {
		t.Fatal(err)
	}
	if prepared() == first {
		t.Error("one of a connection that is gone is used")
	}
}

// A notice names what a batch has changed, each once; one that would be too long for the database says that anything may
// have changed, and so does one that cannot be read.
func TestANoticeNamesWhatChanged(t *testing.T) {
	t.Parallel()
	n, ok := readNotice("w 7 1700000000000000" + noticeOf([]events.Topic{"b", "a", "b"}))
	if !ok || n.writer != "w" || n.batch != 7 || n.at.Unix() != 1_700_000_000 || !slices.Equal(n.topics, []events.Topic{"a", "b"}) {
		t.Errorf("%+v, %v", n, ok)
	}
	if n, ok := readNotice("w 7 1700000000000000" + noticeOf(nil)); !ok || n.topics == nil || len(n.topics) != 0 {
		t.Errorf("of nothing: %+v, %v", n, ok)
	}
	many := make([]events.Topic, 1000)
	for i := range many {
		many[i] = events.Approval(models.NewID[string]())
	}
	if n, ok := readNotice("w 7 1700000000000000" + noticeOf(many)); !ok || n.topics != nil {
		t.Errorf("of too many: %d topics, %v", len(n.topics), ok)
	}
	if _, ok := readNotice("w x\na"); ok {
		t.Error("one without a number is read")
	}
}

// A batch of which no notice came is missed, once; later ones are counted again.
func TestABatchWithoutANoticeIsMissed(t *testing.T) {
	t.Parallel()
	var h heard
	if h.upTo(5) {
		t.Error("what was before the first is known")
	}
	h.add(7)
	h.add(6) // in any order
	if !h.upTo(7) {
		t.Error("two that were told are missed")
	}
	h.add(9)
	if h.upTo(9) {
		t.Error("8 is not missed")
	}
	h.add(10)
	if !h.upTo(10) || len(h.some) != 0 {
		t.Errorf("10 is missed, or kept: %v", h.some)
	}
}
