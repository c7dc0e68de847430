package requests

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// ProposedField is the field of a form that approves a proposed edit: its vote.
const ProposedField = "proposed"

// FurtherField is its field with what the reader makes of the edit, and EditsFurtherField the button that approves it.
const (
	FurtherField      = "further"
	EditsFurtherField = "edits_further"
)

// ProposedEdit is an approval with an edit that others must approve too.
type ProposedEdit struct {
	ID       string
	Vote     string // names it in its form
	By       string // who proposes it; empty: the reader
	Behalf   string // for whom they do; empty: in their own right
	Must     string // who must approve it
	Change   ui.Block
	Input    ui.Code
	Sends    string // the input that approving it releases
	Approves bool   // the reader may
	UndoURL  string // takes it back; empty: it is not the reader's
	Signs    string // what the button reads; empty: Approve this edit

	Further   *ui.Field // the edit, to be edited further; nil: the reader may not, or it is too long
	Open      bool      // Further was sent, and has to be corrected
	Checklist Checklist
}

// approvers says who must approve a pending request, and why the reader may not.
func (v *Approval) approvers(in Input) {
	if !v.Pending {
		return
	}
	who := in.Approval.Approvers()
	v.MustApprove = models.RevealString(who.Must(), false)
	if in.MayDecide() && !in.Substitution.MayApprove {
		v.NoApprove = models.RevealString(cmp.Or(who.Refusal(in.Approval.OwnerID, in.Reader),
			"You can't approve this request."), false)
	}
	if v.Signatures != nil {
		v.signs(in)
	}
	if v.NoApprove != "" {
		v.EditJSON = "" // an edit is an approval
	}
	if in.Around != nil && v.Held == "" {
		for i := range in.Around.Proposals {
			v.Proposals = append(v.Proposals, newProposedEdit(v, in, &in.Around.Proposals[i]))
		}
	}
	v.editsFurther()
}

// editsFurther makes the editors of the edits that the reader may approve. A text typed into one, and its error, are
// shown in it alone.
func (v *Approval) editsFurther() {
	for i := range v.Proposals {
		p := &v.Proposals[i]
		text := inputs.Editable(p.Sends)
		if !p.Approves || text == "" {
			continue
		}
		p.Further = &ui.Field{
			ID: p.ID + "-further", Name: FurtherField, Label: "Input as JSON", Type: "textarea", Rows: editRows(text), Mono: true,
			Value: text,
		}
		if v.Form.Proposals != p.Vote || v.Form.Further == nil {
			continue
		}
		p.Further.Value, p.Further.Error = *v.Form.Further, v.Form.Errors["input"]
		p.Open = p.Further.Error != "" || p.Further.Value != text
		v.Form.Errors = maps.Clone(v.Form.Errors)
		delete(v.Form.Errors, "input")
	}
}

// signs is approvers where several people sign: why the reader may not, and the edit that is signed in the place of
// the input.
func (v *Approval) signs(in Input) {
	v.MustApprove = v.Signatures.signedLine()
	v.glass(in)
	if v.NoApprove != "" {
		v.NoApprove = models.RevealString(cmp.Or(in.Substitution.Why, v.NoApprove), false)
	}
	edit := signedEdit(v, in)
	if edit == nil {
		return
	}
	v.Proposals = []ProposedEdit{*edit}
	if v.NoApprove == "" {
		v.NoApprove = "Somebody has edited the input, and signatures count for the edit: approve that, below."
	}
}

