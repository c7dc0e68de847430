package policy

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// noTemplate is the answer about a template that the draft does not have.
func noTemplate() error {
	return models.Errorf(models.CodeNotFound, "Your draft has no such template. It may have been renamed or deleted.")
}

// showPolicyTemplate is the form of one template of the draft, or of a new one.
func (s *Screens) showPolicyTemplate(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	if e.doc == nil {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	in := policies.RuleInput{New: c.Param("n") == "new", Index: e.doc.Templates()}
	if !in.New {
		n, err := strconv.Atoi(c.Param("n"))
		if err != nil || n < 1 || n > e.doc.Templates() {
			return noTemplate()
		}
		in.Index, in.Problems = n-1, e.checked.Problems
	}
	in.Form = e.doc.Template(in.Index)
	in.Was = in.Form["name"]
	return s.templateForm(c, http.StatusOK, e, in)
}

func (s *Screens) templateForm(c echo.Context, status int, e *editing, in policies.RuleInput) error {
	in.Base, in.Revision = e.draft.Base, e.draft.Revision
	var err error
	if in.People, err = s.whoMayReview(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	var usedBy []string
	for _, i := range e.doc.RulesOf(in.Was) {
		usedBy = append(usedBy, e.doc.Rule(i)["name"])
	}
	frame, err := s.Frame(c, "Template", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.TemplatePage(frame, policies.NewTemplateForm(in, usedBy)), nil)
}

// changePolicyTemplate puts a template into the draft. Rules that name it follow when it is
// renamed.
func (s *Screens) changePolicyTemplate(c echo.Context) error {
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
	sent := readFields(form, policy.TemplateFields())
	sent["reviewers"] = withoutBlanks(form["reviewers"])
	in := policies.RuleInput{New: c.Param("n") == "new", Was: form.Get("was"), Form: shownTemplate(sent)}
	if in.Index, err = templateIndex(e.doc, c.Param("n"), in.Was); err != nil {
		return err
	}
	if form.Get("step") == "more" {
		in.Form["reviewers"] += strings.Repeat("\n", spareFields)
		return s.templateForm(c, http.StatusOK, e, in)
	}
	if !same {
		in.Notice = otherWindow
		return s.templateForm(c, http.StatusConflict, e, in)
	}
	e.doc.PutTemplate(in.Index, sent)
	followTemplate(e.doc, in)
	e.check()
	if err := s.keep(c, e); err != nil {
		return partNotKept(c, e, in, err, s.templateForm)
	}
	return afterPart(c, e, in, fmt.Sprintf("templates[%d].", in.Index), views.PolicyTemplatesURL(), s.templateForm)
}

// followTemplate has rules name a template by the name that it has now, where no other has
// the one that it had.
func followTemplate(d *policy.Draft, in policies.RuleInput) {
	name := in.Form["name"]
	if in.New || name == in.Was || name == "" || slices.Contains(d.TemplateNames(), in.Was) {
		return
	}
	for _, i := range d.RulesOf(in.Was) {
		d.PutRule(i, policy.Form{"template": name})
	}
}

// shownTemplate is what a form shows of what it was sent, as shown is of a rule.
func shownTemplate(sent policy.Form) policy.Form {
	d, err := policy.ReadDraft([]byte("{}"))
	if err != nil {
		return sent
	}
	d.PutTemplate(0, sent)
	return d.Template(0)
}

// templateIndex finds the template that a form was shown for: at its place, or elsewhere by
// the name that it had.
func templateIndex(d *policy.Draft, place, was string) (int, error) {
	if i, ok := partIndex(d.Templates(), d.Template, place, was); ok {
		return i, nil
	}
	return 0, noTemplate()
}

// changeTemplates does what a button in the list of templates says, and tells where that
// leads; empty: it was none of them. CodeConflict: rules use a template that is to go.
func changeTemplates(d *policy.Draft, step, which string) (leads string, err error) {
	step, ok := strings.CutSuffix(step, "-template")
	if !ok {
		return "", nil
	}
	if step == "add" {
		return views.NewPolicyTemplateURL(), nil
	}
	i, err := strconv.Atoi(which)
	if there := err == nil && i >= 0 && i < d.Templates(); !there {
		return views.PolicyTemplatesURL(), nil
	}
	switch step {
	case "edit":
		return views.PolicyTemplateURL(i + 1), nil
	case "duplicate":
		d.DuplicateTemplate(i)
	case "delete":
		if n := len(d.RulesOf(d.Template(i)["name"])); n > 0 {
			return "", models.Errorf(models.CodeConflict, "This template can't be deleted: %s. Choose another template there first.", ruleCount(n))
		}
		d.DeleteTemplate(i)
	}
	return views.PolicyTemplatesURL(), nil
}

func ruleCount(n int) string {
	if n == 1 {
		return "1 rule uses it"
	}
	return strconv.Itoa(n) + " rules use it"
}
