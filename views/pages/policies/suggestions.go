package policies

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/suggest"
	"countersign/views"
	"countersign/views/ui"
)

// SuggestionsInput is what the page of suggested rules is made of.
type SuggestionsInput struct {
	suggest.Report

	Days                 int    // over how many days
	Key, Note, NoteError string // typed to dismiss one, and the mistake in it
	Notice               string
	Now                  time.Time
}

// Suggestions is the view model of the page.
type Suggestions struct {
	Intro, Scope, Before, Notice string
	Needs                        string // what it takes for a suggestion
	Since                        views.Moment
	List                         []SuggestionCard
	Dismissals                   []DismissalCard
}

// SuggestionCard is one suggestion.
type SuggestionCard struct {
	ID, Key    string
	Title      []Phrase
	Facts      []string
	Examples   []ExampleLink
	Rule       []RulePart // none: no rule is added
	Place      []Phrase
	Takes      string // what the button says
	Note       ui.Field
	NoteIsOpen bool
}

// ExampleLink leads to one of the calls.
type ExampleLink struct {
	URL string
	At  views.Moment
}

// RulePart is a member of a rule.
type RulePart struct{ Name, Value string }

// DismissalCard is one that somebody dismissed.
type DismissalCard struct {
	Key   string
	Title []Phrase
	Note  string
	By    string
	At    views.Moment
}

// NewSuggestions makes the page.
func NewSuggestions(in SuggestionsInput) Suggestions {
	v := Suggestions{
		Intro:  fmt.Sprintf("What people always decided in the same way in the last %d days. A suggestion goes into your draft: nothing is switched on automatically.", in.Days),
		Needs:  fmt.Sprintf("A suggestion takes %d calls of one agent and tool that people all decided in the same way, and that one narrow rule can tell from the others.", suggest.MinCalls),
		Notice: in.Notice,
	}
	if !in.Since.IsZero() {
		v.Scope, v.Since = "Looked at "+callsSpoken(in.Calls)+" that waited for a person. The first was asked", views.Ago(in.Since, in.Now)
	}
	if in.Cut {
		v.Before = "There are more: of older ones, the rejected calls count too."
	}
	for i := range in.Found {
		card := suggestionCard(&in.Found[i], in.Now)
		if in.Key == card.Key {
			card.Note.Value, card.Note.Error, card.NoteIsOpen = in.Note, in.NoteError, true
		}
		v.List = append(v.List, card)
	}
	for i := range in.Dismissals {
		d := &in.Dismissals[i]
		v.Dismissals = append(v.Dismissals, DismissalCard{
			Key: d.Key, Title: suggestionTitle(&d.Suggestion), Note: d.By.Note, By: d.By.ByName, At: views.Ago(d.By.At, in.Now),
		})
	}
	return v
}

func suggestionCard(s *suggest.Suggestion, now time.Time) SuggestionCard {
	id := "suggestion-" + s.Key[len(s.Key)-12:]
	c := SuggestionCard{
		ID: id, Key: s.Key, Title: suggestionTitle(s), Facts: suggestionFacts(s), Takes: "Add to draft",
		Note: ui.Field{
			Name: "note", ID: id + "-note", Label: "Why not?", MaxLength: fmt.Sprint(models.MaxReason), Required: true,
			Help: "For those who wonder later. It stays dismissed until somebody takes that back.",
		},
	}
	for _, e := range s.Examples {
		c.Examples = append(c.Examples, ExampleLink{views.ApprovalURL(e.ID), views.Ago(e.At, now)})
	}
	if s.Kind == suggest.Checklist {
		c.Takes = "Open the rule"
		return c
	}
	c.Rule = []RulePart{{"name", s.Rule.Name}, {"tools", strings.Join(s.Rule.Tools, "\n")}, {"when", s.Rule.When}, {"effect", string(s.Rule.Effect)}, {"risk", string(s.Rule.Risk)}}
	if s.Rule.Energy > 0 {
		c.Rule = append(c.Rule, RulePart{"energy", views.Number(s.Rule.Energy)})
	}
	if s.Rule.Reason != "" {
		c.Rule = append(c.Rule, RulePart{"reason", s.Rule.Reason})
	}
	c.Place = []Phrase{{Text: "It goes behind all rules."}}
	if !isBuiltIn(s.Holds) {
		c.Place = []Phrase{{Text: "It goes before the rule "}, {Text: s.Holds, Strong: true}, {Text: ", which these calls wait by now."}}
	}
	return c
}

