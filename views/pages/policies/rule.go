package policies

import (
	"fmt"
	"strconv"
	"strings"

	"countersign/models/policy"
	"countersign/views"
)

// RuleInput is what the form of one rule is made of.
type RuleInput struct {
	Index     int // in the draft; behind the last for a new one
	New       bool
	Base      int64
	Revision  int64
	Was       string // its name as it is kept
	Form      policy.Form
	Problems  map[string]string // by path in the document
	Notice    string
	Templates []string      // that it may name
	People    []string      // and groups, to pick reviewers from
	First     bool          // a new one goes before all others
	From      string        // the request that filled it in
	Seen      *policy.Usage // nil: nothing is known
}

// RuleForm is the form of one rule.
type RuleForm struct {
	Title, URL, Was, Base, Revision, Notice, From string
	New, First                                    bool
	Fields                                        []FormField
	Reviewers                                     []string
	ReviewersError                                string
	Matches                                       []string
	People                                        []string
	Others                                        []string
}

// spareReviewers is how many empty fields there are for more people.
const spareReviewers = 2

// NewRuleForm makes the form of one rule.
func NewRuleForm(in RuleInput) RuleForm {
	at := fmt.Sprintf("rules[%d].", in.Index)
	v := RuleForm{
		Title: "Rule “" + in.Was + "”", URL: views.PolicyRuleURL(in.Index + 1), Was: in.Was, Notice: in.Notice, From: in.From,
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10),
		New: in.New, First: in.First, People: in.People,
	}
	if in.New {
		v.Title, v.URL = "A new rule", views.NewPolicyRuleURL("")
	}
	for _, f := range rulePolicyFields {
		if f.path == "template" {
			f.choices = templateChoices(in.Templates)
		}
		v.Fields = append(v.Fields, drawField(f, policy.RuleFields(), in.Form, at, in.Problems))
	}
	if text := in.Form["reviewers"]; text != "" {
		v.Reviewers = strings.Split(text, "\n")
	}
	for range spareReviewers {
		v.Reviewers = append(v.Reviewers, "")
	}
	if in.Seen != nil {
		v.Matches = NewToolMatches(in.Form["tools"], in.Form["effect"], *in.Seen)
	}
	v.ReviewersError = problemAt(in.Problems, at+"reviewers")
	v.Others = otherProblems(in.Problems, policy.RuleFields(), at)
	return v
}
