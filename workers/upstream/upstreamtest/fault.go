package upstreamtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Act is what a request wants.
type Act string

// The acts.
const (
	ListCalls      Act = "list calls"
	ListContacts   Act = "list contacts"
	RespondCall    Act = "respond call"
	RespondContact Act = "respond contact"
	ReadCall       Act = "read call"
	ReadContact    Act = "read contact"
)

// Lists reports whether a list is asked for.
func (a Act) Lists() bool { return a == ListCalls || a == ListContacts }

// Responds reports whether a verdict is told.
func (a Act) Responds() bool { return a == RespondCall || a == RespondContact }

// Request is what the server was asked, as the plan sees it.
type Request struct {
	Act    Act
	CallID string // empty for lists
	Nth    int    // how many of the same act and id came before it
	Offset int    // of a list
	Limit  int    // of a list; 0: none asked
}

// Fault is what goes wrong with a request. The zero value is nothing.
type Fault struct {
	// Status is answered instead of what would be, with an error for a body.
	Status int
	// Handled lets a verdict take effect though its answer goes wrong; otherwise a
	// request with Status, Hang or Drop has no effect.
	Handled bool
	Hang    bool // nothing is answered until the client goes away
	Drop    bool // the connection is closed without an answer
	Cut     bool // the connection is closed in the middle of the body
	Half    bool // the body is half of one, in an answer that is whole
	HTML    bool // the body is a page of some proxy

	// Of lists:
	Duplicate  bool // the first item comes twice
	Contradict bool // the first item comes again, with another request under its id
	Skip       int  // the page begins so many items later, as if others had gone in between
	NoMore     bool // it says that there is no other page, whatever is true
	More       bool // it says that there is another page, whatever is true
	// Then runs when the answer was made and before it is sent: what it changes shows
	// in the next page.
	Then func(*Server)
}

// effect reports whether the request is handled before its answer goes wrong.
func (f Fault) effect() bool { return f.Handled || f.Status == 0 && !f.Hang && !f.Drop }

// Script plans the faults of verdicts on one call or contact in turn; after them
// nothing goes wrong, and with nothing else.
func Script(callID string, faults ...Fault) func(Request) Fault {
	return func(r Request) Fault {
		if r.Act.Responds() && r.CallID == callID && r.Nth < len(faults) {
			return faults[r.Nth]
		}
		return Fault{}
	}
}

// Rates are how often each fault comes, of 1: of every request that may have it,
// and at most one each.
type Rates struct {
	Status500 float64 // a burst begins: 1 to 3 requests with the same act and id fail
	Lost500   float64 // of verdicts: handled, then 500
	Hang      float64
	Drop      float64
	Lost      float64 // of verdicts: handled, then dropped
	Cut       float64 // of what is read
	Half      float64 // of what is read
	Duplicate float64 // of lists
	Skip      float64 // of lists
}

// Random plans faults by chance. They depend on the seed and on the request's
// act, id, offset and number alone, so that the same seed gives the same faults in
// whatever order requests come.
func Random(seed uint64, rates Rates) func(Request) Fault {
	return func(r Request) Fault {
		for back := range 3 { // a burst that began up to two requests before
			if before := r.Nth - back; before >= 0 {
				dice := seededRand(seed, r, before)
				if dice.Float64() < rates.Status500 && dice.IntN(3) >= back {
					return Fault{Status: 500}
				}
			}
		}
		dice := seededRand(seed, r, r.Nth)
		dice.Float64() // the burst's
		chosen := dice.Float64()
		for _, c := range []struct {
			rate  float64
			fits  bool
			fault Fault
		}{
			{rates.Lost500, r.Act.Responds(), Fault{Status: 500, Handled: true}},
			{rates.Hang, true, Fault{Hang: true}},
			{rates.Drop, true, Fault{Drop: true}},
			{rates.Lost, r.Act.Responds(), Fault{Drop: true, Handled: true}},
			{rates.Cut, !r.Act.Responds(), Fault{Cut: true}},
			{rates.Half, !r.Act.Responds(), Fault{Half: true}},
			{rates.Duplicate, r.Act.Lists(), Fault{Duplicate: true}},
			{rates.Skip, r.Act.Lists() && r.Offset > 0, Fault{Skip: 1}},
		} {
			if !c.fits {
				continue
			}
			if chosen < c.rate {
				return c.fault
			}
			chosen -= c.rate
		}
		return Fault{}
	}
}

func seededRand(seed uint64, r Request, nth int) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %q %d %d", r.Act, r.CallID, r.Offset, nth)
	return rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // the same faults for the same seed are the point
}
