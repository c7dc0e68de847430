package request

import (
	"strings"

	"countersign/models"
	"countersign/views/pages/requests"
)

// edit takes the edited input of an approval. An approval of the original beside
// changed fields is refused, so that no edit is dropped.
func (f VerdictForm) edit(a *models.Approval, in *models.DecisionInput) error {
	switch {
	case f.Verdict != models.VerdictApprove:
		return nil
	case f.values.Has(requests.ProposedField):
		return f.proposed(in)
	case a.Kind == models.KindBudget:
		return nil // the sum of a budget request is part of its form
	}
	whole, members := f.wholeChanged(a), f.membersChanged(a)
	switch {
	case !whole && !members:
		return nil
	case !f.edited:
		return models.Errorf(models.CodeInvalid,
			"Nothing was decided: you changed the input, and Approve would send the original. Press Approve as edited, or discard the edits.")
	case whole && members:
		return models.Invalid("input", "was changed here and in the fields: keep one of the changes, or discard the edits")
	case members:
		return f.members(a, in)
	}
	in.Input = []byte(f.text("input"))
	return nil
}

// proposed takes the input of the form that approves somebody's edit: that edit, or what its reader made of it, which
// may be the input as it was asked.
func (f VerdictForm) proposed(in *models.DecisionInput) error {
	in.Input = []byte(f.text("input"))
	switch further := f.text(requests.FurtherField); {
	case f.values.Get(requests.EditsFurtherField) == "true":
		in.Input = []byte(further)
	case f.values.Has(requests.FurtherField) && !models.SameJSON(further, f.text("input")):
		return models.Invalid("input", "was changed here, and that button would have sent the edit without your change: press Approve as edited, or undo the change")
	}
	return nil
}

// wholeChanged reports whether the input as JSON means something else than was
// asked for. White space alone does not count.
func (f VerdictForm) wholeChanged(a *models.Approval) bool {
	return f.values.Has("input") && !models.SameJSON(f.text("input"), a.ToolInputJSON)
}

// membersChanged reports whether a field holds something else than it showed.
func (f VerdictForm) membersChanged(a *models.Approval) bool {
	members, ok := models.EditFields([]byte(a.ToolInputJSON))
	for place, text := range f.typed() {
		if !ok || place >= len(members) || text != members[place].Text() {
			return true
		}
	}
	return false
}

// members puts an input together that was edited member by member.
func (f VerdictForm) members(a *models.Approval, in *models.DecisionInput) error {
	asked := []byte(a.ToolInputJSON)
	members, ok := models.EditFields(asked)
	if !ok {
		return models.Invalid("input", "can only be edited as JSON")
	}
	edited, problems := models.Edit(asked, members, f.typed())
	if len(problems) > 0 {
		e := &models.Error{Code: models.CodeInvalid, Text: "Correct the edited input.", Fields: map[string]string{}}
		for place, text := range problems {
			e.Fields[requests.FieldName(place)] = text
		}
		return e
	}
	in.Input = edited
	return nil
}

// typed is what the form holds for the members of an input, by their place.
func (f VerdictForm) typed() map[int]string {
	out := map[int]string{}
	for place := range models.MaxEditFields {
		if name := requests.FieldName(place); f.values.Has(name) {
			out[place] = f.text(name)
		}
	}
	return out
}

// Undecided reports whether the form decides nothing: an option fills it in, its edits are discarded, or
// its confirmation was cancelled.
func (f VerdictForm) Undecided() bool {
	return f.Verdict == requests.DiscardEdits || f.values.Get(requests.FillField) != "" ||
		f.values.Get(requests.CancelField) != ""
}

// Refilled is the form as it was filled in, to be corrected.
func (f VerdictForm) Refilled() requests.DecideForm {
	form := requests.DecideForm{
		Sent: true, Reason: f.reason, Preset: f.preset, Checked: readTicks(f.values),
		Glass:     f.breaksGlass(),
		Proposals: f.values.Get(requests.ProposedField), Answer: f.text("answer"),
		Option: f.values.Get(requests.WithOptionField),
		Sum:    strings.TrimSpace(f.values.Get("sum")), SetBudget: f.values.Get("set_budget") == "true",
		NewBudget: strings.TrimSpace(f.values.Get("new_budget")),
	}
	if f.Verdict == requests.DiscardEdits {
		form.Sum = ""
		return form
	}
	form.Fields = f.typed()
	switch {
	case f.values.Has(requests.FurtherField):
		form.Further = new(f.text(requests.FurtherField))
	case f.values.Has(requests.ProposedField):
	case f.values.Has("input"):
		form.Input = new(f.text("input"))
	}
	return form
}
