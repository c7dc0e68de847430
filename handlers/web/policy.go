package web

import (
	"net/http"
	"slices"
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

// versionsShown is how many versions the policy page lists.
const versionsShown = 50

func (s *Site) policy(c echo.Context) error {
	standing, err := s.store.CurrentPolicy(c.Request().Context())
	if err != nil {
		return err
	}
	return s.policyPage(c, http.StatusOK, standing, pages.PolicyInput{})
}

// policyPage shows the current policy; in carries a form under way. Whoever is not an admin
// sees the four fields and the rules that send requests to them.
func (s *Site) policyPage(c echo.Context, status int, standing store.PolicyVersion, in pages.PolicyInput) error {
	ctx, v := c.Request().Context(), visitorOf(c)
	doc := standing.Compiled.Document()
	in.Version, in.Admin = standing.Version, v.actor.MayAdminister()
	in.Fields = pages.PolicyFields{
		ApprovalEnabled: doc.ApprovalEnabled, RequiredApprovalTools: doc.RequiredApprovalTools,
		DefaultTimeoutMinutes: int64(doc.DefaultTimeoutMinutes), FallbackAutoApprove: doc.FallbackAutoApprove,
	}
	in.AutoBudgetIncrease, in.Desk = doc.AutoBudgetIncrease, doc
	for _, r := range doc.Rules {
		if in.Admin || namesReviewer(r, v.user.Email) {
			in.Rules = append(in.Rules, ruleView(r))
		}
	}
	if in.Admin {
		versions, err := s.store.Policies(ctx, v.actor, 0, versionsShown)
		if err != nil {
			return err
		}
		for i := range versions {
			in.Versions = append(in.Versions, versionView(versions[i]))
		}
	}
	frame, err := s.frame(c, "Policy", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, pages.PolicyPage(frame, pages.NewPolicy(in, frame.Now)), nil)
}

// policyGuide explains the policy document.
func (s *Site) policyGuide(c echo.Context) error {
	frame, err := s.frame(c, "How the policy works", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, pages.PolicyGuidePage(frame), nil)
}

func namesReviewer(r policy.Rule, email string) bool {
	return slices.ContainsFunc(r.Reviewers, func(named string) bool { return strings.EqualFold(named, email) })
}

func ruleView(r policy.Rule) pages.PolicyRule {
	v := pages.PolicyRule{
		Name: r.Name, Note: r.Note, Effect: string(r.Effect), Risk: string(r.Risk), Reason: r.Reason,
		Tools: r.Tools, Reviewers: r.Reviewers, Energy: r.Energy, RejectReasons: r.RejectReasons,
		ReviewersOnly: r.ReviewersOnly, SelfApproval: r.SelfApproval,
	}
	if r.TimeoutMinutes != nil {
		v.TimeoutMinutes = int64(*r.TimeoutMinutes)
	}
	return v
}

func versionView(v store.PolicyVersion) pages.PolicyVersion {
	return pages.PolicyVersion{Version: v.Version, Author: v.AuthorName, At: v.CreatedAt, Note: v.Note}
}

func (s *Site) policyVersion(c echo.Context) error {
	n, err := strconv.ParseInt(c.Param("n"), 10, 64)
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such version of the policy.")
	}
	ctx := c.Request().Context()
	version, err := s.store.PolicyAt(ctx, actorOf(c), n)
	if err != nil {
		return err
	}
	standing, err := s.store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	frame, err := s.frame(c, "Policy v"+views.Number(n), -1)
	if err != nil {
		return err
	}
	v := pages.NewPolicyDocument(versionView(version), []byte(version.Document), n == standing.Version, frame.Now)
	return handlers.Render(c, http.StatusOK, pages.PolicyVersionPage(frame, v), nil)
}
