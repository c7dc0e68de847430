package faults_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"countersign/handlers/api/wire"
)

// act is one kind of operation.
type act string

const (
	ask    act = "ask" // or repeat: the same key again
	get    act = "get"
	vote   act = "vote" // with an input: an edit
	cancel act = "cancel"
	undo   act = "undo"
	spend  act = "spend" // an ask that costs energy
	budget act = "budget"
	grant  act = "grant"
	use    act = "use" // an ask that a grant may allow
	revoke act = "revoke"
)

// input is one operation, as it was sent.
type input struct {
	act    act
	tool   string
	n      int // of an ask in a conversation or under a grant: which
	who    int // which person
	node   int // where it was sent
	yes    bool
	text   string // the input that is sent, or what an approval puts in its place
	reason string // another for each vote
	amount int64  // of energy
	set    bool   // the amount is the whole budget, not a step

	timeout   int64 // seconds
	call, ret int64 // when it was sent and answered
}

// answer is what came of one.
type answer struct {
	unknown bool      // it may have been done, may still be, or never
	unsent  bool      // there was no connection to send it on
	code    wire.Code // why it was refused; empty: it was done
	shows   bool      // the answer has the object, as below
	part    bool      // but not its input

	status wire.Status
	reason string // of the vote that decided
	input  string // that may run
	held   bool

	deadline, until int64 // until when it may be decided, and is held

	total, spent int64 // of a conversation, and uses of a grant
	free         bool  // a grant allows it
}

// state is a model: what one object is, whatever way it came there.
type state interface {
	// later are the states that this one may have become before an answer, without an operation.
	later(in input, out answer) []state
	// moves are the things that an operation may do.
	moves(in input) []move
	// look is the object, as an answer shows it.
	look(in input) answer
	// learn takes times from an answer.
	learn(out answer) state
}

// move is one of them.
type move struct {
	next state
	code wire.Code
}

// step is a model's Step: all states after an operation that was answered so. One whose outcome is unknown has been done
// or not; it ends with the history, so that it may also be done after all others.
func step(s state, in input, out answer) (next []any) {
	if out.unknown {
		next = append(next, s)
		for _, m := range s.moves(in) {
			next = append(next, m.next)
		}
		return next
	}
	for _, s := range s.later(in, out) {
		for _, m := range s.moves(in) {
			if m.code == out.code && (!out.shows || agrees(m.next, in, out)) {
				next = append(next, m.next.learn(out))
			}
		}
	}
	return next
}

func agrees(s state, in input, out answer) bool {
	want := s.look(in)
	want.shows, want.part, want.code = out.shows, out.part, out.code
	want.deadline, want.until = out.deadline, out.until
	if out.part {
		want.input = out.input
	}
	return want == out || in.act == get && behind(want, out)
}

// behind allows a reader to hear of a deadline a moment late: its clock is that of the node's last commit.
func behind(want, out answer) bool {
	return want.status == wire.StatusExpired && out.status == wire.StatusPending && !out.held
}

// modelOf is a model for the checker.
func modelOf(begin state) porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{begin} },
		Step: func(s, in, out any) []any { return step(s.(state), in.(input), out.(answer)) },
		DescribeOperation: func(in, out any) string {
			return fmt.Sprintf("%s → %s", in.(input), out.(answer))
		},
		DescribeState: func(s any) string { return fmt.Sprintf("%+v", s) },
	}).ToModel()
}

// request is one request: it leaves pending once.
type request struct {
	status wire.Status // empty: it was not asked yet
	sent   string      // the input that was asked for
	input  string      // that may run
	reason string      // of the vote that holds it, or has decided
	held   bool
	holder int    // the person of that vote
	undid  uint64 // who has undone one of theirs, a bit each

	deadline, until int64 // 0: no answer has said so yet
	since           int64 // the earliest time at which it can be like this
}

func (r request) later(in input, out answer) (all []state) {
	if differ(r.deadline, out.deadline) || r.held && differ(r.until, out.until) {
		return nil // neither of them moves
	}
	r, ok := r.learn(out).(request)
	if r.since <= in.ret {
		all = append(all, r)
	}
	switch {
	case !ok || r.status != wire.StatusPending:
	case r.held && r.until <= in.ret:
		r.held, r.status, r.since = false, wire.StatusApproved, r.until
		all = append(all, r)
	case !r.held && r.deadline <= in.ret:
		r.status, r.since = wire.StatusExpired, r.deadline
		all = append(all, r)
	}
	return all
}

// differ reports whether two times are known and not the same.
func differ(a, b int64) bool { return a != 0 && b != 0 && a != b }

func (r request) learn(out answer) state {
	if r.status != "" && out.deadline != 0 {
		r.deadline = out.deadline
	}
	if r.held && out.until != 0 {
		r.until = out.until
	}
	return r
}

func (r request) moves(in input) []move {
	stays := func(code wire.Code) []move { return []move{{r, code}} }
	late := r.status == wire.StatusPending && !r.held && r.deadline != 0 && in.call > r.deadline
	switch {
	case in.act == get && r.status == "", in.act != ask && r.status == "":
		return stays(wire.CodeNotFound)
	case in.act == get:
		return stays("")
	case late:
		return nil // it has expired
	case in.act == ask && r.status == "":
		return []move{{request{status: wire.StatusPending, sent: in.text}, ""}}
	case in.act == ask && in.text != r.sent:
		return stays(wire.CodeKeyConflict)
	case in.act == ask, in.act == cancel && r.status == wire.StatusCancelled:
		return stays("")
	case in.act == undo:
		return r.undone(in)
	case r.status == wire.StatusExpired:
		return stays(wire.CodeExpired)
	case r.status != wire.StatusPending:
		return stays(wire.CodeAlreadyDecided)
	case in.act == cancel:
		r.status, r.held = wire.StatusCancelled, false
		return stays("")
	case r.held:
		return stays(wire.CodeBeingDecided)
	}
	return []move{{r.decided(in), ""}}
}

