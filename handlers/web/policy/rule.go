package policy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// noRule is the answer about a rule that the draft does not have.
func noRule() error {
	return models.Errorf(models.CodeNotFound, "Your draft has no such rule. It may have been moved or deleted.")
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
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 || n > e.doc.Rules() {
		return noRule()
	}
	in.Index, in.Form, in.Problems = n-1, e.doc.Rule(n-1), e.checked.Problems
	in.Was = in.Form["name"]
	return s.ruleForm(c, http.StatusOK, e, in)
}

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
	v := policies.NewRuleForm(in)
	frame, err := s.Frame(c, "Rule", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.RulePage(frame, v), nil)
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

// changePolicyRule puts a rule into the draft.
func (s *Screens) changePolicyRule(c echo.Context) error {
	form := c.Request().PostForm
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	same, err := s.sentFrom(c, e)
	if err != nil {
		return err
	}
	if e.doc == nil {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	sent := readFields(form, policy.RuleFields())
	sent["reviewers"] = withoutBlanks(form["reviewers"])
	in := policies.RuleInput{New: c.Param("n") == "new", Was: form.Get("was"), Form: shown(sent), First: form.Get("place") == "first"}
	in.Index, err = ruleIndex(e.doc, c.Param("n"), in.Was)
	if err != nil {
		return err
	}
	if form.Get("step") == "more" {
		in.Form["reviewers"] += strings.Repeat("\n", spareFields)
		return s.ruleForm(c, http.StatusOK, e, in)
	}
	if !same {
		in.Notice = otherWindow
		return s.ruleForm(c, http.StatusConflict, e, in)
	}
	e.doc.PutRule(in.Index, sent)
	if in.New && in.First {
		e.doc.MoveRule(in.Index, 0)
		in.Index = 0
	}
	e.check()
	if err := s.keep(c, e); err != nil {
		return partNotKept(c, e, in, err, s.ruleForm)
	}
	return afterPart(c, e, in, fmt.Sprintf("rules[%d].", in.Index), views.PolicyRuleRowURL(in.Index+1), s.ruleForm)
}

// partForm shows the form of a rule or of a template.
type partForm func(c echo.Context, status int, e *editing, in policies.RuleInput) error

// partNotKept shows a form again when the draft was too large, or changed meanwhile.
func partNotKept(c echo.Context, e *editing, in policies.RuleInput, err error, form partForm) error {
	failed := site.AsError(err, models.CodeInvalid, models.CodeConflict)
	if failed == nil {
		return err
	}
	in.Notice, in.Problems = otherWindow, failed.Fields
	if failed.Code == models.CodeInvalid {
		in.Notice = "The policy would be too large."
	}
	return form(c, handlers.Status(failed.Code), e, in)
}

// afterPart goes on behind a rule or a template that is kept in the draft: back to its list,
// or, where something is wrong at its path, to its form.
func afterPart(c echo.Context, e *editing, in policies.RuleInput, at, list string, form partForm) error {
	for path := range e.checked.Problems {
		if strings.HasPrefix(path, at) {
			in.New, in.Was, in.Problems = false, in.Form["name"], e.checked.Problems
			in.Notice = notValidYet
			return form(c, http.StatusUnprocessableEntity, e, in)
		}
	}
	return c.Redirect(http.StatusSeeOther, list)
}

// shown is what a form shows of what it was sent: characters that nobody would see with
// their codes.
func shown(sent policy.Form) policy.Form {
	d, err := policy.ReadDraft([]byte("{}"))
	if err != nil {
		return sent
	}
	d.PutRule(0, sent)
	return d.Rule(0)
}

// spareFields are what "More fields" adds.
const spareFields = 3

// ruleIndex finds the rule that a form was shown for: at its place, or elsewhere by the
// name that it had.
func ruleIndex(d *policy.Draft, place, was string) (int, error) {
	if i, ok := partIndex(d.Rules(), d.Rule, place, was); ok {
		return i, nil
	}
	return 0, noRule()
}

// partIndex finds a rule or a template among n of them, by its place or its name; a new one
// is behind the last.
func partIndex(n int, part func(int) policy.Form, place, was string) (int, bool) {
	if place == "new" {
		return n, true
	}
	if at, err := strconv.Atoi(place); err == nil && at >= 1 && at <= n && part(at - 1)["name"] == was {
		return at - 1, true
	}
	for i := range n {
		if part(i)["name"] == was {
			return i, true
		}
	}
	return 0, false
}

func withoutBlanks(values []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(values), func(s string) bool { return strings.TrimSpace(s) == "" }), "\n")
}

// whoMayReview are the people and groups to pick reviewers from.
func (s *Screens) whoMayReview(ctx context.Context, actor models.Actor) ([]string, error) {
	users, err := s.Store.People.Users(ctx, actor)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range users {
		if users[i].DisabledAt == nil {
			out = append(out, users[i].Email)
		}
	}
	groups, err := s.Store.People.Groups(ctx, actor)
	for i := range groups {
		out = append(out, models.GroupReviewer(groups[i].Name))
	}
	return out, err
}
