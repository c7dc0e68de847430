package figures

import (
	"time"

	"countersign/models"
)

// Decision is a vote of a person, as far as it shows how they read.
type Decision struct {
	At, AskedAt time.Time
	Verdict     models.Verdict
	Chars       int // of the input or text to read; 0: it is not known any more
}

// How attention is looked at.
const (
	AttentionDays  = 90 // how far back
	MostDecisions  = 200
	MostApprovals  = 40 // the latest
	CharsPerSecond = 15 // that somebody reads

	leastFast   = 3
	leastStreak = 50
	leastShift  = 10 // decisions
	leastLast   = 5  // of them, in its last minute
	shiftPause  = 2 * time.Hour
)

// Attention is how a person reads, as far as their latest decisions show it: signals, told in words, that decide nothing.
// Counts below a least one are 0.
type Attention struct {
	Approvals int // that were looked at
	// Fast are those of them that came sooner than they can be read, since the ask or the person's decision before,
	// whichever came later. None took longer than Within, and each had at least Chars.
	Fast   int
	Within time.Duration
	Chars  int
	// Streak are the latest decisions without a rejection among them.
	Streak int
	// Hurry is the latest shift, which ends with a pause of two hours, of which many decisions came in the last minute.
	Hurry Hurry
}

// Hurry is a shift that ended in a hurry; the zero value: there is none.
type Hurry struct {
	End       time.Time
	Decisions int
	Last      int // of them, in its last minute
}

// Reads is how long so many characters take to read.
func Reads(chars int) time.Duration { return time.Duration(chars) * time.Second / CharsPerSecond }

// AttentionOf looks at a person's decisions, newest first, as of now.
func AttentionOf(decisions []Decision, now time.Time) Attention {
	var a Attention
	for i, d := range decisions {
		if d.Verdict == models.VerdictReject {
			break
		}
		a.Streak = i + 1
	}
	if a.Streak < leastStreak {
		a.Streak = 0
	}
	a.fast(decisions)
	a.hurry(decisions, now)
	return a
}

func (a *Attention) fast(decisions []Decision) {
	for i, d := range decisions {
		if d.Verdict != models.VerdictApprove || d.Chars == 0 {
			continue
		}
		if a.Approvals++; a.Approvals > MostApprovals {
			a.Approvals = MostApprovals
			break
		}
		since := d.AskedAt
		if i+1 < len(decisions) && decisions[i+1].At.After(since) {
			since = decisions[i+1].At
		}
		took := d.At.Sub(since)
		if took >= Reads(d.Chars) {
			continue
		}
		a.Within = max(a.Within, took)
		if a.Fast++; a.Fast == 1 || d.Chars < a.Chars {
			a.Chars = d.Chars
		}
	}
	if a.Fast < leastFast {
		a.Fast, a.Within, a.Chars = 0, 0, 0
	}
}

func (a *Attention) hurry(decisions []Decision, now time.Time) {
	later := now
	for i := 0; i < len(decisions); {
		end, from := decisions[i].At, i
		over := later.Sub(end) >= shiftPause
		i++
		for i < len(decisions) && decisions[i-1].At.Sub(decisions[i].At) < shiftPause {
			i++
		}
		later = decisions[i-1].At
		shift := Hurry{End: end, Decisions: i - from}
		for _, d := range decisions[from:i] {
			if end.Sub(d.At) < time.Minute {
				shift.Last++
			}
		}
		if over && shift.Decisions >= leastShift && shift.Last >= leastLast {
			a.Hurry = shift
			return
		}
	}
}
