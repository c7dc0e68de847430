package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages"
)

// changePolicy takes the form of the fields: first to review what would
// change, then to save it, or to go back to the form.
func (s *Site) changePolicy(c echo.Context) error {
	r := c.Request()
	form := readPolicyForm(r.PostForm)
	standing, err := s.store.CurrentPolicy(r.Context())
	if err != nil {
		return err
	}
	in := pages.PolicyInput{Form: &form}
	if form.BaseVersion != standing.Version {
		in.Stale = true
		return s.policyPage(c, http.StatusConflict, standing, in)
	}
	before := standing.Compiled.Document()
	after, err := documentOf(form, before)
	if e := asError(err, models.CodeInvalid); e != nil {
		form.Errors = e.Fields
		return s.policyPage(c, http.StatusUnprocessableEntity, standing, in)
	}
	if err != nil {
		return err
	}
	switch r.PostForm.Get("step") {
	case "review":
		in.Review = true
		for _, d := range policy.Diff(before, after) {
			in.Changes = append(in.Changes, pages.PolicyChange{Path: d.Path, Before: d.Before, After: d.After})
		}
		return s.policyPage(c, http.StatusOK, standing, in)
	case "save":
		return s.savePolicy(c, standing, after, in)
	}
	return s.policyPage(c, http.StatusOK, standing, in)
}

func (s *Site) savePolicy(c echo.Context, standing store.PolicyVersion, doc policy.Document, in pages.PolicyInput) error {
	ctx := c.Request().Context()
	raw, err := doc.Marshal()
	if err != nil {
		return err
	}
	saved, err := s.store.ApplyPolicy(ctx, actorOf(c), raw, in.Form.Note, in.Form.BaseVersion)
	if e := asError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		in.Form.Errors, in.Stale = e.Fields, e.Code == models.CodeConflict
		if standing, err = s.store.CurrentPolicy(ctx); err != nil {
			return err
		}
		return s.policyPage(c, handlers.Status(e.Code), standing, in)
	}
	if err != nil {
		return err
	}
	if saved.Version == standing.Version {
		s.setFlash(c, "policy-same")
	} else {
		s.setFlash(c, "policy-saved")
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyURL())
}

func readPolicyForm(values url.Values) pages.PolicyForm {
	// A version that is not a number can't be the current one.
	base, err := strconv.ParseInt(values.Get("base_version"), 10, 64)
	if err != nil {
		base = 0
	}
	return pages.PolicyForm{
		ApprovalEnabled:       values.Get("approval_enabled") == "true",
		RequiredApprovalTools: strings.ReplaceAll(values.Get("required_approval_tools"), "\r\n", "\n"),
		DefaultTimeoutMinutes: strings.TrimSpace(values.Get("default_timeout_minutes")),
		FallbackAutoApprove:   values.Get("fallback_auto_approve") == "true",
		RetentionDays:         strings.TrimSpace(values.Get("retention_days")),
		Note:                  strings.TrimSpace(values.Get("note")),
		BaseVersion:           base,
	}
}

// documentOf puts the fields of the form into the current document, and has the
// whole checked as it would be on saving.
func documentOf(form pages.PolicyForm, doc policy.Document) (policy.Document, error) {
	before := doc
	minutes, err := strconv.Atoi(form.DefaultTimeoutMinutes)
	if err != nil {
		return doc, models.Invalid("default_timeout_minutes", "must be a whole number of minutes")
	}
	doc.ApprovalEnabled, doc.FallbackAutoApprove = form.ApprovalEnabled, form.FallbackAutoApprove
	doc.DefaultTimeoutMinutes = minutes
	if form.RetentionDays == "" { // a page from before the field: it stays as it is
		form.RetentionDays = strconv.Itoa(doc.RetentionDays)
	}
	if doc.RetentionDays, err = strconv.Atoi(form.RetentionDays); err != nil {
		return doc, models.Invalid("retention_days", "must be a whole number of days; 0 keeps everything")
	}
	doc.RequiredApprovalTools = []string{}
	for line := range strings.Lines(form.RequiredApprovalTools) {
		if tool := strings.TrimSpace(line); tool != "" {
			doc.RequiredApprovalTools = append(doc.RequiredApprovalTools, tool)
		}
	}
	raw, err := doc.Marshal()
	if err != nil {
		return doc, err
	}
	p, err := policy.ParseChanged(raw, before)
	if err != nil {
		return doc, err
	}
	return p.Document(), nil
}
