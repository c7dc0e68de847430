package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// SelfApproval says whether an agent's owner may approve what the agent asks.
type SelfApproval string

// The values of SelfApproval.
const (
	SelfAllowed  SelfApproval = "allowed"   // also what the empty value means
	SelfNotAlone SelfApproval = "not_alone" // only if somebody else does too
	SelfNever    SelfApproval = "never"
)

// Approver is a person or a group whom a rule names.
type Approver struct {
	ID    UserID `json:"id,omitempty"`
	Email string `json:"email,omitempty"`
	// Group is a name: its members when they decide.
	Group string `json:"group,omitempty"`
	// As says why they are named; empty: the rule asks them, and they may approve.
	As NamedAs `json:"as,omitempty"`
	// Step is the one of the rule's escalation that asks them, After the minutes until then;
	// 0: they are asked from the beginning.
	Step  int `json:"step,omitzero"`
	After int `json:"after,omitzero"`
}

// NamedAs distinguishes the people of a rule from those of a template that the agent names: an agent limits who
// approves, and adds no one.
type NamedAs string

// The values of NamedAs where only one of both is so.
const (
	NamedToAsk   NamedAs = "asked" // asked, and may not approve
	NamedToLimit NamedAs = "limit" // may approve if they see the request, and is not asked
	// NamedForGlass may decide alone what several people sign, sees the request, and is not asked.
	NamedForGlass NamedAs = "glass"
	// NamedToRead sees the request, decides nothing, and is not asked.
	NamedToRead NamedAs = "read"
)

// beside reports whether somebody sees a request and is no part of who approves it.
func (as NamedAs) beside() bool { return as == NamedForGlass || as == NamedToRead }

// Voter is a person as a rule's demands see them.
type Voter struct {
	ID     UserID
	Groups []string // the names of those that they are in
}

// is reports whether a person is meant.
func (a Approver) is(who Voter) bool {
	if a.Group != "" {
		return slices.Contains(who.Groups, a.Group)
	}
	return a.ID == who.ID
}

// Approvers is what a rule demands of the person who approves. The zero value demands nothing: anyone who may see the
// request may approve it. It never limits a rejection.
type Approvers struct {
	ReviewersOnly bool         `json:"reviewers_only,omitzero"` // only those in Named
	SelfApproval  SelfApproval `json:"self_approval,omitempty"`
	// Named are the enabled people whom the rule names and who may approve, as of the
	// ask, and the groups that it names.
	Named []Approver `json:"named,omitempty"`
	// NoSubstitutes: no one acts for those who may approve.
	NoSubstitutes bool `json:"no_substitutes,omitzero"`
	// Quorum is how many must sign, and who; nil: one approves. It is stored beside.
	Quorum *Quorum `json:"-"`
}

// Limited reports whether not everybody who sees a request may approve it.
func (w Approvers) Limited() bool { return w.ReviewersOnly || w.SelfApproval == SelfNever }

// Allow reports whether a person may approve what an agent of the owner asks, if
// they may see it.
func (w Approvers) Allow(owner UserID, who Voter) bool {
	if w.SelfApproval == SelfNever && who.ID == owner {
		return false
	}
	return !w.ReviewersOnly || slices.ContainsFunc(w.Able(), func(a Approver) bool { return a.is(who) })
}

// Groups are the names of the groups in Named.
func (w Approvers) Groups() []string {
	var out []string
	for _, a := range w.Named {
		if a.Group != "" {
			out = append(out, a.Group)
		}
	}
	return out
}

// Asked are those in Named who are asked.
func (w Approvers) Asked() []Approver {
	return slices.DeleteFunc(slices.Clone(w.Named), func(a Approver) bool { return a.As == NamedToLimit || a.As.beside() })
}

// Asks reports whether a person is asked, as such or by a group that they are in.
func (w Approvers) Asks(who Voter) bool {
	return slices.ContainsFunc(w.Asked(), func(a Approver) bool { return a.is(who) })
}

// NamesGroup reports whether the members of a group are asked, or see the request beside those.
func (w Approvers) NamesGroup(name string) bool {
	return w.AsksGroup(name) || slices.ContainsFunc(w.Beside(), func(a Approver) bool { return a.Group == name })
}

// AsksGroup reports whether the members of a group are asked.
func (w Approvers) AsksGroup(name string) bool {
	return slices.ContainsFunc(w.Asked(), func(a Approver) bool { return a.Group == name })
}

// Able are those in Named who may approve.
func (w Approvers) Able() []Approver {
	return slices.DeleteFunc(slices.Clone(w.Named), func(a Approver) bool { return a.As == NamedToAsk || a.As.beside() })
}

// Beside are those in Named who see the request and are not asked, as plain names.
func (w Approvers) Beside() []Approver { return w.plain(NamedAs.beside) }

// ForGlass are those in Named who may break glass, as plain names.
func (w Approvers) ForGlass() []Approver {
	return w.plain(func(as NamedAs) bool { return as == NamedForGlass })
}

func (w Approvers) plain(which func(NamedAs) bool) (out []Approver) {
	for _, a := range w.Named {
		if which(a.As) {
			a.As = ""
			out = append(out, a)
		}
	}
	return out
}

