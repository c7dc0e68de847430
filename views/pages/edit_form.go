package pages

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/ui"
)

// FieldEditor edits one member of an input; its kind is kept.
type FieldEditor struct {
	ID, Name string // of the element, of the form's field
	Member   string // as it is called; a claim
	Kind     models.FieldKind
	Value    string
	Error    string
	Rows     int
}

// FieldName is what the form calls the member at a place.
func FieldName(place int) string { return "m" + strconv.Itoa(place) }

func newFieldEditors(v Approval, in ApprovalInput) []FieldEditor {
	if v.EditJSON == "" || v.Question || !v.Pending || !in.MayDecide {
		return nil
	}
	fields, ok := models.EditFields([]byte(in.Approval.ToolInputJSON))
	if !ok {
		return nil
	}
	out := make([]FieldEditor, 0, len(fields))
	for i, f := range fields {
		name := FieldName(i)
		e := FieldEditor{ID: v.id(name), Name: name, Member: f.Name, Kind: f.Kind(), Value: f.Text(), Error: in.Form.Errors[name]}
		if typed, ok := in.Form.Fields[i]; ok {
			e.Value = typed
		}
		e.Rows = min(max(strings.Count(e.Value, "\n")+1, 1), 20)
		out = append(out, e)
	}
	return out
}

// kindWord says what a field holds, and how it is written where that matters.
func (f FieldEditor) kindWord() string {
	switch f.Kind {
	case models.FieldQuoted:
		return "text with hidden characters, as JSON"
	case models.FieldList, models.FieldObject:
		return string(f.Kind) + ", as JSON"
	case models.FieldNull:
		return "null: any value, as JSON"
	case models.FieldText, models.FieldNumber, models.FieldBool:
	}
	return string(f.Kind)
}

// mono reports whether the value is code.
func (f FieldEditor) mono() bool {
	return f.Kind != models.FieldText || strings.Contains(f.Value, "\n")
}

// attributes of the element in which the value is edited.
func (f FieldEditor) attributes() templ.Attributes {
	a := templ.Attributes{"id": f.ID, "name": f.Name, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off"}
	if f.Error != "" {
		a["aria-invalid"], a["aria-describedby"] = "true", f.ID+"-error"
	}
	return a
}

// editing reports whether an edit was sent that has to be corrected.
func (v Approval) editing() bool {
	if v.Form.Edit != "" || v.Form.Errors["input"] != "" {
		return true
	}
	for _, f := range v.Fields {
		if f.Error != "" {
			return true
		}
	}
	return false
}

// editsJSON reports whether the editor of the whole is the one to show: it was
// used, or there is no other.
func (v Approval) editsJSON() bool {
	return len(v.Fields) == 0 || v.Form.Edit == EditJSON || v.Form.Edit == "" && v.Form.Errors["input"] != ""
}

// The two ways of editing an input, as their forms name them.
const (
	EditFieldwise = "fields"
	EditJSON      = "json"
)

func (v Approval) jsonField() ui.Field {
	return ui.Field{
		ID: v.id("input"), Name: "input", Label: "Input as JSON", Type: "textarea", Rows: editRows(v.Form.Input), Mono: true, Required: true,
		Value: v.Form.Input, Error: v.Form.Errors["input"],
	}
}
