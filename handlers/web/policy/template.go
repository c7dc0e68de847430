package policy

import (
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

// templates are the templates of a draft. Rules that name one follow when it is renamed.
func (s *Screens) templates() part {
	return part{
		fields: policy.TemplateFields(), path: "templates[%d].",
		none:  "Your draft has no such template. It may have been renamed or deleted.",
		count: (*policy.Draft).Templates, read: (*policy.Draft).Template, form: s.templateForm,
		put: func(d *policy.Draft, in *policies.RuleInput, sent policy.Form) {
			d.PutTemplate(in.Index, sent)
			followTemplate(d, *in)
		},
		list: func(policies.RuleInput) string { return views.PolicyTemplatesURL() },
	}
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
	return s.showPart(c, s.templates(), e, policies.RuleInput{New: c.Param("n") == "new"})
}

// changePolicyTemplate puts a template into the draft.
func (s *Screens) changePolicyTemplate(c echo.Context) error { return s.changePart(c, s.templates()) }

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
			return "", models.Errorf(models.CodeConflict,
				"This template can't be deleted: %s. Choose another template there first.", ruleCount(n))
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
