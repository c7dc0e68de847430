package pages

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"countersign/models"
)

// EditChange is one member that an edit changes. Empty values are absent ones.
type EditChange struct{ Member, Old, New string }

// changeLength is how much of a value is shown beside the button, and
// changeBefore how much of it stands before the first difference.
const (
	changeLength = 60
	changeBefore = 12
)

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
	if typed := v.Form.Input; typed != nil && *typed != v.EditJSON {
		out = append(out, wholeChanges([]byte(r.ToolInputJSON), *typed)...)
	}
	return out
}

// wholeChanges compares the members of two inputs as they were written.
func wholeChanges(asked []byte, typed string) []EditChange {
	before, isObject := objectOf(asked)
	after, still := objectOf([]byte(typed))
	if !isObject || !still {
		return []EditChange{newChange("input", string(asked), typed)}
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