func newProposedEdit(v *Approval, in Input, vote *models.Vote) ProposedEdit {
	who, _ := vote.Waits()
	p := ProposedEdit{
		ID: v.Anchor("proposed-" + string(vote.ID)), Vote: string(vote.ID), By: vote.UserName, Behalf: vote.BehalfName,
		Must: models.RevealString(who.Must(), false), Sends: words.Deref(vote.Input),
		Approves: in.Substitution.Releases[vote.ID],
	}
	p.Input = ui.Code{ID: p.ID + "-input", Label: "Input as edited", Text: inputs.IndentJSON(p.Sends), Numbers: true}
	p.Change = ui.DiffOf("What the edit changes", inputs.IndentJSON(in.Approval.ToolInputJSON), p.Input.Text)
	if vote.UserID == in.Reader.ID {
		p.By, p.UndoURL = "", views.UndoURL(v.ID)
	}
	return p
}

// proposedState changes when a reader must look at the proposed edits again.
func (v Approval) proposedState() string {
	var ids []string
	for _, p := range v.Proposals {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, ",")
}

// Signatures say of a request that several people sign who must, who has, and who can.
type Signatures struct {
	Progress string // such as “1 of 3”
	Lead     string // whom it waits for
	Wanted   []WantedFrom
	Any      bool // one of Wanted will do
	Steps    bool // they are steps, in order
	Signed   []SignedBy
	Rejects  []SignedBy
	Together int    // how many reject it together
	TooFew   bool   // not enough people are left
	Next     string // what the reader's signature makes of the progress, for the button
	Runs     bool   // theirs is the last
	UndoURL  string // takes the reader's own signature back; empty: there is none
	Mine     string // what the reader has said: signed, or rejected
	Editor   string // who edited the input after the reader had signed it
}

// WantedFrom is one entry of them.
type WantedFrom struct {
	Text   string // such as “2 of finance”
	Have   int
	Met    bool
	Waits  bool // a step whose turn has not come
	Signed []SignedBy
	Can    []Signer
	Cannot []Signer
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
	s := in.Substitution.Ballot
	if s == nil || !v.Pending {
		return nil
	}
	out := &Signatures{
		Progress: s.Tally.Progress(), Lead: models.RevealString(s.WaitsFor, false), Any: s.Any, Steps: s.Stages,
		TooFew: in.Approval.StrandedAt != nil, Together: s.Rejects(), Editor: in.Substitution.Editor,
		Next: in.Substitution.After.Progress(), Runs: in.Substitution.After.Met,
	}
	for i := range s.Votes {
		vote := &s.Votes[i]
		said, list := "signed", &out.Signed
		if vote.Verdict == models.VerdictReject {
			said, list = "rejected", &out.Rejects
		}
		*list = append(*list, signedBy(vote, s.Lost[vote.ID], now))
		if vote.UserID == in.Reader.ID {
			out.UndoURL, out.Mine = views.UndoURL(v.ID), said
		}
	}
	for i, e := range s.Entries {
		w := WantedFrom{
			Text: models.RevealString(e.String(), false), Have: s.Tally.Of[i], Met: s.Tally.Of[i] >= e.Count,
			Waits: s.Stages && i > s.Tally.Step && s.Tally.Of[i] < e.Count,
		}
		for _, seat := range in.Substitution.Seats[i] {
			switch {
			case seat.Signed != nil:
				w.Signed = append(w.Signed, signedBy(seat.Signed, s.Lost[seat.Signed.ID], now))
			case seat.Why != "":
				w.Cannot = append(w.Cannot, Signer{Name: seat.Name, Why: seat.Why})
			default:
				w.Can = append(w.Can, Signer{Name: seat.Name, Substitute: seat.Substitute})
			}
		}
		out.Wanted = append(out.Wanted, w)
	}
	if len(s.Entries) == 0 {
		out.Wanted = []WantedFrom{{
			Text: "Anybody who may approve it, but not the agent's owner alone", Have: s.Tally.Have, Signed: out.Signed,
		}}
	}
	return out
}

func signedBy(v *models.Vote, isLost bool, now time.Time) SignedBy {
	return SignedBy{By: v.UserName, Behalf: v.BehalfName, At: views.Ago(v.At, now), Lost: isLost, Reason: v.Reason}
}

