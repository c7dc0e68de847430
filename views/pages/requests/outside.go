package requests

import (
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
)

// drawSource puts the source into the input's frame where the blocks draw every member whole. There it is closed
// only where the risk is known to be low or medium and there is nothing to warn of (I13).
func (v *Approval) drawSource(r *models.Response, input inputs.View) {
	low := r.Risk == models.RiskLow || r.Risk == models.RiskMedium
	v.DrawnWhole = r.Kind == models.KindToolCall && len(v.Blocks) > 0 && input.DrawnWhole()
	v.SourceOpen = !low || len(v.Warnings) > 0
}

// outside fills in the differences where another system asks.
func (v *Approval) outside(in Input) {
	a, o := &in.Approval, in.Origin
	v.OutsideID, v.OutsideCall = o.ApprovalID, words.Deref(a.CallID)
	v.Origin, v.Outside, v.Hears = inputs.NewOrigin(o, a.AgentName), a.UpstreamID != nil, inputs.Through(o)
	if a.InputBytes != nil {
		v.EditJSON = ""
		v.Closed = "You can only reject this: the input has " + views.Number(*a.InputBytes) +
			" bytes and only part of it was kept, so nobody can see everything that would run."
	}
	told := o
	told.Delivery, told.Withdrawals = nil, nil // they have places of their own
	v.Notes, v.Linked = inputs.OriginNotes(told), inputs.NewLinked(o, "")
	if !v.Outside {
		return
	}
	v.EditJSON = ""
	if beside, ok := inputs.BesideInput(&a.Response, o.Beside, v.Hears); ok {
		v.Beside = v.folds.Of(beside, models.PartBeside)
	}
	if other, ok := inputs.OtherInput(&a.Response, v.Hears); ok {
		v.Other = v.folds.Of(other, models.PartOther)
		v.Blocks = nil // of what the agent reported, which is not what runs
		v.Whole.Label = "The input that " + models.RevealString(a.AgentName, false) + " reported"
	}
}