// LetsBreakGlass reports whether a person is among those who may break glass.
func (w Approvers) LetsBreakGlass(who Voter) bool {
	return slices.ContainsFunc(w.ForGlass(), func(a Approver) bool { return a.is(who) })
}

// shownApprovers is how many people a sentence names.
const shownApprovers = 3

// Must says who must approve, as a sentence without its full stop; empty where
// everybody may who sees the request.
func (w Approvers) Must() string {
	if w.Quorum != nil && len(w.Quorum.Entries) > 0 {
		return "It takes the signatures of " + w.Quorum.Wants(w.Quorum.Count(nil))
	}
	names := make([]string, 0, shownApprovers+1)
	able := w.Able()
	for i, a := range able {
		if rest := len(able) - i; i == shownApprovers-1 && rest > 1 {
			names = append(names, fmt.Sprintf("%d others", rest))
			break
		}
		name := a.Email
		if a.Group != "" {
			name = a.Group
		}
		names = append(names, name)
	}
	switch {
	case !w.Limited() && w.SelfApproval == SelfNotAlone:
		return "The agent's owner can't approve alone"
	case !w.Limited():
		return ""
	case !w.ReviewersOnly && len(names) == 0:
		return "Only an admin who does not own the agent can approve"
	case !w.ReviewersOnly:
		names = append(names, "an admin")
	case len(names) == 0:
		return "Nobody is able to approve"
	}
	return "Only " + AnyOf(names) + " can approve"
}

// Refusal says in one line why a person may not approve; empty if they may.
func (w Approvers) Refusal(owner UserID, who Voter) string {
	switch {
	case w.Allow(owner, who):
		return ""
	case w.SelfApproval == SelfNever && who.ID == owner:
		return "You own this agent, so you can't approve its request. " + w.Must() + "."
	}
	return "You can't approve this request. " + w.Must() + "."
}

// Approvers is who may approve the request, frozen at the ask (I12). Those whom a later step
// of its escalation asks are not among them.
func (r *Response) Approvers() Approvers {
	w := r.frozen()
	if r.Escalates() {
		w.Named = slices.DeleteFunc(w.Named, func(a Approver) bool { return a.Step > r.Escalation })
	}
	return w
}

func (r *Response) frozen() Approvers {
	w := Approvers{ReviewersOnly: r.ReviewersOnly, SelfApproval: r.SelfApproval, NoSubstitutes: r.NoSubstitutes}
	if r.ApproversJSON != "" {
		// The store wrote it. Unreadable JSON names no one, which allows less.
		_ = json.Unmarshal([]byte(r.ApproversJSON), &w.Named)
	}
	if w.Quorum = r.Quorum(); w.Quorum != nil && w.Quorum.NotAlone {
		w.SelfApproval = SelfNotAlone
	}
	return w
}

// SetApprovers freezes who may approve the request.
func (r *Response) SetApprovers(w Approvers) {
	r.ReviewersOnly, r.SelfApproval, r.ApproversJSON = w.ReviewersOnly, w.SelfApproval, ""
	r.NoSubstitutes, r.Escalation = w.NoSubstitutes, 0
	if r.SelfApproval == "" || r.SelfApproval == SelfNotAlone { // the latter is part of Quorum
		r.SelfApproval = SelfAllowed
	}
	if len(w.Named) > 0 {
		raw, err := json.Marshal(w.Named)
		if err == nil { // two strings always encode
			r.ApproversJSON = string(raw)
		}
	}
}

// Admits reports whether somebody is named who sees the request and is not asked. It reads no JSON: each ask is judged
// by it.
func (r *Response) Admits() bool {
	return r.TakesGlass() || strings.Contains(r.ApproversJSON, `"as":"read"`)
}

// TakesGlass reports whether somebody is named who may break glass. It reads no JSON: each ask is judged by it.
func (r *Response) TakesGlass() bool { return strings.Contains(r.ApproversJSON, `"as":"glass"`) }

// MayApprove reports whether a person who sees the request may approve it as it
// was asked.
func (r *Response) MayApprove(who Voter) bool { return r.Approvers().Allow(r.OwnerID, who) }

// Waits are those who must approve an edit that this vote proposes; false where
// the vote counts alone.
func (v *Vote) Waits() (Approvers, bool) {
	var w Approvers
	if v.WaitsFor == "" {
		return w, false
	}
	_ = json.Unmarshal([]byte(v.WaitsFor), &w) // as Response.Approvers
	return w, true
}

// WaitFor keeps the vote from counting before somebody else has approved the same
// edit.
func (v *Vote) WaitFor(w Approvers) {
	if raw, err := json.Marshal(w); err == nil {
		v.WaitsFor = string(raw)
	}
}

// Reviewers names those in Named who may approve as a rule's reviewers do: people by e-mail, groups with
// their prefix; nil for none.
func (w Approvers) Reviewers() []string {
	var out []string
	for _, a := range w.Able() {
		if a.Group != "" {
			out = append(out, GroupReviewer(a.Group))
		} else {
			out = append(out, a.Email)
		}
	}
	return out
}
