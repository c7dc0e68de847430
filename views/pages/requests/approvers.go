package requests

import (
	"cmp"
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// ProposedField is the field of a form that approves a proposed edit: its vote.
const ProposedField = "proposed"

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
	if in.Around == nil || v.Held != "" {
		return
	}
	for i := range in.Around.Proposals {
		v.Proposals = append(v.Proposals, newProposedEdit(v, in, &in.Around.Proposals[i]))
	}
}

// signs is approvers where several people sign: why the reader may not, and the edit that is signed in the place of
// what was asked.
func (v *Approval) signs(in Input) {
	v.MustApprove = v.Signatures.signedLine()
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
