package requests

import (
	"cmp"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Signatures say of a request that several people sign who must, who has, and who can.
type Signatures struct {
	Progress string // such as “1 of 3”
	Lead     string // whom it waits for
	Wanted   []WantedFrom
	Any      bool // one of Wanted will do
	Steps    bool // they are steps, in order
	Rejects  []SignedBy
	Together int    // how many reject it together
	Stranded bool   // not enough people are left
	Next     string // what the reader's signature makes of the progress, for the button
	Runs     bool   // theirs is the last
	UndoURL  string // takes the reader's own signature back; empty: there is none
	Mine     string // what the reader has said: signed, or rejected
	Replaced string // who edited the input after the reader had signed it
}

// WantedFrom is one entry of them.
type WantedFrom struct {
	Text     string // such as “2 of finance”
	Have     int
	Met      bool
	Waits    bool // a step whose turn has not come
	Signed   []SignedBy
	Can      []Signer
	Cannot   []Signer
	MoreText string
}

// SignedBy is a signature.
type SignedBy struct {
	By, Behalf string
	At         views.Moment
	Lost       bool // who signed may not any more
	Reason     string
}

// Signer is somebody who may sign, or why they can't, or who may for them.
type Signer struct{ Name, Why, Substitute string }

func newSignatures(v *Approval, in Input, now time.Time) *Signatures {
	s := in.Substitution.Signing
	if s == nil || !v.Pending {
		return nil
	}
	out := &Signatures{
		Progress: s.Count.Progress(), Lead: models.RevealString(s.WaitsFor, false), Any: s.Any, Steps: s.Stages,
		Stranded: in.Approval.StrandedAt != nil, Runs: in.Substitution.Last, Together: s.Rejects(),
	}
	out.Next = models.Count{Have: s.Count.Have + 1, Need: max(s.Count.Need, s.Count.Have+1)}.Progress()
	for i := range s.Votes {
		vote := &s.Votes[i]
		if vote.UserID == in.Reader.ID {
			out.UndoURL, out.Mine = views.UndoURL(v.ID), "signed"
			if vote.Verdict == models.VerdictReject {
				out.Mine = "rejected"
			}
		}
		if vote.Verdict == models.VerdictReject {
			out.Rejects = append(out.Rejects, signedBy(vote, true, now))
		}
	}
	if in.Substitution.Replaced != nil {
		out.Replaced = in.Substitution.Editor
	}
	counts := map[models.VoteID]bool{}
	for i := range s.Votes {
		counts[s.Votes[i].ID] = s.Counts[i]
	}
	for i, e := range s.Entries {
		w := WantedFrom{
			Text: models.RevealString(e.String(), false), Have: s.Count.Of[i], Met: s.Count.Of[i] >= e.Count,
			Waits: s.Stages && i > s.Count.Step && s.Count.Of[i] < e.Count,
		}
		for k := range in.Substitution.Seats[i] {
			w.add(&in.Substitution.Seats[i][k], counts, now)
		}
		out.Wanted = append(out.Wanted, w)
	}
	return out
}

func (w *WantedFrom) add(seat *models.Seat, counts map[models.VoteID]bool, now time.Time) {
	switch {
	case seat.Signed != nil:
		w.Signed = append(w.Signed, signedBy(seat.Signed, counts[seat.Signed.ID], now))
	case seat.Why != "":
		w.Cannot = append(w.Cannot, Signer{Name: seat.Name, Why: seat.Why})
	default:
		w.Can = append(w.Can, Signer{Name: seat.Name, Substitute: seat.Substitute})
	}
}

func signedBy(v *models.Vote, counts bool, now time.Time) SignedBy {
	return SignedBy{By: v.UserName, Behalf: v.BehalfName, At: views.Ago(v.At, now), Lost: !counts, Reason: v.Reason}
}

// signedEdit is the edit that people sign in the place of what was asked; nil: they sign that.
func signedEdit(v *Approval, in Input) *ProposedEdit {
	s := in.Substitution.Signing
	if s == nil || s.Edit == nil || v.Held != "" {
		return nil
	}
	vote := s.Edit
	p := &ProposedEdit{
		ID: v.Anchor("proposed-" + string(vote.ID)), Vote: string(vote.ID), By: vote.UserName, Behalf: vote.BehalfName,
		Must: "Signatures count for the edit now, and for nothing else.", Sends: words.Deref(vote.Input),
		Approves: in.Substitution.MayApprove, Signs: v.approveLabel("Approve this edit"),
	}
	p.Input = ui.Code{ID: p.ID + "-input", Label: "Input as edited", Text: inputs.IndentJSON(p.Sends), Numbers: true}
	p.Change = ui.DiffOf("What the edit changes", inputs.IndentJSON(in.Approval.ToolInputJSON), p.Input.Text)
	if vote.UserID == in.Reader.ID {
		p.By = ""
	}
	return p
}

// approveLabel is what the button that approves reads: what the reader's signature does.
func (v Approval) approveLabel(label string) string {
	switch {
	case v.Signatures == nil || v.Signatures.Progress == "":
		return label
	case v.Signatures.Runs:
		return label + " and run (" + v.Signatures.Next + ")"
	}
	return label + " (" + v.Signatures.Next + ")"
}

// state changes when a reader must look again: who has signed what.
func (s *Signatures) state() string {
	if s == nil {
		return ""
	}
	parts := []string{s.Progress, s.Lead, s.Mine}
	for _, w := range s.Wanted {
		for _, one := range w.Signed {
			parts = append(parts, one.By+one.Behalf)
		}
	}
	return strings.Join(parts, "|")
}

// says reports whether it is said already why the reader may not sign.
func (s *Signatures) says() bool { return s != nil && (s.UndoURL != "" || s.Replaced != "") }

// signedLine says in one sentence how far it has come.
func (s *Signatures) signedLine() string {
	if s.Stranded {
		return s.Progress + " signed. Not enough people are left who could sign it: it takes " + s.Lead + "."
	}
	var who []string
	for _, w := range s.Wanted {
		for _, one := range w.Signed {
			who = append(who, models.RevealString(cmp.Or(one.By), false))
		}
	}
	if len(who) == 0 {
		return s.Progress + " signed; waiting for " + s.Lead + "."
	}
	return s.Progress + " signed: " + strings.Join(who, ", ") + "; waiting for " + s.Lead + "."
}
