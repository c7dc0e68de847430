package policy

import (
	"fmt"
	"time"
)

// Two switches let calls through without a person, and each may have an end: a time from
// which on it counts for nothing, whether or not anybody has written that down (I3, I11).

// How far away the end of a switch may be when it is set. A later one would be no end that
// anybody waits for, and is said by leaving it out.
const (
	LeastUntil  = time.Minute
	MaxOffDays  = 30
	untilWanted = "choose a time from 1 minute to 30 days from now"
)

// switchMembers are the names of a switch and its end.
type switchMembers struct{ flag, until string }

var switches = [...]switchMembers{
	{"approval_enabled", "approval_off_until"},
	{"fallback_auto_approve", "fallback_until"},
}

// GateOff reports whether at a time tool calls go through without a person, but for those
// that a rule denies.
func (d Document) GateOff(at time.Time) bool {
	return !d.ApprovalEnabled && lasts(d.ApprovalOffUntil, at)
}

// FallbackOn reports whether at a time our own clients go on when no server answers.
func (d Document) FallbackOn(at time.Time) bool {
	return d.FallbackAutoApprove && lasts(d.FallbackUntil, at)
}

// GateOff is that of the document.
func (p *Policy) GateOff(at time.Time) bool { return p.doc.GateOff(at) }

// FallbackOn is that of the document.
func (p *Policy) FallbackOn(at time.Time) bool { return p.doc.FallbackOn(at) }

// FallbackUntil is when the fallback ends; nil: it has no end. It belongs to the policy and
// must not be written to.
func (p *Policy) FallbackUntil() *time.Time { return p.doc.FallbackUntil }

// lasts reports whether a switch with this end is still on. An unknown time is behind every end, so that nothing runs
// because of it.
func lasts(until *time.Time, at time.Time) bool {
	return until == nil || !at.IsZero() && at.Before(*until)
}

// NextEnd is the earliest end of a switch; false: there is none.
func (d Document) NextEnd() (end time.Time, ok bool) {
	for _, until := range []*time.Time{d.ApprovalOffUntil, d.FallbackUntil} {
		if until != nil && (!ok || until.Before(end)) {
			end, ok = *until, true
		}
	}
	return end, ok
}

// NextEnd is that of the document.
func (p *Policy) NextEnd() (end time.Time, ok bool) { return p.doc.NextEnd() }

// Ended is the document as it counts at a time: a switch whose end has passed is back, and
// its end is gone. gate and fallback say which that is.
func (d Document) Ended(at time.Time) (now Document, gate, fallback bool) {
	gate = !d.ApprovalEnabled && !lasts(d.ApprovalOffUntil, at)
	fallback = d.FallbackAutoApprove && !lasts(d.FallbackUntil, at)
	if gate {
		d.ApprovalEnabled, d.ApprovalOffUntil = true, nil
	}
	if fallback {
		d.FallbackAutoApprove, d.FallbackUntil = false, nil
	}
	return d, gate, fallback
}

// CheckEnds refuses ends that the document before does not have, and that are not at least
// a minute and at most 30 days away: CodeInvalid, with their paths.
func (d Document) CheckEnds(before Document, now time.Time) error {
	found := problems{}
	for i, pair := range [...][2]*time.Time{
		{d.ApprovalOffUntil, before.ApprovalOffUntil}, {d.FallbackUntil, before.FallbackUntil},
	} {
		until, was := pair[0], pair[1]
		if until == nil || was != nil && was.Equal(*until) {
			continue
		}
		if text := EndProblem(*until, now); text != "" {
			found[switches[i].until] = text
		}
	}
	if len(found) > 0 {
		return invalid(found)
	}
	return nil
}

// EndProblem says why a new end of a switch is refused at now; empty: it is not.
func EndProblem(until, now time.Time) string {
	switch rest := until.Sub(now); {
	case rest <= 0:
		return "is in the past: " + untilWanted
	case rest < LeastUntil:
		return "is less than a minute away: " + untilWanted
	case rest > MaxOffDays*24*time.Hour:
		return fmt.Sprintf("is more than %d days away: %s, or no end", MaxOffDays, untilWanted)
	}
	return ""
}

// Timely is the document as it is saved at a time behind the one before: a switch that ended
// there does not go on, and ends that are new are checked as by CheckEnds.
func (d Document) Timely(before Document, now time.Time) (Document, error) {
	if err := d.CheckEnds(before, now); err != nil {
		return Document{}, err
	}
	d, _, _ = d.Ended(now)
	return d, nil
}

// ends checks an end for mistakes at any time.
func (c *checker) ends(d Document) {
	for i, end := range [...]struct {
		until *time.Time
		set   bool
		needs string
	}{
		{d.ApprovalOffUntil, !d.ApprovalEnabled, "false"},
		{d.FallbackUntil, d.FallbackAutoApprove, "true"},
	} {
		switch path := switches[i].until; {
		case end.until == nil:
		case !end.set:
			c.add(path, "is only allowed beside %s: %s", switches[i].flag, end.needs)
		case end.until.Nanosecond() != 0:
			c.add(path, "must be in whole seconds, such as %s", exampleTime)
		}
	}
}

// exampleTime is a time as it is written.
const exampleTime = "2026-03-02T18:00:00Z"

// utc is a time as it is stored: the same time always gives the same document.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

// untilText is an end in words for people.
func untilText(t *time.Time) string {
	if t == nil {
		return none
	}
	return SpokenEnd(*t)
}

// SpokenEnd is the end of a switch in words for people, where a page can't show it in their
// own time.
func SpokenEnd(t time.Time) string {
	if t.Second() == 0 {
		return t.UTC().Format("2006-01-02 15:04 UTC")
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// spokenUntil is the end of a switch behind what it does; empty: there is none.
func spokenUntil(t *time.Time) string {
	if t == nil {
		return ""
	}
	return " until " + SpokenEnd(*t)
}
