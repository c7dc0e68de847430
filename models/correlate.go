package models

import "time"

// OutsideCall is an approval that another system asks for, as far as it takes to
// find the tool call that it is for.
type OutsideCall struct {
	ToolName  string // as sent
	Digest    string // of Canonical(KindToolCall, ToolName, arguments); empty if they are not JSON
	ToolUseID string // empty where the other system knows none
}

// OpenCall is a tool call of one conversation that may be the one an outside
// approval is for.
type OpenCall struct {
	ID        ResponseID
	ToolUseID string
	ToolName  string
	Digest    string
	Sequence  int64
	Completed bool // it has a result
	Status    Status
	Cause     Cause
}

// open reports whether nothing has happened to the call yet: no result, no
// approval, and it was not let through either.
func (c *OpenCall) open() bool {
	return !c.Completed && c.Status == StatusNone && c.Cause == CauseNone
}

// MatchedBy says how a call was found among the others.
type MatchedBy string

// The ways to find a call.
const (
	MatchedByToolUseID MatchedBy = "tool_use_id"
	MatchedByInput     MatchedBy = "input" // several fitted; the oldest of those with the same input
	MatchedByOrder     MatchedBy = "order" // several fitted, none with the same input: the oldest
	MatchedByOnly      MatchedBy = "only"  // no other fitted
)

// Match is the call that an outside approval is for.
type Match struct {
	ID ResponseID
	By MatchedBy
	// SameInput reports whether the call's input is what the approval is for. A call
	// that is matched with another input must be shown with both.
	SameInput bool
}

// Correlate finds the call that an outside approval is for among the calls of
// one conversation. They may come in any order, more than once, and together with
// calls that cannot be meant: those of another tool, those with a result, with an
// approval, or let through.
//
// A tool use id names exactly one call: that one or none. Otherwise the oldest
// with the same input goes before the oldest of all. So three rows tell as much
// as all of them: the one with that tool use id, or else the oldest fitting with
// the same digest and the two oldest fitting.
func Correlate(o OutsideCall, calls []OpenCall) (Match, bool) {
	var oldest, same *OpenCall
	several := false
	for i := range calls {
		c := &calls[i]
		if c.ToolName != o.ToolName || !c.open() {
			continue
		}
		if o.ToolUseID != "" {
			if c.ToolUseID == o.ToolUseID {
				return Match{ID: c.ID, By: MatchedByToolUseID, SameInput: c.asks(o)}, true
			}
			continue
		}
		several = several || oldest != nil && oldest.ID != c.ID
		oldest = older(oldest, c)
		if c.asks(o) {
			same = older(same, c)
		}
	}
	switch {
	case oldest == nil:
		return Match{}, false
	case !several:
		return Match{ID: oldest.ID, By: MatchedByOnly, SameInput: oldest.asks(o)}, true
	case same != nil:
		return Match{ID: same.ID, By: MatchedByInput, SameInput: true}, true
	}
	return Match{ID: oldest.ID, By: MatchedByOrder}, true
}

// CorrelateFamily finds the call in the first of several runs that has one that
// fits, where none of the approval's own run does. They are the run above it,
// then those below it in order of creation. Only the same input tells, unless
// byName is set: then the order decides between calls of the same tool.
func CorrelateFamily(o OutsideCall, runs [][]OpenCall, byName bool) (Match, bool) {
	for _, calls := range runs {
		if m, ok := Correlate(o, calls); ok && m.SameInput {
			return m.foundBy(MatchedByInput), true
		}
	}
	if !byName {
		return Match{}, false
	}
	for _, calls := range runs {
		if m, ok := Correlate(o, calls); ok {
			return m.foundBy(MatchedByOrder), true
		}
	}
	return Match{}, false
}

// foundBy notes how the call was found among those of other runs. A tool use id
// needs no more.
func (m Match) foundBy(by MatchedBy) Match {
	if m.By != MatchedByToolUseID {
		m.By = by
	}
	return m
}

// NameAloneAfter is for how long only the same input finds the call in a run
// above or below the approval's own.
const NameAloneAfter = time.Minute

// LinkAfterEnd is for how long an approval that has ended is still linked to its
// call: a run may be reported later than a person decides.
const LinkAfterEnd = time.Hour

// asks reports whether the call's input is that of the outside approval. Text that is not JSON has no digest and equals
// nothing.
func (c *OpenCall) asks(o OutsideCall) bool { return o.Digest != "" && c.Digest == o.Digest }

// older is the one that comes first in sequence; the id decides between two with
// the same, so that the order in which they come does not.
func older(a, b *OpenCall) *OpenCall {
	if a == nil || b.Sequence < a.Sequence || b.Sequence == a.Sequence && b.ID < a.ID {
		return b
	}
	return a
}