// signedEdit is the edit that people sign in the place of the input; nil: they sign the input.
func signedEdit(v *Approval, in Input) *ProposedEdit {
	s := in.Substitution.Ballot
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
	case v.Signatures == nil:
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
	for _, one := range s.Signed {
		parts = append(parts, one.By+one.Behalf)
	}
	return strings.Join(parts, "|")
}

// says reports whether it is said already why the reader may not sign.
func (s *Signatures) says() bool { return s != nil && (s.UndoURL != "" || s.Editor != "") }

// signedLine says in one sentence how far it has come.
func (s *Signatures) signedLine() string {
	if s.TooFew {
		return s.Progress + " signed. Not enough people are left who could sign it: it takes " + s.Lead + "."
	}
	if len(s.Signed) == 0 {
		return s.Progress + " signed; waiting for " + s.Lead + "."
	}
	who := make([]string, len(s.Signed))
	for i, one := range s.Signed {
		who[i] = models.RevealString(one.By, false)
	}
	return s.Progress + " signed: " + strings.Join(who, ", ") + "; waiting for " + s.Lead + "."
}

// BreakGlassField is the field of a form by which one person decides alone what several sign.
const BreakGlassField = "break_glass"

// Glass is the form by which one person decides alone.
type Glass struct {
	Approves  models.Verdict // what the button sends
	Input     string         // the edited input that is signed now; empty: that of the request
	Rejects   bool           // one rejection is not enough otherwise
	Reason    ui.Field
	Open      bool // it was sent, and has to be corrected
	Checklist Checklist
}

// glass makes the form. A text that was sent by it is shown in it, and not in the form of a signature.
func (v *Approval) glass(in Input) {
	if !in.Substitution.BreaksGlass || v.Held != "" || v.Closed != "" {
		return
	}
	g := &Glass{
		Approves: models.VerdictApprove, Rejects: v.Signatures.Together > 1,
		Reason: ui.Field{
			ID: v.Anchor("glass-reason"), Name: "reason", Label: "Why it can't wait", Type: "textarea", Rows: 2, Required: true,
			Help:      "At least " + strconv.Itoa(models.MinGlassReason) + " letters. The agent, the others and the record get it.",
			MaxLength: strconv.Itoa(models.MaxReason),
		},
	}
	if edit := in.Substitution.Ballot.Edit; edit != nil {
		g.Approves, g.Input = ApproveAsEdited, words.Deref(edit.Input)
	}
	if v.Form.Glass {
		g.Open, g.Reason.Value, g.Reason.Error = true, v.Form.Reason, v.Form.Errors["reason"]
		v.Form.Reason, v.Form.Errors = "", maps.Clone(v.Form.Errors)
		delete(v.Form.Errors, "reason")
	}
	v.Glass = g
}

// Broken is what the page says of a decision that broke glass.
type Broken struct {
	By         string
	Skipped    []string
	May        bool   // the reader may acknowledge it
	Reader     string // who acknowledged it; empty: no one yet
	ReaderTime views.Moment
	Remark     string
}

func (b *Broken) says() string {
	if len(b.Skipped) == 0 {
		return "decided this alone."
	}
	return "decided this alone, without "
}

// newBroken is what a vote says of that; nil: it broke no glass.
func newBroken(v *models.Vote, in Input, now time.Time) *Broken {
	if v == nil || !v.BrokeGlass() {
		return nil
	}
	reader := models.Actor{Kind: models.ActorUser, ID: string(in.Reader.ID), Admin: in.Admin}
	out := &Broken{By: v.UserName, May: v.MayAcknowledge(reader), Reader: v.AcknowledgedName, Remark: v.Remark}
	for _, p := range v.Skipped() {
		out.Skipped = append(out.Skipped, p.Name)
	}
	if v.AcknowledgedAt != nil {
		out.ReaderTime = views.Ago(*v.AcknowledgedAt, now)
	}
	return out
}
