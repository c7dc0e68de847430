package pages

import (
	"maps"
	"slices"
	"strings"
)

// id is what an element is called; several requests on one page are kept apart.
func (v Approval) id(name string) string { return v.IDs + name }

func whatLabel(v Approval) string {
	if v.Question {
		return "The question"
	}
	return "What will run"
}

func answerLabel(v Approval) string {
	if len(v.Options) > 0 {
		return "Or answer in your own words"
	}
	return "Answer"
}

// editRows makes the editor as high as its text, within reason.
func editRows(text string) int {
	return min(max(strings.Count(text, "\n")+2, 5), 24)
}

// otherErrors is what is wrong beside the fields that this request's forms have,
// so that no error is lost for want of a place.
func (v Approval) otherErrors() string {
	placed := []string{"reason", "digest"}
	if v.Question {
		placed = append(placed, "answer")
		if len(v.Options) > 0 {
			placed = append(placed, "option")
		}
	} else if v.EditJSON != "" {
		placed = append(placed, "input")
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v.Form.Errors)) {
		switch {
		case name == "":
			out = append(out, v.Form.Errors[name])
		case !slices.Contains(placed, name):
			out = append(out, name+": "+v.Form.Errors[name])
		}
	}
	return strings.Join(out, " ")
}
