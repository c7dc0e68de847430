package requests

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// FieldEditor edits one member of an input; its kind is kept.
type FieldEditor struct {
	ID, Name string // of the element, of the form's field
	Member   string // as it is called; a claim
	Kind     models.FieldKind
	Value    string
	Asked    string // what it held at first
	Error    string
	Rows     int
	form     string
}

// FieldName is what the form calls the member at a place.
func FieldName(place int) string { return "m" + strconv.Itoa(place) }

func newFieldEditors(v Approval, in Input) []FieldEditor {
	if v.EditJSON == "" || v.Question || !v.Pending || !in.MayDecide() {
		return nil
	}
	fields, ok := models.EditFields([]byte(in.Approval.ToolInputJSON))
	if !ok {
		return nil
	}
	out := make([]FieldEditor, 0, len(fields))
	for i, f := range fields {
		name := FieldName(i)
		e := FieldEditor{
			ID: v.Anchor(name), Name: name, Member: f.Name, Kind: f.Kind(), Value: f.Text(), Asked: f.Text(),
			Error: in.Form.Errors[name], form: v.Anchor("verdict"),
		}
		if text, ok := in.Form.Fields[i]; ok {
			e.Value = text
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
	a := templ.Attributes{
		"id": f.ID, "name": f.Name, "form": f.form, "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off",
	}
	if f.Value != f.Asked {
		a["data-asked"] = f.Asked
	}
	if f.Error != "" {
		a["aria-invalid"], a["aria-describedby"] = "true", f.ID+"-error"
	}
	return a
}

// editing reports whether an edit was sent.
func (v Approval) editing() bool {
	return len(v.Edits) > 0 || v.Form.Errors["input"] != "" || v.editWrong()
}

// editsJSON reports whether the editor of the whole is the one to show: it was
// used, or there is no other.
func (v Approval) editsJSON() bool {
	return len(v.Fields) == 0 || v.Form.Input != nil && *v.Form.Input != v.EditJSON || v.Form.Errors["input"] != ""
}

// How the form of a request names acts other than a plain verdict.
const (
	ApproveAsEdited = "approve_edited"
	RejectAsEdited  = "reject_edited" // with the edit suggested, where the asker takes none
	ApproveAndRule  = "approve_rule"  // then a rule is made from it, by admins
	DiscardEdits    = "discard"
)

// How the form of a request names its options.
const (
	FillField         = "fill"          // the option whose button fills in its text, and decides nothing
	WithOptionField   = "with_option"   // the option that goes with the text
	RejectOptionField = "reject_option" // the option whose button rejects at once
)

// editVerb is the verb for an edit.
func (v Approval) editVerb() string {
	if v.FixedInput {
		return "Change the input, then reject and suggest it"
	}
	return "Edit the input, then approve"
}

func (v Approval) jsonField() ui.Field {
	value := v.EditJSON
	if v.Form.Input != nil {
		value = *v.Form.Input
	}
	return ui.Field{
		ID: v.Anchor("input"), Name: "input", Label: "Input as JSON", Type: "textarea", Rows: editRows(value), Mono: true,
		Form:  v.Anchor("verdict"),
		Value: value, Asked: &v.EditJSON, Error: v.Form.Errors["input"],
	}
}

// editable reports whether there is an editor of the input.
func (v Approval) editable() bool { return v.EditJSON != "" && !v.Question && v.Ask == nil }

// EditChange is one member that an edit changes. Empty values are absent ones.
type EditChange struct{ Member, Old, New string }

// editChanges are what a form that comes back changes in the input.
func editChanges(v Approval, r *models.Response) []EditChange {
	if !v.editable() || !v.Pending {
		return nil
	}
	var out []EditChange
	for _, f := range v.Fields {
		if f.Value != f.Asked {
			out = append(out, newChange(f.Member, f.Asked, f.Value))
		}
	}
	if text := v.Form.Input; text != nil && *text != v.EditJSON {
		out = append(out, wholeChanges([]byte(r.ToolInputJSON), *text)...)
	}
	return out
}

// wholeChanges compares the members of two inputs as they were written.
func wholeChanges(asked []byte, text string) []EditChange {
	before, isObject := words.Object(asked)
	after, still := words.Object([]byte(text))
	if !isObject || !still {
		return []EditChange{newChange("input", string(asked), text)}
	}
	var out []EditChange
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		a, b := canonicalMember(before[name]), canonicalMember(after[name])
		if !bytes.Equal(a, b) {
			out = append(out, newChange(name, string(a), string(b)))
		}
	}
	return out
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func canonicalMember(raw json.RawMessage) []byte {
	if c, err := models.CanonicalJSON("input", raw); err == nil {
		return c
	}
	return raw
}

// newChange cuts both values to where they begin to differ.
func newChange(member, before, after string) EditChange {
	a, b := []rune(before), []rune(after)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	from := 0
	if max(len(a), len(b)) > changeLength {
		from = max(0, same-changeBefore)
	}
	return EditChange{Member: member, Old: cutFrom(a, from), New: cutFrom(b, from)}
}

func cutFrom(text []rune, from int) string {
	out := ""
	if from > 0 {
		out = "…"
	}
	if len(text)-from > changeLength {
		return out + string(text[from:from+changeLength]) + "…"
	}
	return out + string(text[from:])
}

// changeLength is how much of a value is shown beside the button, and changeBefore how much of it precedes the first
// difference.
const (
	changeLength = 60
	changeBefore = 12
)
