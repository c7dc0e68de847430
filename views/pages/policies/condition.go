package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/headline"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// How a rule's condition is written in its form.
const (
	ConditionAlways     = "always"
	ConditionRows       = "rows"
	ConditionExpression = "expression"
)

// ConditionInput is a condition as it is typed.
type ConditionInput struct {
	Mode string // ConditionAlways, ConditionRows or ConditionExpression
	Any  bool   // any of the rows, else all
	Rows []ConditionRow
}

// ConditionRow is one comparison, as typed.
type ConditionRow struct {
	Subject, Operator, Value string // Operator is an operator and a kind: greater:number
	With                     bool   // it is in a group with the row above
	Error                    string
}

func (r ConditionRow) blank() bool { return r.Subject == "" && r.Value == "" }

// spareRows is how many empty rows a condition ends with.
const spareRows = 1

// ConditionOf is how a form shows an expression: as rows if it can be read back from them exactly.
func ConditionOf(source string) ConditionInput {
	if strings.TrimSpace(source) == "" {
		return ConditionInput{Mode: ConditionAlways}
	}
	built, ok := condition.Read(source)
	in := ConditionInput{Mode: ConditionRows, Any: built.Any}
	for _, g := range built.Groups {
		for i, r := range g {
			value := strings.Join(r.Values, ", ")
			ok = ok && slices.Equal(valuesOf(value, takesOf(operatorOf(r))), r.Values) && !hasHidden(value)
			in.Rows = append(in.Rows, ConditionRow{Subject: r.Subject, Operator: operatorOf(r), Value: value, With: i > 0})
		}
	}
	if !ok {
		return ConditionInput{Mode: ConditionExpression}
	}
	return in
}

// Built is what the rows say. Blank ones say nothing. where is the place of each of its rows among those typed.
func (in ConditionInput) Built() (built condition.Built, where []int) {
	built.Any = in.Any
	for i, r := range in.Rows {
		if r.blank() {
			continue
		}
		op, kind, _ := strings.Cut(r.Operator, ":")
		row := condition.Row{
			Subject: r.Subject, Op: condition.Op(op), Kind: condition.Kind(kind),
			Values: valuesOf(r.Value, takesOf(r.Operator)),
		}
		if n := len(built.Groups); r.With && n > 0 {
			built.Groups[n-1] = append(built.Groups[n-1], row)
		} else {
			built.Groups = append(built.Groups, condition.Group{row})
		}
		where = append(where, i)
	}
	if len(built.Groups) == 1 {
		// One group alone is joined as its rows are.
		built = condition.Built{Any: len(built.Groups[0]) > 1 && !in.Any, Groups: separate(built.Groups[0])}
	}
	return built, where
}

func separate(g condition.Group) []condition.Group {
	out := make([]condition.Group, 0, len(g))
	for _, row := range g {
		out = append(out, condition.Group{row})
	}
	return out
}

func operatorOf(r condition.Row) string { return string(r.Op) + ":" + string(r.Kind) }

func takesOf(operator string) condition.Takes {
	for _, o := range condition.Operators() {
		if string(o.Op)+":"+string(o.Kind) == operator {
			return o.Takes
		}
	}
	return condition.TakesOne
}

// valuesOf are the values in a field: separated by commas if there are several.
func valuesOf(text string, takes condition.Takes) []string {
	if takes == condition.TakesOne {
		return []string{strings.TrimSpace(text)}
	}
	var out []string
	for value := range strings.SplitSeq(text, ",") {
		out = append(out, strings.TrimSpace(value))
	}
	return out
}

// Condition is the second step of a rule's form.
type Condition struct {
	Mode       string
	Join       ui.Field
	Joins      []ui.Choice
	Rows       []ConditionFields
	Expression FormField
	Panel      Findings
}

// ConditionFields are the fields of one row.
type ConditionFields struct {
	Number    int // counted from 1
	Subject   string
	Groups    []SubjectGroup
	Operator  string
	Operators []OperatorChoice
	Value     string
	Hint      string // what the value is
	With      bool
	Error     string
}

// OperatorChoice is an operator to choose; off: it does not fit the subject.
type OperatorChoice struct {
	ui.Choice

	Off bool
}

// SubjectGroup are subjects to choose from, under a title.
type SubjectGroup struct {
	Title   string
	Choices []SubjectChoice
}

// SubjectChoice is a subject, with the operators that fit it.
type SubjectChoice struct {
	ui.Choice

	Fits string // separated by spaces
}