func (r request) decided(in input) request {
	r.reason, r.holder, r.status = in.reason, in.who, wire.StatusRejected
	if in.yes {
		r.status, r.input = wire.StatusApproved, r.sent
		if in.text != "" {
			r.input = in.text
		}
		if in.tool == toolUndo {
			r.status, r.held, r.until = wire.StatusPending, true, 0
		}
	}
	return r
}

func (r request) undone(in input) (all []move) {
	switch {
	case r.status == wire.StatusExpired:
		return []move{{r, wire.CodeExpired}}
	case r.status != wire.StatusPending:
		return []move{{r, wire.CodeAlreadyDecided}}
	case !r.held && r.undid>>in.who&1 == 1:
		return []move{{r, ""}} // it was before, whoever has voted since
	case !r.held:
		return []move{{r, wire.CodeConflict}}
	case r.holder != in.who:
		return []move{{r, wire.CodeBeingDecided}}
	}
	if r.until <= in.ret {
		all = append(all, move{r, wire.CodeBeingDecided})
	}
	if r.until == 0 || in.call < r.until {
		r.held, r.undid, r.input, r.reason = false, r.undid|1<<in.who, "", ""
		all = append(all, move{r, ""})
	}
	return all
}

func (r request) look(in input) answer {
	out := answer{status: r.status, held: r.held && (in.act == vote || in.act == undo)} // agents don't hear of it
	if r.status == wire.StatusApproved {
		out.input = r.input
	}
	if r.status == wire.StatusApproved || r.status == wire.StatusRejected {
		out.reason = r.reason
	}
	return out
}

// purse is the energy of a conversation: it is never overspent, and an ask is charged once.
type purse struct {
	total, spent int64
	keys         uint64 // the asks that were charged, a bit each
}

func (p purse) later(input, answer) []state { return []state{p} }
func (p purse) learn(answer) state          { return p }
func (p purse) look(in input) answer {
	if in.act == spend {
		return answer{}
	}
	return answer{total: p.total, spent: p.spent}
}

func (p purse) moves(in input) []move {
	switch {
	case in.act == budget && in.set:
		p.total = in.amount
	case in.act == budget:
		p.total = max(0, p.total+in.amount)
	case in.act == spend && p.keys>>in.n&1 == 1:
	case in.act == spend && p.spent+in.amount > p.total:
		return []move{{p, wire.CodeBudgetExhausted}}
	case in.act == spend:
		p.spent, p.keys = p.spent+in.amount, p.keys|1<<in.n
	}
	return []move{{p, ""}}
}

// leave is a grant: it allows so many calls, each once, until it is revoked.
type leave struct {
	made, gone  bool
	spent       int64
	asks, allow uint64 // the calls that were asked for, and those of them that it allows
}

const mostUses = 4

func (l leave) later(input, answer) []state { return []state{l} }
func (l leave) learn(answer) state          { return l }
func (l leave) look(in input) answer {
	switch in.act {
	case use:
		return answer{free: l.allow>>in.n&1 == 1}
	case get:
		return answer{spent: l.spent}
	case ask, vote, cancel, undo, spend, budget, grant, revoke:
	}
	return answer{}
}

func (l leave) moves(in input) []move {
	switch {
	case in.act == grant: // a story makes one
		l.made = true
	case in.act == revoke:
		l.gone = true
	case in.act == use && l.asks>>in.n&1 == 0:
		l.asks |= 1 << in.n
		if l.made && !l.gone && l.spent < mostUses {
			l.spent, l.allow = l.spent+1, l.allow|1<<in.n
		}
	}
	return []move{{l, ""}}
}

func (in input) String() string {
	out := []string{string(in.act)}
	switch in.act {
	case vote:
		out = append(out, map[bool]string{true: "yes", false: "no"}[in.yes], in.reason, in.text)
	case ask:
		out = append(out, in.text)
	case spend, use:
		out = append(out, fmt.Sprint("#", in.n))
	case get, cancel, undo, budget, grant, revoke:
	}
	if in.amount != 0 || in.set {
		out = append(out, fmt.Sprint(in.amount))
	}
	if in.act == vote || in.act == undo {
		out = append(out, fmt.Sprint("by person ", in.who))
	}
	out = append(out, fmt.Sprint("at node ", in.node))
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), " ")
}

func (out answer) String() string {
	switch {
	case out.unknown:
		return "unknown"
	case out.code != "":
		return string(out.code)
	case !out.shows:
		return "done"
	}
	text := fmt.Sprintf("%s %s %s", out.status, out.reason, out.input)
	if out.held {
		text += "held"
	}
	if out.status == "" {
		text = fmt.Sprintf("total %d, spent %d, allowed %t", out.total, out.spent, out.free)
	}
	for name, at := range map[string]int64{"until": out.until, "deadline": out.deadline} {
		if at != 0 {
			text += fmt.Sprintf(" (%s %s)", name, time.Unix(0, at).Format("05.000"))
		}
	}
	return text
}

// never is when an operation ends whose outcome is unknown.
const never = math.MaxInt64
