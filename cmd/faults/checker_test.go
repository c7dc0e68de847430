package faults_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"countersign/handlers/api/wire"
)

// model is a system in memory that does what the models say: it shows that the checker has nothing against one that is
// right, and finds one that is not.
type model struct {
	mu     sync.Mutex
	rng    *rand.Rand
	states map[string]state
	clock  int64
	plant  func(m *model, h *history, in input) // does something wrong, before an operation
	forget bool                                 // the change that is about to be made
}

func newModel(plant func(*model, *history, input)) *model {
	return &model{rng: rand.New(rand.NewPCG(1, 2)), states: map[string]state{}, plant: plant}
}

func (m *model) prepare(*history)   {}
func (m *model) rest(time.Duration) {}

func (m *model) now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock += int64(20 * time.Millisecond)
	return m.clock
}

// do loses one answer of eight, of an operation that was done or was not.
func (m *model) do(h *history, in input) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.states[h.id] == nil {
		m.states[h.id] = h.begin
	}
	lost := m.rng.IntN(8) == 0
	if lost && m.rng.IntN(2) == 0 {
		return answer{unknown: true}
	}
	in.call, in.ret = m.clock, m.clock
	m.forget = false
	if m.plant != nil {
		m.plant(m, h, in)
	}
	all := m.states[h.id].later(in, answer{})
	before := all[len(all)-1]
	did := before.moves(in)[0]
	after := m.timed(before, did.next, in)
	if !m.forget {
		m.states[h.id] = after
	}
	out := after.look(in)
	out.code, out.shows, out.unknown = did.code, did.code == "", lost
	if r, ok := after.(request); ok && out.shows {
		out.deadline, out.until = r.deadline, r.until
	}
	return out
}

// timed sets the times that a request gets as it is asked for and held.
func (m *model) timed(before, after state, in input) state {
	r, ok := after.(request)
	old, _ := before.(request)
	if ok && old.status == "" && r.status != "" {
		r.deadline = m.clock + int64(time.Hour)
		if in.timeout > 0 {
			r.deadline = m.clock + in.timeout*int64(time.Second)
		}
	}
	if ok && r.held && !old.held {
		r.until = m.clock + int64(time.Second)
	}
	if ok {
		return r
	}
	return after
}

// change has a plant replace the state of a request.
func change[S state](m *model, h *history, how func(S) S) {
	if s, ok := m.states[h.id].(S); ok {
		m.states[h.id] = how(s)
	}
}

// plants are things that a store could do wrong; the first does nothing.
var plants = map[string]func(m *model, h *history, in input){
	"": nil,
	"a vote does not look whether the request is pending": func(m *model, h *history, in input) {
		if in.act == vote {
			change(m, h, func(r request) request {
				if r.status != "" {
					r.status, r.held = wire.StatusPending, false
				}
				return r
			})
		}
	},
	"a vote is counted after the deadline": func(m *model, h *history, in input) {
		if in.act == vote {
			change(m, h, func(r request) request { r.deadline += int64(time.Minute); return r })
		}
	},
	"an undo window ends early": func(m *model, h *history, _ input) {
		change(m, h, func(r request) request { r.until -= int64(time.Second); return r })
	},
	"an acknowledged change is lost": func(m *model, _ *history, in input) {
		m.forget = in.act != get && m.rng.IntN(10) == 0
	},
	"a repeat is charged again": func(m *model, h *history, in input) {
		change(m, h, func(p purse) purse { p.keys &^= 1 << in.n; return p })
	},
	"a budget is overspent": func(m *model, h *history, in input) {
		if in.act == spend {
			change(m, h, func(p purse) purse { p.total += in.amount; return p })
		}
	},
	"a grant has no last use": func(m *model, h *history, _ input) {
		change(m, h, func(l leave) leave { l.spent = min(l.spent, mostUses-1); return l })
	},
	"a grant is not revoked": func(m *model, _ *history, in input) { m.forget = in.act == revoke },
}

// The checker finds each of them in the histories of the same stories that the nodes are given, and has nothing against
// a store that is right.
func TestTheCheckerFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, plant := range plants {
		b := newBook(newModel(plant))
		rng := rand.New(rand.NewPCG(3, 4))
		for range 150 {
			b.story(rng)
		}
		b.last()
		bad := b.check(t)
		if (len(bad) > 0) != (plant != nil) {
			t.Errorf("%q: %d violations in %d histories", name, len(bad), len(b.histories))
		}
		if plant == nil && len(bad) > 0 {
			bad[0].draw(t, t.TempDir())
		}
	}
}

// done is an operation and its answer, of a client that has one at a time.
type done struct {
	client int
	in     input
	out    answer
}

var (
	pending    = answer{shows: true, status: wire.StatusPending}
	approved   = answer{shows: true, status: wire.StatusApproved, reason: "yes", input: "{}"}
	refusal    = answer{shows: true, status: wire.StatusRejected, reason: "no"}
	unknown    = answer{unknown: true}
	asks       = done{0, input{act: ask, text: "{}"}, pending}
	approves   = input{act: vote, tool: toolPlain, yes: true, reason: "yes"}
	rejects    = input{act: vote, tool: toolPlain, reason: "no"}
	isPending  = done{0, input{act: get}, pending}
	isApproved = done{0, input{act: get}, approved}
	isRejected = done{0, input{act: get}, refusal}
)

// An operation without an answer has been done, is done later, or never: a history is right if one of these explains it.
func TestAnUnknownOutcomeIsOneOrTheOther(t *testing.T) {
	t.Parallel()
	lost := done{1, approves, unknown}
	for name, c := range map[string]struct {
		ops   []done
		right bool
	}{
		"it was done":                       {[]done{asks, lost, isApproved}, true},
		"it was not":                        {[]done{asks, lost, isPending}, true},
		"it is done later":                  {[]done{asks, lost, isPending, isApproved}, true},
		"it is done after another":          {[]done{asks, lost, {2, rejects, refusal}, isRejected}, true},
		"it is undone":                      {[]done{asks, lost, isApproved, isPending}, false},
		"it is done over another":           {[]done{asks, lost, {2, rejects, refusal}, isApproved}, false},
		"something else is done":            {[]done{asks, lost, isRejected}, false},
		"it is refused for what was never":  {[]done{asks, {2, rejects, answer{code: wire.CodeAlreadyDecided}}, isPending}, false},
		"an ask without an answer is there": {[]done{{0, asks.in, unknown}, {2, rejects, refusal}, isRejected}, true},
		"an ask without an answer is gone":  {[]done{{0, asks.in, unknown}, {2, rejects, refusal}, {0, input{act: get}, answer{code: wire.CodeNotFound}}}, false},
	} {
		var ops []porcupine.Operation
		for i, d := range c.ops {
			d.in.call, d.in.ret = int64(10*i), int64(10*i+5)
			op := porcupine.Operation{ClientId: d.client, Input: d.in, Call: d.in.call, Output: d.out, Return: d.in.ret}
			if d.out.unknown {
				op.Return = never
			}
			ops = append(ops, op)
		}
		if got := porcupine.CheckOperations(modelOf(request{}), ops); got != c.right {
			t.Errorf("%s: %v", name, got)
		}
	}
}
