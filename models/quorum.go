package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Quorum is what a rule demands of several people, frozen at the ask (I12). Each entry is met by
// distinct people; no one counts twice in a request, in their own name or in another's.
type Quorum struct {
	Entries []Signers `json:"entries,omitempty"` // none: one person who may approve
	// Any: one of the entries will do. Stages: the entries are steps, in order.
	Any    bool `json:"any,omitzero"`
	Stages bool `json:"stages,omitzero"`
	// NotAlone: the agent's owner may be one of those who sign, and not the only one.
	NotAlone     bool `json:"not_alone,omitzero"`
	RejectCount  int  `json:"reject_count,omitzero"` // how many reject it together; 0: one
	ShowProgress bool `json:"show_progress,omitzero"`
	// Until is the request's own deadline, where that of a step may be earlier.
	Until time.Time `json:"until,omitzero"`
}

// Signers are how many of some people must sign.
type Signers struct {
	From    []Approver `json:"from"`
	Count   int        `json:"count"`
	Minutes int        `json:"minutes,omitzero"` // that the step may take; 0: as long as the request
}

// Signer is somebody who has signed a request, or might.
type Signer struct {
	Voter // whose signature it is: that of the person for whom somebody signs

	By   UserID // who signs
	Self bool   // they own the agent or the conversation
}

// Count is how far signatures meet a quorum.
type Count struct {
	Have, Need int
	Met        bool
	Step       int   // of stages: the entry that waits, from 0; without stages 0
	Of         []int // how many signatures each entry has, in one assignment that has most
}

// Quorum is what several people must do to approve the request; nil: one approves it.
func (r *Response) Quorum() *Quorum {
	if r.QuorumJSON == "" {
		return nil
	}
	q := &Quorum{}
	if err := json.Unmarshal([]byte(r.QuorumJSON), q); err != nil {
		// The store wrote it. No one can meet a quorum that can't be read.
		return &Quorum{Entries: []Signers{{Count: 1}}}
	}
	return q
}

// SetQuorum freezes what several people must do.
func (r *Response) SetQuorum(q *Quorum) {
	r.QuorumJSON = ""
	if q == nil {
		return
	}
	if raw, err := json.Marshal(q); err == nil { // texts, numbers and a time always encode
		r.QuorumJSON = string(raw)
	}
}

// EndStepsAt keeps the request's own deadline, where that of its first step is earlier.
func (r *Response) EndStepsAt(deadline time.Time) {
	q := r.Quorum()
	q.Until = deadline
	r.SetQuorum(q)
}

// Rejects is how many people reject the request together.
func (q *Quorum) Rejects() int { return max(q.RejectCount, 1) }

// counts are how many signatures the entries want.
func (q *Quorum) counts() []int {
	if len(q.Entries) == 0 {
		return []int{1}
	}
	out := make([]int, len(q.Entries))
	for i, e := range q.Entries {
		out[i] = e.Count
	}
	return out
}

// fits reports whether somebody's signature can count for an entry.
func (q *Quorum) fits(s Signer, entry int) bool {
	return len(q.Entries) == 0 ||
		slices.ContainsFunc(q.Entries[entry].From, func(a Approver) bool { return a.is(s.Voter) })
}

// Takes reports whether somebody's signature can count for any entry.
func (q *Quorum) Takes(s Signer) bool {
	for i := range q.counts() {
		if q.fits(s, i) {
			return true
		}
	}
	return false
}

// Count is how far the signatures of distinct people meet the quorum: by an assignment of people
// to entries that has most of them, since somebody in two groups may be needed in either.
func (q *Quorum) Count(signers []Signer) Count {
	out := q.count(signers)
	if !q.NotAlone || !out.Met {
		return out
	}
	own := slices.DeleteFunc(slices.Clone(signers), func(s Signer) bool { return !s.Self })
	if !q.count(own).Met {
		return out // others are among those whom it takes
	}
	out.Need++ // somebody else besides
	if out.Met = slices.ContainsFunc(signers, func(s Signer) bool { return !s.Self && q.Takes(s) }); out.Met {
		out.Have++
	}
	return out
}

// count is Count without regard to who owns the agent.
func (q *Quorum) count(signers []Signer) Count {
	counts := q.counts()
	fits := func(person, entry int) bool { return q.fits(signers[person], entry) }
	var out Count
	switch {
	case q.Any:
		out = anyOf(counts, len(signers), fits)
	case q.Stages:
		out = inOrder(counts, len(signers), fits)
	default:
		out.Of = assign(counts, len(signers), fits)
		out.Have, out.Need = sum(out.Of), sum(counts)
		out.Met = out.Have == out.Need
	}
	return out
}

// anyOf counts where one entry will do: it is that which lacks least.
func anyOf(counts []int, people int, fits func(person, entry int) bool) Count {
	out := Count{Of: make([]int, len(counts))}
	for i, count := range counts {
		of := assign([]int{count}, people, func(p, _ int) bool { return fits(p, i) })[0]
		out.Of[i] = of
		if i == 0 || count-of < out.Need-out.Have {
			out.Have, out.Need = of, count
		}
	}
	out.Met = out.Have >= out.Need
	return out
}

