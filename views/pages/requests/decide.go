package requests

import (
	"maps"
	"slices"
	"strings"

	"countersign/views/pages/outcomes"
)

// Anchor is what an element is called; several requests on one page are kept apart.
func (v Approval) Anchor(name string) string { return v.IDs + name }

func sourceLabel(v Approval) string {
	if v.Question {
		return "The question"
	}
	switch {
	case v.Ask != nil:
		return "The budget that is asked for"
	case v.Content != "":
		return "What is proposed"
	}
	return "What will run"
}

// wholeInput reports whether the input is shown as a separate part: not where the page says it in words, or beside its
// layout.
func (v Approval) wholeInput() bool {
	return v.Ask == nil && v.Content == "" && (!v.Question || v.Whole.Text != "{}")
}

// sourceFirst reports whether the source comes first: the input has no other layout.
func (v Approval) sourceFirst() bool {
	return v.wholeInput() && len(v.Blocks) == 0 && v.Other.Text == ""
}

// decides reports whether there are forms of a verdict.
func (v Approval) decides() bool { return v.MayDecide && v.Held == "" }

// waits reports whether the time that is left is its status: later the outcome is, or that it will be sent.
func (v Approval) waits() bool { return v.Pending && v.Held == "" && v.Undo == nil }

// mayMakeRule reports whether a button approves it and makes a rule from it.
func (v Approval) mayMakeRule() bool {
	return v.RuleURL != "" && v.approves() && v.OpenFirst == "" && len(v.Edits) == 0
}

// approves reports whether its reader may approve it as it is, or edited, in the form below it.
func (v Approval) approves() bool {
	return v.decides() && v.Undo == nil && !v.Question && v.NoApprove == "" && v.Closed == ""
}

// withOption is what the button reads of the option that goes with the text; empty: none
// does.
func (v Approval) withOption() string {
	options := v.RejectOptions
	if v.Question {
		options = v.Options
	}
	for _, c := range options {
		if c.Name == v.Form.Option && c.Name != "" {
			return c.Title
		}
	}
	return ""
}

// answerField is what the button of an option sends its name as.
func answerField(c outcomes.Choice) string {
	if c.Fills {
		return FillField
	}
	return "option"
}

func rejectField(c outcomes.Choice) string {
	if c.Fills {
		return FillField
	}
	return RejectOptionField
}

func answerLabel(v Approval) string {
	if option := v.withOption(); option != "" {
		return "Answer “" + option + "”"
	}
	if len(v.Options) > 0 {
		return "Or answer in your own words"
	}
	return "Answer"
}

// editRows makes the editor as high as its text, within reason.
func editRows(text string) int {
	return min(max(strings.Count(text, "\n")+2, 5), 24)
}

// otherErrors are the errors beside the fields that this request's forms have, so that no error is lost for want of a
// place.
func (v Approval) otherErrors() string {
	fields := []string{"reason", "digest"}
	if len(v.Checklist.Items) > 0 && v.decides() && v.NoApprove == "" && v.OpenFirst == "" && v.Closed == "" {
		fields = append(fields, "checked")
	}
	if v.AskBack != nil {
		fields = append(fields, "ask")
	}
	if v.Substitution.HandOver != nil {
		fields = append(fields, "to", "handover_note")
	}
	if v.Extend != nil {
		fields = append(fields, "minutes")
	}
	if v.Thread.AnswerURL != "" {
		fields = append(fields, "note")
	}
	for _, f := range v.Fields {
		fields = append(fields, f.Name)
	}
	if v.Question {
		fields = append(fields, "answer")
		if len(v.Options) > 0 {
			fields = append(fields, "option")
		}
	} else if v.EditJSON != "" || v.Ask != nil {
		fields = append(fields, "input", "sum")
	}
	if len(v.RejectOptions) > 0 && v.withOption() == "" {
		fields = append(fields, "option")
	}
	if v.Offer != nil {
		fields = append(fields, "new_budget")
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v.Form.Errors)) {
		switch {
		case name == "":
			out = append(out, v.Form.Errors[name])
		case !slices.Contains(fields, name):
			out = append(out, name+": "+v.Form.Errors[name])
		}
	}
	return strings.Join(out, " ")
}
