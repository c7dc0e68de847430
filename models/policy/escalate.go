package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// maxSteps is how often a request may be taken to further people.
const maxSteps = 5

// Escalation asks further people about a request that has no decision by then.
type Escalation struct {
	AfterMinutes int      `json:"after_minutes"` // since it was asked, without the time that a question stopped its clock
	To           []string `json:"to"`            // as a rule's reviewers
}

func cloneSteps(steps []Escalation) []Escalation {
	out := slices.Clone(steps)
	for i := range out {
		out[i].To = slices.Clone(out[i].To)
	}
	return out
}

// SameEscalation reports whether the same people are asked at the same times.
func SameEscalation(a, b []Escalation) bool {
	return slices.EqualFunc(a, b,
		func(a, b Escalation) bool { return a.AfterMinutes == b.AfterMinutes && slices.Equal(a.To, b.To) })
}

// String is it as a form shows it.
func (s Escalation) String() string {
	return strconv.Itoa(s.AfterMinutes) + ": " + strings.Join(s.To, ", ")
}

// stepsText are steps in words.
func stepsText(steps []Escalation) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.String())
	}
	return listText(out)
}

// stepsAmong are steps without those whom a template's reviewers do not name.
func stepsAmong(steps []Escalation, reviewers []string) []Escalation {
	var out []Escalation
	for _, s := range steps {
		s.To = slices.DeleteFunc(slices.Clone(s.To), func(who string) bool { return !names(reviewers, who) })
		if len(s.To) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// escalate checks the steps of a rule or a template, which ends after a time if it says so.
func (c *checker) escalate(path string, steps []Escalation, timeout *int) {
	if len(steps) > maxSteps {
		c.add(path, "must be at most %d steps", maxSteps)
		return
	}
	most, what := c.most, "max_timeout_minutes"
	if timeout != nil && *timeout < most {
		most, what = *timeout, "the rule's timeout_minutes"
	}
	last := 0
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case s.AfterMinutes < 1 || s.AfterMinutes >= most:
			c.add(at+".after_minutes", "must be 1 to %d: the request expires after %d minutes (%s)", most-1, most, what)
		case s.AfterMinutes <= last:
			c.add(at+".after_minutes", "must be more than the %d minutes of the step before", last)
		}
		last = max(last, s.AfterMinutes)
		if len(s.To) == 0 {
			c.add(at+".to", "must name at least one person or group")
		}
		c.whom(at+".to", s.To)
	}
}

// The text of a step in a form: minutes, a colon, and who is asked then.
const stepWanted = "must be minutes, a colon and who is asked then, such as 30: group:oncall, eve@example.com"

// stepText is a value as a line, and as the document would have it.
func stepText(v jsontext.Value) (line string, same jsontext.Value, ok bool) {
	var s Escalation
	if v.Kind() != '{' || json.Unmarshal(v, &s, json.RejectUnknownMembers(true)) != nil {
		return "", nil, false
	}
	same, err := json.Marshal(s)
	return s.String(), same, err == nil
}

// stepValue reads a line of a form; nil: it is no step.
func stepValue(line string) jsontext.Value {
	minutes, rest, found := strings.Cut(line, ":")
	n, err := strconv.Atoi(strings.TrimSpace(minutes))
	if !found || err != nil {
		return nil
	}
	value, err := json.Marshal(Escalation{n, namesIn(rest)})
	if err != nil {
		return nil
	}
	return value
}

// steps finds steps of a rule that never come.
func (l *linter) steps(i int, timeout *int) {
	if timeout != nil {
		return // then the document is not valid
	}
	for k, s := range l.doc.Rules[i].Escalate {
		if s.AfterMinutes >= l.doc.DefaultTimeoutMinutes {
			l.warn(fmt.Sprintf("rules[%d].escalate[%d].after_minutes", i, k),
				"%s asks further people after %d minutes, but its requests expire after %d (default_timeout_minutes), unless the agent asks for longer. Give the rule a longer time.",
				capital(l.of(i)), s.AfterMinutes, l.doc.DefaultTimeoutMinutes)
		}
	}
}

// substitutesText is what a rule says of substitutes, in words.
func substitutesText(may *bool) string { return strconv.FormatBool(!noSubstitutes(may)) }

// noSubstitutes reports whether one of several members is false.
func noSubstitutes(members ...*bool) bool {
	return slices.ContainsFunc(members, func(may *bool) bool { return may != nil && !*may })
}

// whom checks entries that name people and groups.
func (c *checker) whom(path string, list []string) {
	for i, who := range list {
		if group, ok := models.GroupOf(who); ok {
			if models.CheckGroupName("", group) != nil {
				c.add(fmt.Sprintf("%s[%d]", path, i), "must name a group after “group:”, such as group:finance")
			}
		} else if !looksLikeEmail(who) {
			c.add(fmt.Sprintf("%s[%d]", path, i),
				"must be an e-mail address such as ann@example.com, or a group such as group:finance")
		}
	}
}
