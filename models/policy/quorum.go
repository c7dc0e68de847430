package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Limits of a quorum.
const (
	maxApprovals = 10
	maxCount     = 20
)

// Quorum is what a rule demands of several people; see models.Quorum. The zero value demands
// nothing: one person approves.
type Quorum struct {
	Approvals []Signers `json:"approvals,omitempty"`
	// Any: one of Approvals will do, else all. Stages: they are steps, in their order.
	Any    bool `json:"any,omitzero"`
	Stages bool `json:"stages,omitzero"`
	// RejectCount is how many people reject a request together; 0 is 1.
	RejectCount int `json:"reject_count,omitzero"`
	// ShowProgress tells the agent how many have signed, and nothing of who.
	ShowProgress bool `json:"show_progress,omitzero"`
	// BreakGlass names people and groups as a rule's reviewers does: any one of them may decide alone, with a reason.
	BreakGlass []string `json:"break_glass,omitempty"`
}

// Signers are how many of some people must sign.
type Signers struct {
	From    []string `json:"from"` // as a rule's reviewers
	Count   int      `json:"count"`
	Minutes int      `json:"minutes,omitzero"` // that the step may take; 0: as long as the request
}

// String is it as a form shows it.
func (s Signers) String() string {
	line := strconv.Itoa(s.Count) + ": " + strings.Join(s.From, ", ")
	if s.Minutes != 0 {
		line += "; " + strconv.Itoa(s.Minutes) + " minutes"
	}
	return line
}

// quorate reports whether several people must sign, or must not sign alone.
func (q Quorum) quorate() bool { return len(q.Approvals) > 0 }

// signers are all who are named, each once.
func (q Quorum) signers() []string {
	var out []string
	for _, s := range q.Approvals {
		out = joined(out, s.From)
	}
	return out
}

func (q Quorum) clone() Quorum {
	q.Approvals = slices.Clone(q.Approvals)
	for i := range q.Approvals {
		q.Approvals[i].From = slices.Clone(q.Approvals[i].From)
	}
	q.BreakGlass = slices.Clone(q.BreakGlass)
	return q
}

// withoutDefaults makes [] and absence, and 1 and absence, the same document.
func (q Quorum) withoutDefaults() Quorum {
	if len(q.Approvals) == 0 {
		q.Approvals = nil
	}
	if len(q.BreakGlass) == 0 {
		q.BreakGlass = nil
	}
	if q.RejectCount == 1 {
		q.RejectCount = 0
	}
	return q
}

// Same reports whether two demand the same of the same people.
func (q Quorum) Same(other Quorum) bool { return q.text() == other.text() }

// text is it in words.
func (q Quorum) text() string {
	parts := make([]string, 0, len(q.Approvals))
	for _, s := range q.Approvals {
		parts = append(parts, s.String())
	}
	says := []string{listText(parts)}
	for _, m := range [...]struct {
		is   bool
		text string
	}{
		{q.Any, "any of them"},
		{q.Stages, "in this order"},
		{q.ShowProgress, "the agent sees how many"},
		{q.RejectCount > 1, strconv.Itoa(q.RejectCount) + " reject together"},
		{len(q.BreakGlass) > 0, "break glass " + listText(q.BreakGlass)},
	} {
		if m.is {
			says = append(says, m.text)
		}
	}
	return strings.Join(says, ", ")
}

// quorum checks what the resolved rule, or a template, demands of several people.
func (c *checker) quorum(path string, q Quorum, timeout *int) {
	if len(q.Approvals) > maxApprovals {
		c.add(path+".approvals", "must be at most %d entries", maxApprovals)
		return
	}
	total, minutes := 0, 0
	for i, s := range q.Approvals {
		at := fmt.Sprintf("%s.approvals[%d]", path, i)
		if s.Count < 1 || s.Count > maxCount {
			c.add(at+".count", "must be 1 to %d people", maxCount)
		}
		if len(s.From) == 0 {
			c.add(at+".from", "must name at least one person or group")
		}
		c.whom(at+".from", s.From)
		if people := len(s.From); people < s.Count && !slices.ContainsFunc(s.From, isGroup) {
			c.add(at+".count", "must be at most %d, the number of people that from names", people)
		}
		if s.Minutes != 0 && !q.Stages {
			c.add(at+".minutes", "needs stages: only a step has its own time")
		}
		if s.Minutes < 0 {
			c.add(at+".minutes", "must be 1 or more")
		}
		total, minutes = total+s.Count, minutes+s.Minutes
	}
	most, what := c.most, "max_timeout_minutes"
	if timeout != nil && *timeout < most {
		most, what = *timeout, "the rule's timeout_minutes"
	}
	if minutes > most {
		c.add(path+".approvals", "must not give its steps more than %d minutes together (%s)", most, what)
	}
	if q.Any && q.Stages {
		c.add(path+".any", "can't be combined with stages: either one entry will do, or all in order")
	}
	if q.RejectCount < 0 || q.RejectCount > 1 && q.RejectCount > total {
		c.add(path+".reject_count", "must be 1 to %d, as many people as sign", max(total, 1))
	}
	c.whom(path+".break_glass", q.BreakGlass)
	if q.quorate() {
		return
	}
	for _, m := range [...]struct {
		name string
		is   bool
	}{{"any", q.Any}, {"stages", q.Stages}, {"reject_count", q.RejectCount > 1}, {"show_progress", q.ShowProgress}, {"break_glass", len(q.BreakGlass) > 0}} {
		if m.is {
			c.add(path+"."+m.name, "needs approvals: it says how several people sign")
		}
	}
}