// Findings are what a condition says of real calls.
type Findings struct {
	Summary  string // matches 7 of the last 208 calls
	Matches  []CallFinding
	More     int // matches that are not listed
	Trouble  string
	Unjudged []CallFinding
	Remarks  []string
}

// CallFinding is one of them.
type CallFinding struct {
	Request    *models.Response
	Agent, Why string
}

func (c CallFinding) url() string      { return views.ApprovalURL(c.Request.ID) }
func (c CallFinding) headline() string { return headline.Shown(c.Request).Text() }

func newCondition(in RuleInput, expression FormField) Condition {
	c := in.Condition
	v := Condition{Mode: c.Mode, Expression: expression, Panel: in.Findings, Joins: []ui.Choice{
		{Value: "all", Label: "All of these are true"}, {Value: "any", Label: "Any of these is true"},
	}}
	v.Join = ui.Field{Name: "c_join", Label: "The rule applies if", Value: "all"}
	if c.Any {
		v.Join.Value = "any"
	}
	rows := slices.Clone(c.Rows)
	for range spareRows {
		rows = append(rows, ConditionRow{})
	}
	for i, r := range rows {
		fields := ConditionFields{
			Number: i + 1, Subject: r.Subject, Groups: subjectGroups(r.Subject, in.Members, in.Calls),
			Operator: r.Operator, Value: r.Value, With: r.With, Error: r.Error,
			Hint: valueHint(r.Operator),
		}
		fits := operatorsFor(r.Subject, in.Members)
		for _, o := range condition.Operators() {
			value := string(o.Op) + ":" + string(o.Kind)
			fields.Operators = append(fields.Operators, OperatorChoice{
				Choice: ui.Choice{Value: value, Label: operatorWords(o)},
				Off:    r.Subject != "" && value != r.Operator && !slices.Contains(fits, value),
			})
		}
		v.Rows = append(v.Rows, fields)
	}
	return v
}

// subjectGroups are what a row can be about: members that calls had, and what every call has.
func subjectGroups(chosen string, members []condition.Member, calls int) []SubjectGroup {
	input := SubjectGroup{Title: "Input of these calls"}
	choice := func(subject, label string) SubjectChoice {
		return SubjectChoice{ui.Choice{Value: subject, Label: label}, strings.Join(operatorsFor(subject, members), " ")}
	}
	known := map[string]bool{"": true}
	for _, m := range members {
		if hasHidden(m.Path) {
			continue
		}
		input.Choices, known[m.Path] = append(input.Choices, choice(m.Path, memberWords(m, calls))), true
	}
	call := SubjectGroup{Title: "Every call"}
	for _, s := range condition.Subjects() {
		call.Choices, known[s] = append(call.Choices, choice(s, subjectWords[s])), true
	}
	groups := []SubjectGroup{input, call}
	if !known[chosen] {
		groups = append([]SubjectGroup{{Title: "Chosen", Choices: []SubjectChoice{choice(chosen, chosen)}}}, groups...)
	}
	return slices.DeleteFunc(groups, func(g SubjectGroup) bool { return len(g.Choices) == 0 })
}

func operatorsFor(subject string, members []condition.Member) []string {
	var out []string
	for _, o := range condition.OperatorsFor(subject, members) {
		out = append(out, string(o.Op)+":"+string(o.Kind))
	}
	return out
}

var subjectWords = map[string]string{
	condition.SubjectCommand: "the command that it runs", "tool": "the tool's name", "agent": "the agent's name",
	"owner": "the agent's owner (e-mail)", "conversation": "the conversation's name, as the agent says",
	"kind": "the kind of request",
}

// memberWords name a member with what calls had: amount: text in 3 of 3 calls, such as 103.50.
func memberWords(m condition.Member, calls int) string {
	var kinds []string
	for _, k := range []struct {
		kind condition.Kind
		word string
	}{
		{condition.KindText, "text"},
		{condition.KindNumeral, "number as text"},
		{condition.KindNumber, "number"},
		{condition.KindBool, "yes or no"},
		{condition.KindList, "list"},
		{condition.KindObject, "object"},
		{condition.KindNull, "null"},
	} {
		if n := m.Kinds[k.kind]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s in %d of %s", k.word, n, callCount(calls)))
		}
	}
	text := models.RevealName(m.Name) + ": " + strings.Join(kinds, ", ")
	if len(m.Samples) > 0 {
		text += ", such as " + models.RevealName(models.Cut(m.Samples[0], 40))
	}
	return text
}

