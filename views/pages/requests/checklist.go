package requests

import (
	"slices"
	"strconv"

	"countersign/models"
)

// CheckedField is the field of an item of a checklist that is ticked: its number from 0.
const CheckedField = "checked"

// Checklist is the list that an approver ticks first.
type Checklist struct {
	ID    string // before the ids of its elements
	Items []ChecklistItem
	Error string
}

// ChecklistItem is one item of it.
type ChecklistItem struct {
	ID, Value, Text string
	Ticks           bool
	Focus           bool // the first that is missing
}

// newChecklist draws the checklist of a request; ids are before those of its elements.
func newChecklist(r *models.Response, checked []int, wrong, ids string) Checklist {
	v := Checklist{ID: ids + "checklist", Error: wrong}
	for i, text := range r.Checklist() {
		item := ChecklistItem{
			ID: v.ID + "-" + strconv.Itoa(i+1), Value: strconv.Itoa(i), Text: text, Ticks: slices.Contains(checked, i),
		}
		item.Focus = wrong != "" && !item.Ticks &&
			!slices.ContainsFunc(v.Items, func(before ChecklistItem) bool { return before.Focus })
		v.Items = append(v.Items, item)
	}
	return v
}

// checklists draws the checklist of a request in its form and in those of proposed edits. Only the form that was sent
// has its ticks, and their errors: they were made for one input.
func (v *Approval) checklists(r *models.Response, sent DecideForm) {
	wrong := sent.Errors[CheckedField]
	for i := range v.Proposals {
		p := &v.Proposals[i]
		if p.Approves && p.Vote == sent.Proposals {
			p.Checklist, wrong = newChecklist(r, sent.Checked, wrong, p.ID+"-"), ""
		} else {
			p.Checklist = newChecklist(r, nil, "", p.ID+"-")
		}
	}
	if g := v.Glass; g != nil {
		if g.Checklist = newChecklist(r, nil, "", v.Anchor("glass-")); g.Open {
			g.Checklist, wrong = newChecklist(r, sent.Checked, wrong, v.Anchor("glass-")), ""
		}
	}
	if sent.Proposals != "" || sent.Glass {
		sent.Checked = nil
	}
	v.Checklist = newChecklist(r, sent.Checked, wrong, v.IDs)
}