func isGroup(who string) bool {
	_, ok := models.GroupOf(who)
	return ok
}

// besideQuorum refuses what a rule or a template that names signers must not say of who approves besides.
func (c *checker) besideQuorum(path string, q Quorum, reviewers []string, only bool, steps []Escalation) {
	if !q.quorate() {
		return
	}
	for _, m := range [...]struct {
		name string
		is   bool
	}{{"reviewers", len(reviewers) > 0}, {"reviewers_only", only}, {"escalate", len(steps) > 0}} {
		if m.is {
			c.add(path+"."+m.name, "can't be combined with approvals: name everybody who signs there")
		}
	}
}

// The text of an entry in a form.
const signersWanted = "must be a number, a colon and names, such as 2: group:finance, ann@example.com"

// signersText is a value as a line, and as the document would have it.
func signersText(v jsontext.Value) (line string, same jsontext.Value, ok bool) {
	var s Signers
	if v.Kind() != '{' || json.Unmarshal(v, &s, json.RejectUnknownMembers(true)) != nil {
		return "", nil, false
	}
	same, err := json.Marshal(s)
	return s.String(), same, err == nil
}

// ReadSigners reads a line of a form, as String writes it; false: it is no entry.
func ReadSigners(line string) (Signers, bool) {
	count, rest, found := strings.Cut(line, ":")
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if !found || err != nil {
		return Signers{}, false
	}
	s := Signers{Count: n}
	from, limit, found := strings.Cut(rest, ";")
	if found {
		words := strings.Fields(limit)
		if len(words) == 0 || len(words) > 2 || len(words) == 2 && !strings.HasPrefix(words[1], "min") {
			return Signers{}, false
		}
		if s.Minutes, err = strconv.Atoi(words[0]); err != nil {
			return Signers{}, false
		}
	}
	s.From = namesIn(from)
	return s, true
}

// signersValue is a line of a form as the document would have it; nil: it is no entry.
func signersValue(line string) jsontext.Value {
	s, ok := ReadSigners(line)
	if !ok {
		return nil
	}
	value, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return value
}

// namesIn are people and groups in a line, with commas or spaces between.
func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// grammar is how a form writes an object of a list in a line of its own.
type grammar struct {
	text   func(jsontext.Value) (line string, same jsontext.Value, ok bool)
	value  func(line string) jsontext.Value // nil: the line says nothing of the kind
	wanted string
}

var grammars = map[FieldKind]grammar{
	FieldSteps:   {stepText, stepValue, stepWanted},
	FieldSigners: {signersText, signersValue, signersWanted},
}

// line writes an object in a line: what would not come back from that as it was is written as JSON.
func (g grammar) line(v jsontext.Value) string {
	if line, same, ok := g.text(v); ok && !hidden(line) && bytes.Equal(g.value(line), same) {
		return line
	}
	if v.Kind() == '"' {
		return lineOf(v)
	}
	if line := slices.Clone(v); line.Compact() == nil {
		v = line
	}
	return Visible(string(v))
}

// read reads a line of a form. One that says nothing of the kind is kept as a text, and said to be wrong where it is
// checked.
func (g grammar) read(line string) jsontext.Value {
	if value := jsontext.Value(line); line[0] == '{' && value.IsValid() {
		return value
	}
	if value := g.value(line); value != nil {
		return value
	}
	return quoted(line)
}

// list is what a text of a form says, one object a line.
func (g grammar) list(text string) jsontext.Value {
	var out []jsontext.Value
	for line := range strings.Lines(plainBreaks(text)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, g.read(line))
		}
	}
	if out == nil {
		return nil
	}
	return listOf(out)
}

// misfit says which value is expected, and where, if a value is no list of such objects.
func (g grammar) misfit(path string, v jsontext.Value) (at, text string) {
	list, err := readList(v)
	if err != nil {
		return path, "must be a list"
	}
	for i, item := range list {
		if _, _, ok := g.text(item); !ok {
			return path + "[" + strconv.Itoa(i) + "]", g.wanted
		}
	}
	return path, ""
}