func operatorWords(o condition.Operator) string {
	words := map[condition.Op]string{
		condition.Is: "is", condition.IsNot: "is not", condition.Contains: "contains", condition.StartsWith: "starts with",
		condition.Greater: "> (greater than)", condition.GreaterOrEqual: "≥ (at least)", condition.Less: "< (less than)",
		condition.LessOrEqual: "≤ (at most)", condition.Between: "is between", condition.OneOf: "is one of",
		condition.Within: "is within the folder", condition.HostIs: "has the host", condition.ProgramIs: "runs the program",
		condition.EveryProgram: "runs only these programs", condition.DeletesOutside: "deletes outside of the folder",
	}
	text := words[o.Op]
	switch {
	case (o.Op == condition.Is || o.Op == condition.IsNot) && o.Kind == condition.KindNumber:
		text += " the number"
	case o.Kind == condition.KindBool:
		text += " (true or false)"
	case o.Op == condition.Contains && o.Kind == condition.KindList:
		text += " the entry"
	}
	return text
}

// valueHint says what the value of a row is.
func valueHint(operator string) string {
	switch takesOf(operator) {
	case condition.TakesOne:
	case condition.TakesTwo:
		return "two, with a comma"
	case condition.TakesMany:
		return "several, with commas"
	}
	return ""
}

// NewFindings says what a condition says of calls. effect is what the rule does with those that can't be judged.
func NewFindings(matches, unjudged []CallFinding, of int, stopped, effect string, remarks []string) Findings {
	v := Findings{}
	for _, text := range remarks {
		v.Remarks = append(v.Remarks, WithoutCode(text))
	}
	switch {
	case of == 0:
		v.Summary = "No call of these tools is known yet, so nothing can be said about the condition."
	case of == 1 && len(matches) == 1:
		v.Summary = "Matches the one call that is known."
	case len(matches) == of:
		v.Summary = "Matches all of the last " + callCount(of) + "."
	default:
		v.Summary = "Matches " + views.Number(int64(len(matches))) + " of the last " + callCount(of) + "."
	}
	if stopped != "" {
		v.Summary += " Older ones were not read: " + stopped + "."
	}
	v.Matches = matches[:min(len(matches), shownCalls)]
	v.More = len(matches) - len(v.Matches)
	if n := len(unjudged); n > 0 {
		does := "they need approval"
		switch {
		case effect == string(policy.EffectDeny):
			does = "they are denied"
		case n == 1:
			does = "it needs approval"
		}
		if n == 1 && effect == string(policy.EffectDeny) {
			does = "it is denied"
		}
		v.Trouble = callCount(n) + " could not be checked, so " + does + "."
		v.Unjudged = unjudged[:min(n, shownUnjudged)]
	}
	return v
}

// WithoutCode is a sentence without the marks around its expressions and names.
func WithoutCode(text string) string { return strings.ReplaceAll(text, "`", "") }

// How many calls the panel lists.
const (
	shownCalls    = 20
	shownUnjudged = 5
)

func callCount(n int) string {
	if n == 1 {
		return "1 call"
	}
	return views.Number(int64(n)) + " calls"
}

func rowName(part string, n int) string { return "c" + strconv.Itoa(n) + "_" + part }

// shownMatches is how many tools a sentence names.
const shownMatches = 12

// NewToolMatches says of each line of a rule's tools which tools it matches that were seen.
func NewToolMatches(lines, effect string, seen policy.Usage) []string {
	var out []string
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(out) == shownMatches {
			return append(out, "Matches of the other lines are not shown.")
		}
		m, problem := policy.ToolMatches(line, effect == string(policy.EffectAllow), seen.Tools)
		if problem != "" {
			out = append(out, "“"+line+"” "+problem+".")
			continue
		}
		out = append(out, matchesSpoken(line, m))
	}
	return out
}

func matchesSpoken(line string, m policy.Matches) string {
	text := fmt.Sprintf("“%s” matches no tool seen in the last %d days", line, policy.UsageDays)
	switch n := len(m.Hit); {
	case n == 1:
		text = fmt.Sprintf("“%s” matches 1 tool seen in the last %d days: %s", line, policy.UsageDays, m.Hit[0])
	case n > 1:
		text = fmt.Sprintf("“%s” matches %d tools seen in the last %d days: %s", line, n, policy.UsageDays, listShort(m.Hit))
	}
	if len(m.Misses) > 0 {
		text += "; it narrowly misses " + listShort(m.Misses)
	}
	return text + "."
}

func listShort(names []string) string {
	shown := slices.Clone(names[:min(len(names), shownMatches)])
	if rest := len(names) - len(shown); rest > 0 {
		shown = append(shown, "and "+strconv.Itoa(rest)+" more")
	}
	return strings.Join(shown, ", ")
}
