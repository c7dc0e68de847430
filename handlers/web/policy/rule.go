package policy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/condition"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// rules are the rules of a draft.
func (s *Screens) rules() part {
	return part{
		fields: policy.RuleFields(), path: "rules[%d].", take: takeRule,
		none:  "Your draft has no such rule. It may have been moved or deleted.",
		count: (*policy.Draft).Rules, read: (*policy.Draft).Rule, form: s.ruleForm,
		put: func(d *policy.Draft, in *policies.RuleInput, sent policy.Form) {
			d.PutRule(in.Index, sent)
			if in.New && in.First {
				d.MoveRule(in.Index, 0)
				in.Index = 0
			}
		},
		list: func(in policies.RuleInput) string { return views.PolicyRuleRowURL(in.Index + 1) },
	}
}

// takeRule reads what the form of a rule has beside its members: the tools that are ticked, and the rows of its
// condition. ok is false if rows are wrong.
func takeRule(form url.Values, was policy.Form, in *policies.RuleInput, sent policy.Form) (ok bool) {
	sent["tools"] = readTools(form, sent["tools"], was["tools"])
	in.Condition = readCondition(form)
	return writeCondition(&in.Condition, sent)
}

// showPolicyRule is the form of one rule of the draft, or of a new one.
func (s *Screens) showPolicyRule(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	if e.doc == nil {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	in := policies.RuleInput{New: c.Param("n") == "new"}
	if in.New {
		in.Index = e.doc.Rules()
		in.Form = e.doc.Rule(in.Index)
		if from := c.QueryParam("from"); from != "" {
			if in.Form, err = s.ruleFrom(c, models.ResponseID(from)); err != nil {
				return err
			}
			in.From, in.First = from, true
		}
		return s.ruleForm(c, http.StatusOK, e, in)
	}
	return s.showPart(c, s.rules(), e, in)
}

// changePolicyRule puts a rule into the draft.
func (s *Screens) changePolicyRule(c echo.Context) error { return s.changePart(c, s.rules()) }

// ruleFrom fills in a rule for calls like a request.
func (s *Screens) ruleFrom(c echo.Context, id models.ResponseID) (policy.Form, error) {
	a, err := s.Store.Requests.Approval(c.Request().Context(), site.ActorOf(c), id)
	if err != nil {
		return nil, err
	}
	empty, err := policy.ReadDraft([]byte("{}"))
	if err != nil {
		return nil, err
	}
	form := empty.Rule(0)
	form["tools"], form["risk"] = a.ToolName, string(a.Risk)
	if a.ToolName != "" {
		form["name"] = a.ToolName
	}
	form["reviewers"] = strings.Join(a.Approvers().Reviewers(), "\n")
	return form, nil
}

func (s *Screens) ruleForm(c echo.Context, status int, e *editing, in policies.RuleInput) error {
	in.Base, in.Revision = e.draft.Base, e.draft.Revision
	var err error
	if in.People, err = s.whoMayReview(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	usage, err := drafts.New(s.Store).Usage(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	in.Seen, in.Templates = &usage, e.doc.TemplateNames()
	if in.Condition.Mode == "" {
		in.Condition = policies.ConditionOf(in.Form["when"])
	}
	all, err := drafts.New(s.Store).Samples(c.Request().Context(), site.ActorOf(c), drafts.SampleQuery{})
	if err != nil {
		return err
	}
	in.Tools = seenTools(all.Calls, usage.Tools)
	if err := s.sample(c, e, &in); err != nil {
		return err
	}
	s.explain(&in)
	v := policies.NewRuleForm(in)
	frame, err := s.Frame(c, "Rule", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.RulePage(frame, v), nil)
}

// explain says in words why the condition of a rule can't be read, with what its author may have meant.
func (s *Screens) explain(in *policies.RuleInput) {
	path := fmt.Sprintf("rules[%d].when", in.Index)
	if in.Problems[path] == "" {
		return
	}
	if _, err := condition.Compile(in.Form["when"]); err != nil {
		in.Problems = maps.Clone(in.Problems)
		in.Problems[path] = policies.WithoutCode(condition.Explain(err, in.Form["when"], in.Members))
	}
}

// showToolMatches says which tools that were seen the tools of a rule match, as they are
// typed.
func (s *Screens) showToolMatches(c echo.Context) error {
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	usage, err := drafts.New(s.Store).Usage(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	form := c.Request().PostForm
	panel := policies.ToolMatches(policies.NewToolMatches(form.Get("tools"), form.Get("effect"), usage))
	return handlers.Render(c, http.StatusOK, panel, panel)
}

func withoutBlanks(values []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(values), func(s string) bool { return strings.TrimSpace(s) == "" }),
		"\n")
}

// whoMayReview are the groups and people to pick reviewers from.
func (s *Screens) whoMayReview(ctx context.Context, actor models.Actor) ([]string, error) {
	users, err := s.Store.People.Users(ctx, actor)
	if err != nil {
		return nil, err
	}
	groups, err := s.Store.People.Groups(ctx, actor)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range groups {
		out = append(out, models.GroupReviewer(groups[i].Name))
	}
	for i := range users {
		if users[i].DisabledAt == nil {
			out = append(out, users[i].Email)
		}
	}
	return out, nil
}
