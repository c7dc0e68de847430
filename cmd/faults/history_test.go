package faults_test

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// system is what the stories speak to: nodes, or in tests of the checker a thing that is wrong on purpose.
type system interface {
	prepare(h *history) // makes what its operations need
	do(h *history, in input) answer
	now() int64
	rest(most time.Duration) // between two operations
}

// history is what was done to one object, and what each caller heard.
type history struct {
	id, tool string
	begin    state
	keys     []string // of asks in a conversation or under a grant
	grant    string   // the address of the page of a grant

	mu  sync.Mutex
	ops []porcupine.Operation
}

// book has all histories of a run, and counts.
type book struct {
	system

	mu        sync.Mutex
	histories []*history
	counts    map[act]*outcomes
	codes     map[string]int // of answers that leave an outcome unknown
	ends      map[string]int // how requests ended
}

type outcomes struct{ done, no, unknown int }

func newBook(s system) *book {
	return &book{system: s, counts: map[act]*outcomes{}, codes: map[string]int{}, ends: map[string]int{}}
}

// op does one operation and notes it.
func (b *book) op(h *history, client int, in input) answer {
	in.tool, in.call = h.tool, b.now()
	out := b.do(h, in)
	in.ret = b.now()
	if out.unsent {
		return out
	}
	b.count(in, out)
	op := porcupine.Operation{ClientId: client, Input: in, Call: in.call, Output: out, Return: in.ret}
	if out.unknown {
		op.Return = never
		op.Output = answer{unknown: true}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
	return out
}

// surely repeats an operation until its outcome is known.
func (b *book) surely(h *history, client int, in input) answer {
	for {
		if out := b.op(h, client, in); !out.unknown && !out.unsent {
			return out
		}
		b.rest(time.Second)
	}
}

func (b *book) add(h *history) *history {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.histories = append(b.histories, h)
	return h
}

func (b *book) count(in input, out answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.counts[in.act]
	if n == nil {
		n = &outcomes{}
		b.counts[in.act] = n
	}
	switch {
	case out.unknown:
		n.unknown++
		b.codes[cmp.Or(string(out.code), "no answer")]++
	case out.code != "":
		n.no++
	default:
		n.done++
	}
}

// checkEach is for the search for an order in one history: it takes milliseconds.
const checkEach = time.Minute

// check looks for an order of each history in which the model allows it, and returns the histories that have none.
func (b *book) check(t *testing.T) (bad []*history) {
	t.Helper()
	for _, h := range b.histories {
		switch porcupine.CheckOperationsTimeout(modelOf(h.begin), h.ops, checkEach) {
		case porcupine.Illegal:
			bad = append(bad, h)
		case porcupine.Unknown:
			t.Logf("not checked: %s has %d operations and takes longer than %s", h.id, len(h.ops), checkEach)
		case porcupine.Ok:
		}
	}
	return bad
}

// draw writes the picture of a violation, and says where it is and what was done.
func (h *history) draw(t *testing.T, dir string) {
	t.Helper()
	model := modelOf(h.begin)
	_, info := porcupine.CheckOperationsVerbose(model, h.ops, checkEach)
	file := filepath.Join(dir, "violation-"+h.id+".html")
	if err := porcupine.VisualizePath(model, info, file); err != nil {
		t.Error(err)
	}
	var text strings.Builder
	slices.SortFunc(h.ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, op := range h.ops {
		in, _ := op.Input.(input)
		fmt.Fprintf(&text, "  %s to %s, client %d: %v → %v\n", time.Unix(0, in.call).Format("05.000"), time.Unix(0, in.ret).Format("05.000"), op.ClientId, in, op.Output)
	}
	t.Errorf("no order of these operations explains what was answered; %s shows it:\n%s", file, text.String())
}

// summary is a table of what was done.
func (b *book) summary(w io.Writer) {
	fmt.Fprintf(w, "%-10s %8s %8s %8s\n", "operation", "ok", "refused", "unknown")
	for _, kind := range slices.Sorted(maps.Keys(b.counts)) {
		n := b.counts[kind]
		fmt.Fprintf(w, "%-10s %8d %8d %8d\n", kind, n.done, n.no, n.unknown)
	}
	fmt.Fprintf(w, "unknown: %v\nat the end: %v\n", b.codes, b.ends)
}

// pictures is a folder that is kept for violations.
func pictures(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "faults-") //nolint:usetesting // it outlives the test
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
