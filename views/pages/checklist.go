package pages

import (
	"slices"
	"strconv"

	"countersign/models"
)

// CheckedField is the field of an item of a checklist that is ticked: its number from 0.
const CheckedField = "checked"

// Checklist is what whoever approves ticks first.
type Checklist struct {
	ID    string // before the ids of its elements
	Items []ChecklistItem
	Error string
}

// ChecklistItem is one item of it.
type ChecklistItem struct {
	ID, Value, Text string
	Ticked          bool
	Focus           bool // the first that is missing
}

// newChecklist draws the checklist of a request; ids are before those of its elements.
func newChecklist(r *models.Response, checked []int, wrong, ids string) Checklist {
	v := Checklist{ID: ids + "checklist", Error: wrong}
	for i, text := range r.Checklist() {
		item := ChecklistItem{ID: v.ID + "-" + strconv.Itoa(i+1), Value: strconv.Itoa(i), Text: text, Ticked: slices.Contains(checked, i)}
		item.Focus = wrong != "" && !item.Ticked && !slices.ContainsFunc(v.Items, func(before ChecklistItem) bool { return before.Focus })
		v.Items = append(v.Items, item)
	}
	return v
}

// at is the same checklist in another form of the page, where nothing is asked to be
// corrected.
func (c Checklist) at(ids string) Checklist {
	out := Checklist{ID: ids + "checklist", Error: c.Error}
	for i, item := range c.Items {
		item.ID, item.Focus = out.ID+"-"+strconv.Itoa(i+1), false
		out.Items = append(out.Items, item)
	}
	return out
}