// inOrder counts steps: one begins when those before it are met. A signature on a later one counts already: its giver
// made an edit, or one before was taken back.
func inOrder(counts []int, people int, fits func(person, entry int) bool) Count {
	out := Count{Of: assign(counts, people, fits), Need: sum(counts)}
	for out.Step = range counts {
		upTo := counts[:out.Step+1]
		if sum(assign(upTo, people, fits)) < sum(upTo) {
			break
		}
	}
	out.Have = sum(out.Of)
	out.Met = out.Have == out.Need
	return out
}

// Helps reports whether one more signature brings the quorum nearer: one that the entries which
// are open do not need yet, or not any more, does not. A quorum that is met while its request is pending lacks the
// signature that settles it: somebody could not sign for a time, and can again.
func (q *Quorum) Helps(signers []Signer, one Signer) bool {
	before := q.Count(signers)
	if !q.Takes(one) || slices.ContainsFunc(signers, one.SameAs) {
		return false
	}
	more := append(slices.Clone(signers), one)
	if q.Count(more).Met {
		return true
	}
	open := *q
	if q.Stages {
		open = Quorum{Entries: q.Entries[:before.Step+1]}
	}
	return sum(open.Count(more).Of) > sum(open.Count(signers).Of)
}

// SameAs reports whether two signatures are not of two people.
func (s Signer) SameAs(other Signer) bool {
	return s.ID == other.ID || s.ID == other.By || s.By == other.ID || s.By == other.By
}

// Distinct are the signatures of distinct people, the first of each.
func Distinct(signers []Signer) []Signer {
	var out []Signer
	for _, s := range signers {
		if !slices.ContainsFunc(out, s.SameAs) {
			out = append(out, s)
		}
	}
	return out
}

// Meetable reports whether some people could meet the quorum if all of them signed.
func (q *Quorum) Meetable(people []Signer) bool {
	return q.Count(Distinct(people)).Met
}

// assign gives people to entries so that as many as possible have a place: augmenting paths, as in
// every textbook on bipartite matching. It returns how many each entry has.
func assign(counts []int, people int, fits func(person, entry int) bool) []int {
	of := make([]int, len(counts))
	entry := make([]int, people) // of each person; -1: none
	for p := range entry {
		entry[p] = -1
	}
	var place func(person int, seen []bool) bool
	place = func(person int, seen []bool) bool {
		for e := range counts {
			if seen[e] || !fits(person, e) {
				continue
			}
			seen[e] = true
			if of[e] < counts[e] {
				entry[person] = e
				of[e]++
				return true
			}
			for other := range entry {
				if entry[other] != e {
					continue
				}
				// The place is free if who has it finds another.
				if place(other, seen) {
					of[e]--
					entry[person] = e
					of[e]++
					return true
				}
			}
		}
		return false
	}
	for p := range people {
		place(p, make([]bool, len(counts)))
	}
	return of
}

func sum(numbers []int) (out int) {
	for _, n := range numbers {
		out += n
	}
	return out
}

// Wants are the signatures that lack yet, in words that fit behind “waits for”.
func (q *Quorum) Wants(count Count) string {
	var open []string
	for i, e := range q.Entries {
		if q.Stages && i != count.Step || count.Of[i] >= e.Count {
			continue
		}
		e.Count -= count.Of[i]
		open = append(open, e.String())
	}
	switch {
	case len(open) == 0 && count.Have == 0:
		return "an approval"
	case len(open) == 0 && !count.Met:
		return "somebody who does not own the agent"
	case len(open) == 0:
		return "one of them to sign again"
	case q.Any:
		return AnyOf(open)
	}
	return AllOf(open)
}

// Progress is it in a few words, such as “2 of 3”.
func (c Count) Progress() string { return fmt.Sprintf("%d of %d", c.Have, c.Need) }

// Reviewers names them as a rule does.
func (e Signers) Reviewers() []string { return Approvers{Named: e.From}.Reviewers() }

// String says what an entry wants, such as “2 of finance”.
func (e Signers) String() string {
	names := make([]string, len(e.From))
	for i, a := range e.From {
		names[i] = cmp.Or(a.Group, a.Email)
	}
	return fmt.Sprintf("%d of %s", e.Count, strings.Join(names, ", "))
}

// MinGlassReason is how many letters the reason has at least for which somebody breaks glass.
const MinGlassReason = 20

// Signed is Vote.WaitsFor of a signature, and of a rejection, that waits for those of others.
const Signed = "{}"

// Ballot is how far a pending request has come that several people must sign.
type Ballot struct {
	Quorum

	Tally    Count
	Votes    []Vote          // signatures and rejections that wait for others, oldest first
	Lost     map[VoteID]bool // the signatures that do not count now: who gave them may not sign any more
	Edit     *Vote           // the one with the input that is signed; nil: as it was asked
	WaitsFor string          // whose signatures are wanted next
	Glass    Signers         // each may decide alone
}