// isBuiltIn reports whether a call waits by no rule of the document.
func isBuiltIn(rule string) bool {
	return rule == policy.RuleExplicit || rule == policy.RuleUnmatched || rule == policy.RuleRequiredTools
}

// suggestionTitle says a suggestion in a sentence.
func suggestionTitle(s *suggest.Suggestion) []Phrase {
	if s.Kind == suggest.Checklist {
		return []Phrase{{Text: "Add a checklist to the rule "}, {Text: s.Rule.Name, Strong: true}}
	}
	out := []Phrase{{Text: "Let "}, {Text: s.Tool, Strong: true}, {Text: " by "}, {Text: s.Agent, Strong: true}, {Text: " run without a person"}}
	if s.Kind == suggest.Deny {
		out = []Phrase{{Text: "Deny "}, {Text: s.Tool, Strong: true}, {Text: " by "}, {Text: s.Agent, Strong: true}}
	}
	for i, t := range s.Terms {
		joint := ", where "
		if i > 0 {
			joint = " and "
		}
		out = append(out, Phrase{Text: joint})
		out = append(out, termSays(t)...)
	}
	return out
}

// titleValues is how many values of a list a title names; the rule has them all.
const titleValues = 3

func termSays(t suggest.Term) []Phrase {
	out := []Phrase{{Text: t.Part, Written: true}, {Text: map[suggest.How]string{
		suggest.Is: " is ", suggest.OneOf: " is one of ", suggest.Below: " is in ", suggest.At: " begins with ", suggest.Between: " is from ",
	}[t.How]}}
	joint := ", "
	if t.How == suggest.Between {
		joint = " to "
	}
	for i, value := range t.Values {
		if i == titleValues && len(t.Values) > titleValues+1 {
			return append(out, Phrase{Text: " and " + strconv.Itoa(len(t.Values)-i) + " more"})
		}
		if i > 0 {
			out = append(out, Phrase{Text: joint})
		}
		if strings.TrimSpace(value) == "" {
			value = "“" + value + "”"
		}
		out = append(out, Phrase{Text: value, Strong: true})
	}
	return out
}

// suggestionFacts say what a suggestion is made from, what it would have done, and what it leaves.
func suggestionFacts(s *suggest.Suggestion) []string {
	always := "always approved, never edited"
	if s.Kind == suggest.Deny {
		always = "always rejected"
	}
	people := "1 person"
	if s.People > 1 {
		people = views.Number(int64(s.People)) + " people"
	}
	out := []string{
		fmt.Sprintf("Decided %s times, %s, by %s. Half of them took at most %s.", views.Number(int64(s.Calls)), always, people, models.SpokenDuration(max(time.Second, s.Half))),
	}
	if s.Kind == suggest.Checklist {
		return append(out, "Its calls have "+string(s.Risk)+" risk. A checklist has its approver look at each point before they approve.")
	}
	would := "run without a person. None of the calls that were rejected or edited is among them"
	if s.Kind == suggest.Deny {
		would = "been denied. None of the calls that were approved is among them"
	}
	says := fmt.Sprintf("Replayed with this rule, %s would have %s", callsSpoken(s.Calls+s.Open), would)
	if s.Open > 0 {
		says += "; " + views.Number(int64(s.Open)) + " nobody decided"
	}
	out = append(out, says+".")
	if s.OtherTerms > 0 {
		out = append(out, callsSpoken(s.OtherTerms)+" would have waited on other terms, since the rule can't be judged of them.")
	}
	return append(out, leftSays(s))
}

func leftSays(s *suggest.Suggestion) string {
	var parts []string
	for _, one := range []struct {
		n    int
		text string
	}{
		{s.Rest.Approved, "approved"}, {s.Rest.Rejected, "rejected"}, {s.Rest.Edited, "edited or asked about"}, {s.Rest.Other, "not decided"},
	} {
		if one.n > 0 {
			parts = append(parts, views.Number(int64(one.n))+" "+one.text)
		}
	}
	if len(parts) == 0 {
		return "It covers all calls that this agent made of this tool."
	}
	text := "It does not cover this agent's other calls of the tool: " + strings.Join(parts, ", ") + "."
	if n := s.Rest.Unreadable; n > 0 {
		text += " " + views.Number(int64(n)) + " of them no rule can say exactly."
	}
	return text
}
