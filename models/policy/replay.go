package policy

import (
	"cmp"
	"slices"
	"strings"

	"countersign/models"
)

// Outcome is what becomes of a call, as far as replaying compares it.
type Outcome struct {
	Effect Effect
	Rule   string // as in Judgement
	Terms  string // of a call that waits: its risk, who may approve, how long; in words
}

// Shift is what two policies say of one call, where that differs.
type Shift struct{ Old, New Outcome }

// SameEffect reports whether the call waits under both, on other terms.
func (s Shift) SameEffect() bool { return s.Old.Effect == s.New.Effect }

// Compare judges a call by two policies. changed says that something else becomes of it;
// judged is false where a condition can't be judged because the contents were removed.
func Compare(old, next *Policy, c Call) (s Shift, differs, ok bool) {
	a, b := old.Judge(c), next.Judge(c)
	if c.Facts.Removed && (a.Unjudged || b.Unjudged) {
		return Shift{}, false, false
	}
	s = Shift{outcomeOf(a), outcomeOf(b)}
	return s, s.Old.Effect != s.New.Effect || s.Old.Terms != s.New.Terms, true
}

func outcomeOf(j Judgement) Outcome {
	o := Outcome{Effect: j.Effect, Rule: j.Rule}
	if j.Effect == EffectRequire {
		o.Terms = termsOf(j)
	}
	return o
}

// termsOf says on what terms a call waits.
func termsOf(j Judgement) string {
	parts := []string{"risk " + riskText(j.Risk)}
	if j.Timeout != nil {
		parts = append(parts, minutesText(j.Timeout)+" min")
	}
	if len(j.Reviewers) > 0 {
		who := "asks "
		if j.ReviewersOnly && j.Only == nil {
			who = "only "
		}
		parts = append(parts, who+strings.Join(slices.Sorted(slices.Values(j.Reviewers)), ", "))
	}
	if j.Only != nil {
		parts = append(parts, "only "+strings.Join(slices.Sorted(slices.Values(j.Only)), ", "))
	}
	if j.quorate() {
		parts = append(parts, "signed by "+j.Quorum.text())
	}
	switch j.SelfApproval {
	case models.SelfNever:
		parts = append(parts, "not the agent's owner")
	case models.SelfNotAlone:
		parts = append(parts, "the agent's owner not alone")
	case models.SelfAllowed:
	}
	if len(j.Escalate) > 0 {
		parts = append(parts, "then asks "+stepsText(j.Escalate))
	}
	if j.NoSubstitutes {
		parts = append(parts, "no substitutes")
	}
	if j.WhenBusy != "" {
		parts = append(parts, "when busy: "+string(j.WhenBusy))
	}
	if j.AtMost != nil {
		parts = append(parts, "at most "+minutesText(j.AtMost)+" min")
	}
	if len(j.Checklist) > 0 {
		parts = append(parts, "checklist: "+strings.Join(j.Checklist, "; "))
	}
	return strings.Join(parts, ", ")
}

// ShiftGroup counts the calls of one tool with which the same happens.
type ShiftGroup struct {
	Shift

	Tool  string
	Calls int
}

// Tally counts what changes.
type Tally struct {
	Calls    int // that were judged, or could not be
	Changed  int
	Effects  int // of them, those with another effect
	Unjudged int // contents were removed that a condition reads

	groups map[ShiftGroup]int
}

// Add counts one call.
func (t *Tally) Add(tool string, s Shift, differs, ok bool) {
	t.Calls++
	switch {
	case !ok:
		t.Unjudged++
	case differs:
		t.Changed++
		if !s.SameEffect() {
			t.Effects++
		}
		if t.groups == nil {
			t.groups = map[ShiftGroup]int{}
		}
		t.groups[ShiftGroup{Shift: s, Tool: tool}]++
	}
}

// Join adds what another counted.
func (t *Tally) Join(other *Tally) {
	t.Calls += other.Calls
	t.Changed += other.Changed
	t.Effects += other.Effects
	t.Unjudged += other.Unjudged
	for g, n := range other.groups {
		if t.groups == nil {
			t.groups = map[ShiftGroup]int{}
		}
		t.groups[g] += n
	}
}

// Groups are the changes by what happens, rule and tool: other effects before other terms,
// and the most calls first.
func (t *Tally) Groups() []ShiftGroup {
	out := make([]ShiftGroup, 0, len(t.groups))
	for g, n := range t.groups {
		g.Calls = n
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b ShiftGroup) int {
		same := func(s Shift) int {
			if s.SameEffect() {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(same(a.Shift), same(b.Shift)), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(a.New.Rule, b.New.Rule), cmp.Compare(a.Old.Rule, b.Old.Rule), cmp.Compare(a.New.Terms, b.New.Terms))
	})
	return out
}

// HasConditions reports whether a rule that is not disabled has one.
func (p *Policy) HasConditions() bool { return p.conditional }

// Turned is how many calls get this effect that had another.
func (t *Tally) Turned(e Effect) int {
	n := 0
	for g, calls := range t.groups {
		if g.New.Effect == e && !g.SameEffect() {
			n += calls
		}
	}
	return n
}
