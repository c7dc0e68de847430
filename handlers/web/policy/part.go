package policy

import (
	"fmt"
	"net/http"
	"net/url"
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

// part is a kind of thing of which a draft has several, each with a form: rules, or templates.
type part struct {
	fields []policy.Field
	count  func(*policy.Draft) int
	read   func(*policy.Draft, int) policy.Form
	put    func(d *policy.Draft, in *policies.RuleInput, sent policy.Form)
	form   func(c echo.Context, status int, e *editing, in policies.RuleInput) error
	list   func(policies.RuleInput) string // the address to which a form leads that is in order
	// take reads what the form has beside its members; ok is false if that is wrong. nil: there is nothing.
	take func(form url.Values, was policy.Form, in *policies.RuleInput, sent policy.Form) (ok bool)
	path string // of the problems of one, by its index
	none string // the answer about one that the draft does not have
}

// showPart is the form of one, or of a new one behind the last.
func (s *Screens) showPart(c echo.Context, p part, e *editing, in policies.RuleInput) error {
	in.Index = p.count(e.doc)
	if !in.New {
		n, err := strconv.Atoi(c.Param("n"))
		if err != nil || n < 1 || n > in.Index {
			return models.Errorf(models.CodeNotFound, "%s", p.none)
		}
		in.Index, in.Problems = n-1, e.checked.Problems
	}
	in.Form = p.read(e.doc, in.Index)
	in.Was = in.Form["name"]
	return p.form(c, http.StatusOK, e, in)
}

// changePart puts what a form says into the draft.
func (s *Screens) changePart(c echo.Context, p part) error {
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
	sent := readFields(form, p.fields)
	sent["reviewers"] = withoutBlanks(form["reviewers"])
	if rows, there := form["approvals"]; there {
		sent["approvals"] = signersOf(rows, form[policies.SignersCount], form[policies.SignersMinutes])
	}
	in := policies.RuleInput{New: c.Param("n") == "new", Was: form.Get("was"), First: form.Get("place") == "first"}
	if in.Index, err = p.index(e.doc, c.Param("n"), in.Was); err != nil {
		return err
	}
	ok := p.take == nil || p.take(form, p.read(e.doc, in.Index), &in, sent)
	in.Form = p.shown(sent)
	switch step := form.Get("step"); {
	case step == "more" || step == "more-rows" || step == "more-signers" || step == "check":
		addFields(&in, step)
		return p.form(c, http.StatusOK, e, in)
	case !ok:
		in.Notice = notValidYet
		return p.form(c, http.StatusUnprocessableEntity, e, in)
	case !same:
		in.Notice = otherWindow
		return p.form(c, http.StatusConflict, e, in)
	}
	p.put(e.doc, &in, sent)
	e.check()
	if err := s.keep(c, e); err != nil {
		return p.notKept(c, e, in, err)
	}
	at := fmt.Sprintf(p.path, in.Index)
	for path := range e.checked.Problems {
		if strings.HasPrefix(path, at) {
			in.New, in.Was, in.Problems, in.Notice = false, in.Form["name"], e.checked.Problems, notValidYet
			return p.form(c, http.StatusUnprocessableEntity, e, in)
		}
	}
	return c.Redirect(http.StatusSeeOther, p.list(in))
}

// signersOf are rows of a form as lines of the draft.
func signersOf(from, counts, minutes []string) string {
	at := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return ""
	}
	var lines []string
	for i := range from {
		row := policies.SignersRow{Count: at(counts, i), From: from[i], Minutes: at(minutes, i)}
		if line := row.Line(); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// addFields adds the fields that a button asks for.
func addFields(in *policies.RuleInput, step string) {
	switch step {
	case "more":
		in.Form["reviewers"] += strings.Repeat("\n", spareFields)
	case "more-signers":
		in.MoreSigners = true
	case "more-rows":
		in.Condition.Rows = append(in.Condition.Rows, policies.ConditionRow{})
	}
}

// notKept shows a form again when the draft was too large, or changed meanwhile.
func (p part) notKept(c echo.Context, e *editing, in policies.RuleInput, err error) error {
	failed := site.AsError(err, models.CodeInvalid, models.CodeConflict)
	if failed == nil {
		return err
	}
	in.Notice, in.Problems = otherWindow, failed.Fields
	if failed.Code == models.CodeInvalid {
		in.Notice = "The policy would be too large."
	}
	return p.form(c, handlers.Status(failed.Code), e, in)
}

// shown is a sent form with its invisible characters as visible codes.
func (p part) shown(sent policy.Form) policy.Form {
	d, err := policy.ReadDraft([]byte("{}"))
	if err != nil {
		return sent
	}
	p.put(d, &policies.RuleInput{Form: sent}, sent)
	return p.read(d, 0)
}

// index finds the one for which a form was shown: at its place, or elsewhere by the name that
// it had. A new one is behind the last.
func (p part) index(d *policy.Draft, place, was string) (int, error) {
	n := p.count(d)
	if place == "new" {
		return n, nil
	}
	if at, err := strconv.Atoi(place); err == nil && at >= 1 && at <= n && p.read(d, at-1)["name"] == was {
		return at - 1, nil
	}
	for i := range n {
		if p.read(d, i)["name"] == was {
			return i, nil
		}
	}
	return 0, models.Errorf(models.CodeNotFound, "%s", p.none)
}

// spareFields are what "More fields" adds.
const spareFields = 3
