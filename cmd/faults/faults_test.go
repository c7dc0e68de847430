package faults_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"countersign/models/db/dbtest"
	"countersign/models/upkeep"
)

// length is how long `make faults` is to last in all; 0: it is another run of tests.
func length(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("FAULTS_FOR")
	if text == "" {
		t.Skip("make faults runs this")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// seed is that of a run before, or a new one.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := rand.Uint64N(1_000_000)
	if text := os.Getenv("FAULTS_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// fault breaks something for a while, and mends it.
type fault func(rng *rand.Rand, hold func())

// bout is one run: some tell stories while one fault comes after the other.
type bout struct {
	*site

	cluster *cluster
	faults  map[string]fault
	writers int
	end     time.Time
}

func TestNodesOnPostgres(t *testing.T) {
	end := time.Now().Add(length(t) * 4 / 5)
	c := newCluster(t)
	b := &bout{site: newSite(t, 2), cluster: c, writers: 12, end: end}
	anyOf := func(rng *rand.Rand) *node { return b.nodes[rng.IntN(len(b.nodes))] }
	cut := func(at dbtest.Cut) fault {
		return func(rng *rand.Rand, hold func()) {
			for range 5 {
				anyOf(rng).proxy.Cut(at)
				hold()
			}
		}
	}
	endBy := func(sig syscall.Signal) fault {
		return func(_ *rand.Rand, hold func()) { c.end(t, sig); hold(); c.start(t) }
	}
	b.faults = map[string]fault{
		"kill -9 of a node":               b.killNode,
		"PostgreSQL is shut down at once": endBy(syscall.SIGQUIT),
		"kill -9 of PostgreSQL":           endBy(syscall.SIGKILL),
		"connections cut before a COMMIT": cut(dbtest.BeforeCommit),
		"connections cut after a COMMIT":  cut(dbtest.AfterCommit),
		"PostgreSQL's disk is full":       func(_ *rand.Rand, hold func()) { c.full(t, true); hold(); c.full(t, false); c.start(t) },
		"500 ms to PostgreSQL": func(rng *rand.Rand, hold func()) {
			p := anyOf(rng).proxy
			p.Delay(500 * time.Millisecond)
			hold()
			p.Delay(0)
		},
		"a node starts with its clock 30 s off": func(rng *rand.Rand, hold func()) {
			n := anyOf(rng)
			n.kill(t)
			n.ahead = 30 - 60*rng.IntN(2)
			n.start(t)
			hold()
		},
	}
	b.run(t)
}

func TestANodeOnSQLite(t *testing.T) {
	end := time.Now().Add(length(t) / 5)
	b := &bout{site: newSite(t, 1), writers: 12, end: end}
	b.faults = map[string]fault{"kill -9 of a node": b.killNode}
	b.run(t)
}

func (b *bout) killNode(rng *rand.Rand, hold func()) {
	n := b.nodes[rng.IntN(len(b.nodes))]
	n.kill(b.t)
	hold()
	n.start(b.t)
}

func (b *bout) run(t *testing.T) {
	t.Helper()
	began, s := time.Now(), seed(t)
	t.Logf("seed %d: repeat it with make faults SEED=%d", s, s)
	book, over := newBook(b.site), atomic.Bool{}
	var all sync.WaitGroup
	for writer := range b.writers {
		rng := rand.New(rand.NewPCG(s, uint64(1+writer)))
		all.Go(func() {
			for !over.Load() {
				book.story(rng)
			}
		})
	}
	counts := b.breaks(t, rand.New(rand.NewPCG(s, 0)))
	over.Store(true)
	all.Wait()
	book.last()
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d, %s, %d nodes\n", s, time.Since(began).Round(time.Second), len(b.nodes))
	book.summary(&text)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&text, "%3d × %s\n", counts[name], name)
	}
	bad := book.check(t)
	entries := b.verify(t)
	fmt.Fprintf(&text, "%d histories, %d violations; a ledger of %d entries\n", len(book.histories), len(bad), entries)
	t.Log("\n" + text.String())
	if len(bad) == 0 {
		return
	}
	dir := pictures(t)
	for _, h := range bad {
		h.draw(t, dir)
	}
}

// breaks lets one fault follow the other until the end, each kind once before any comes again.
func (b *bout) breaks(t *testing.T, rng *rand.Rand) map[string]int {
	t.Helper()
	counts := map[string]int{}
	hold := func() { b.rest(3 * time.Second) }
	for {
		names := slices.Sorted(maps.Keys(b.faults))
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			if time.Now().After(b.end) {
				return counts
			}
			b.faults[name](rng, hold)
			counts[name]++
			for _, n := range b.nodes {
				n.ready(t)
			}
			hold()
		}
	}
}

// twice are the requests that have two outcomes in the ledger.
const twice = `SELECT count(*) FROM (SELECT response_id FROM ledger
 WHERE response_id <> '' AND action IN ('approval.approved', 'approval.rejected', 'approval.expired', 'approval.cancelled', 'approval.resolved')
 GROUP BY response_id HAVING count(*) > 1)`

// verify ends the nodes, and holds the ledger against the rows (I7), as audit verify --rows does; no request has two
// outcomes (I1). It returns how many entries there are.
func (b *bout) verify(t *testing.T) (entries int64) {
	t.Helper()
	for _, n := range b.nodes {
		n.kill(t)
	}
	var again int
	if err := b.pool.QueryRowContext(t.Context(), twice).Scan(&again); err != nil || again > 0 {
		t.Errorf("%d requests have two outcomes; %v", again, err)
	}
	dir := b.nodes[0].dir
	address := ""
	if b.cluster != nil {
		address = b.nodes[0].proxy.URL()
	}
	data, err := upkeep.Inspect(t.Context(), dir, address)
	if err != nil {
		t.Fatal(err)
	}
	found, err := data.Verify(t.Context(), nil, true)
	if err = errors.Join(err, data.Close()); err != nil {
		t.Fatalf("the ledger: %v", err)
	}
	for _, f := range found.Faults {
		t.Errorf("a row is not as the ledger says: %+v", f)
	}
	return found.Head.Seq
}
