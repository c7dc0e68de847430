package policies

import (
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// ProposalInput is a proposed policy with its reader.
type ProposalInput struct {
	Proposal *models.PolicyProposal // nil: there was none
	Reader   models.Actor
	Standing int64           // the active version
	Before   policy.Document // which it is
	After    policy.Document // as proposed
	Warnings []policy.Warning
	Replay   *policy.Tally // what it would have made of the last calls; nil: that is not known
	Now      time.Time

	Reason, Error string            // a form that is to be corrected, and why nothing was done
	Errors        map[string]string // by field
	Step          string            // which form that is
}

// Proposal shows a change of the policy that waits for admins to agree.
type Proposal struct {
	Waits            bool
	By, Note         string
	At               views.Moment
	Version          string // which it changes
	Digest           string
	Count            string // "1 of 2 admins agree: Ann"
	Changes          Changes
	Dangers          []Danger
	Warnings         []string
	Replay           string
	Error            string
	Stale            bool   // another version is active by now: it can't be saved any more
	Confirm          string // the button's words; empty: the reader does not agree to it
	Mine             bool   // they have already
	TakeBack, Reject bool
	Reason           ui.Field // why it is rejected
	Alone            *Solo
}

// Solo is how an admin does without the others.
type Solo struct {
	Who    string       // waits; empty: no one does
	Why    string       // they said
	From   views.Moment // when they may save it
	Wait   string       // how long one has to wait who begins
	Begin  bool         // the reader may begin to wait
	Save   bool         // the reader may save it now
	Reason ui.Field
}

// The acts on a proposal, and the field of its digest.
const (
	StepConfirm  = "confirm"
	StepReject   = "reject"
	StepTakeBack = "take-back"
	StepAlone    = "alone"
	StepSave     = "save"

	DigestField = "digest"
)

// NewProposal makes the page.
func NewProposal(in ProposalInput) Proposal {
	p := in.Proposal
	if p == nil {
		return Proposal{}
	}
	need, actor := in.Before.SavedBy(), in.Reader
	v := Proposal{
		Waits: p.Waits(), By: p.ByName, Note: p.Note, At: views.Ago(p.At, in.Now), Version: "v" + views.Number(p.Base), Digest: p.Digest,
		Count: agreed(p, need), Error: in.Error,
	}
	if !v.Waits {
		return v
	}
	v.Changes, v.Replay = newChanges(in.Before, in.After, in.Replay), replayedInOneLine(in.Replay)
	v.Dangers = dangers(in.Before, in.After, in.Now)
	for _, w := range in.Warnings[:min(len(in.Warnings), shownPolicyChanges)] {
		v.Warnings = append(v.Warnings, w.Text)
	}
	v.Stale, v.Mine = p.Base != in.Standing, p.SignedBy(actor.UserID())
	v.TakeBack = actor.UserID() == p.ByID
	v.Reject = actor.MayAdminister() && !v.TakeBack
	v.Reason = ui.Field{ID: "reject-reason", Name: "reason", Label: "Why", Required: true, MaxLength: "4000", Help: "For the person who proposed it."}
	if in.Step == StepReject {
		v.Reason.Value, v.Reason.Error = in.Reason, in.Errors["reason"]
	}
	if v.Stale {
		return v
	}
	if p.MayConfirm(actor) {
		v.Confirm = "Confirm and save as new version"
		if have := len(p.Signed()) + 1; have < need {
			v.Confirm = "Confirm (" + views.Count(have) + " of " + views.Count(need) + ")"
		}
	}
	v.Alone = soloOf(in, need)
	return v
}

func soloOf(in ProposalInput, need int) *Solo {
	p, actor := in.Proposal, in.Reader
	if need < 2 || p.AloneAt == nil && !actor.MayAdminister() {
		return nil
	}
	a := &Solo{Wait: views.Count(int(in.Before.AloneAfter().Minutes())) + " minutes", Begin: actor.MayAdminister()}
	a.Reason = ui.Field{ID: "alone-reason", Name: "reason", Label: "Why it can't wait for the others", Required: true, MaxLength: "4000", Help: "At least 20 letters. All admins are told it."}
	if in.Step == StepAlone {
		a.Reason.Value, a.Reason.Error = in.Reason, in.Errors["reason"]
	}
	if p.AloneAt != nil {
		from := p.AloneFrom(in.Before.AloneAfter())
		a.Who, a.Why, a.From = p.AloneName, p.AloneReason, views.Exact(from)
		mine := p.AloneBy == actor.UserID()
		a.Begin, a.Save = false, mine && actor.MayAdminister() && !in.Now.Before(from)
	}
	return a
}

// agreed says how many admins have agreed, and who.
func agreed(p *models.PolicyProposal, need int) string {
	var names []string
	for _, one := range p.Signed() {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	text := views.Count(len(names)) + " of " + views.Count(need) + " admins agree"
	if need == 1 {
		text = "An admin has to agree"
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}

// ProposalLine is what each page of the policy says of a proposal.
type ProposalLine struct{ Text, Link string }

// proposalLine is about one that waits, or that was not agreed to, for who proposed it; empty: there is none.
func proposalLine(p *models.PolicyProposal, reader models.Actor, need int) (l ProposalLine) {
	by := ""
	if p != nil {
		by = p.ByName
	}
	switch {
	case p.Waits():
		return ProposalLine{by + " proposes a change of the policy. " + agreed(p, need) + ".", "Look at it"}
	case p != nil && p.Outcome == models.ProposalRejected && p.ByID == reader.UserID():
		return ProposalLine{p.EndedName + " rejected the change that you proposed: " + p.EndedText, ""}
	}
	return l
}
