package policy

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages/policies"
)

// versionsShown is how many versions the policy page lists.
const versionsShown = 50

// policy shows a page of the policy: to who may draft it their draft, to others the active version.
func (s *Screens) policy(section policies.Section) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !site.ActorOf(c).MayDraft() {
			return s.policyRead(c, section)
		}
		e, err := s.editing(c)
		if err != nil {
			return err
		}
		e.section = section
		return s.policyForm(c, http.StatusOK, e, "")
	}
}

// policyRead shows the active version to somebody who does not draft: the four fields, or the
// rules that send requests to them; to an auditor all rules.
func (s *Screens) policyRead(c echo.Context, section policies.Section) error {
	actor := site.ActorOf(c)
	standing, err := s.Store.CurrentPolicy(c.Request().Context())
	if err != nil {
		return err
	}
	doc := standing.Program.Document()
	in := policyInput(section, standing, doc, s.Store.Now())
	in.Whole = actor.Auditor
	shown, err := policy.DraftOf(doc)
	if err != nil {
		return err
	}
	reader := policy.Person{Email: site.VisitorOf(c).User.Email, Groups: strings.Join(actor.Groups, " ")}
	for i, r := range doc.Rules {
		if actor.Auditor || reader.NamedBy(doc.Resolved(r)) {
			in.Rules = append(in.Rules, shown.Rule(i))
		}
	}
	for i := range doc.Templates {
		in.Templates = append(in.Templates, shown.Template(i))
	}
	if section == policies.Versions {
		if err := s.listVersions(c, &in); err != nil {
			return err
		}
	}
	return s.policyPage(c, http.StatusOK, in)
}

// policyForm shows a page of the draft as a form, or of the active version if there is no draft.
func (s *Screens) policyForm(c echo.Context, status int, e *editing, notice string) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := policyInput(e.section, e.standing, e.standing.Program.Document(), e.now)
	in.Draft = e.view(notice)
	in.Draft.Page, _ = strconv.Atoi(c.QueryParam("rules")) // 0, the first page, if it is not a number
	if sent := c.Request().PostForm.Get("rules"); sent != "" {
		in.Draft.Page, _ = strconv.Atoi(sent)
	}
	retention, err := s.Store.Retention(ctx)
	if err != nil {
		return err
	}
	in.Retention = policies.Retention{Days: retention.Days, Next: retention.Next, Begins: retention.Begins}
	work := drafts.New(s.Store)
	if e.doc != nil && len(e.problems()) == 0 && e.section != policies.Versions {
		usage, err := work.Usage(ctx, actor)
		if err != nil {
			return err
		}
		in.Draft.Warnings = policy.LintIn(e.checked.Document, usage)
	}
	switch e.section {
	case policies.Rules:
		calls, whole, err := work.RecentCalls(ctx, actor, e.now.Add(-week))
		if err != nil {
			return err
		}
		in.Draft.Calls, in.Draft.CallsCut = calls, !whole
	case policies.Settings, policies.Templates:
	case policies.Versions:
		if err := s.listVersions(c, &in); err != nil {
			return err
		}
	}
	return s.policyPage(c, status, in)
}

// week is over which time the calls of rules are counted.
const week = 7 * 24 * time.Hour

// listVersions puts a page of the versions in.
func (s *Screens) listVersions(c echo.Context, in *policies.Input) (err error) {
	before, _ := strconv.ParseInt(c.QueryParam("before"), 10, 64) // 0, the newest, if it is not a number
	if in.Versions, err = s.versions(c.Request().Context(), site.ActorOf(c), max(0, before), versionsShown+1); err != nil {
		return err
	}
	in.NotNewest = before > 0
	if len(in.Versions) > versionsShown {
		in.Versions = in.Versions[:versionsShown]
		in.Older = in.Versions[versionsShown-1].Version
	}
	return nil
}

// keepLonger cancels a retention that has not begun.
func (s *Screens) keepLonger(c echo.Context) error {
	_, err := s.Store.KeepLonger(c.Request().Context(), site.ActorOf(c))
	if failed := site.AsError(err, models.CodeConflict); failed != nil {
		s.SetFlash(c, "retention-begun")
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "retention-cancelled")
	return c.Redirect(http.StatusSeeOther, views.PolicyURL())
}

// policyInput shows what a version says at a time.
func policyInput(section policies.Section, standing store.PolicyVersion, doc policy.Document, at time.Time) policies.Input {
	doc, _, _ = doc.Ended(at)
	return policies.Input{
		Section: section, Version: standing.Version, Unmatched: doc.Unmatched, SavedBy: doc.SavedBy(),
		Fields: policies.Fields{
			ApprovalEnabled: doc.ApprovalEnabled, RequiredApprovalTools: doc.RequiredApprovalTools,
			DefaultTimeoutMinutes: int64(doc.DefaultTimeoutMinutes), FallbackAutoApprove: doc.FallbackAutoApprove,
			ApprovalOffUntil: doc.ApprovalOffUntil, FallbackUntil: doc.FallbackUntil,
		},
	}
}

func (s *Screens) policyPage(c echo.Context, status int, in policies.Input) error {
	in.Reader = site.ActorOf(c)
	if in.Reader.NeedPolicy() == nil {
		var err error
		if in.Proposal, err = drafts.New(s.Store).Proposal(c.Request().Context(), in.Reader); err != nil {
			return err
		}
	}
	frame, err := s.Frame(c, "Policy", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.Page(frame, policies.New(in, frame.Now)), nil)
}

func (s *Screens) versions(ctx context.Context, actor models.Actor, before int64, n int) ([]policies.Version, error) {
	versions, err := s.Store.Policies(ctx, actor, before, n)
	if err != nil {
		return nil, err
	}
	var out []policies.Version
	for i := range versions {
		out = append(out, versionView(versions[i]))
	}
	return out, nil
}

// policyGuide explains the policy document.
func (s *Screens) policyGuide(c echo.Context) error {
	frame, err := s.Frame(c, "How the policy works", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, policies.GuidePage(frame), nil)
}

func versionView(v store.PolicyVersion) policies.Version {
	return policies.Version{Version: v.Version, Author: v.AuthorName, At: v.CreatedAt, Note: v.Note, Signed: v.Signed()}
}

// versionNumber reads the number of a version; any other text is not found.
func versionNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, models.Errorf(models.CodeNotFound, "There is no such version of the policy.")
	}
	return n, nil
}

// policyVersion shows one version, and what changed since another.
func (s *Screens) policyVersion(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	n, err := versionNumber(c.Param("n"))
	if err != nil {
		return err
	}
	version, err := s.Store.PolicyAt(ctx, actor, n)
	if err != nil {
		return err
	}
	standing, err := s.Store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	in := policies.DocumentInput{
		Version: versionView(version), Document: []byte(version.Document), Current: n == standing.Version,
	}
	in.Newest = standing.Version
	status := http.StatusOK
	if text := c.QueryParam("before"); text != "" {
		with, wrong := versionNumber(text)
		if wrong != nil || with < 1 || with > standing.Version {
			in.Compared = policies.CompareForm{
				Before: text, Error: fmt.Sprintf("must be a version from 1 to %d", standing.Version),
			}
			status = http.StatusUnprocessableEntity
		} else {
			before, err := s.Store.PolicyAt(ctx, actor, with)
			if err != nil {
				return err
			}
			in.Before, in.Was, in.Is = with, before.Program.Document(), version.Program.Document()
		}
	}
	frame, err := s.Frame(c, "Policy v"+views.Number(n), -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.VersionPage(frame, policies.NewDocument(in, frame.Now)), nil)
}

// restorePolicy makes an old version the draft, to be reviewed.
func (s *Screens) restorePolicy(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	n, err := versionNumber(c.Param("n"))
	if err != nil {
		return err
	}
	version, err := s.Store.PolicyAt(ctx, actor, n)
	if err != nil {
		return err
	}
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	// What an end of that time let through is over: it is not restored.
	doc, gate, fallback := version.Program.Document().Ended(e.now)
	text, err := doc.Marshal()
	if err != nil {
		return err
	}
	if _, err := drafts.New(s.Store).Keep(ctx, actor, e.standing.Version, e.draft.Revision, string(text)); err != nil {
		return err
	}
	if gate || fallback {
		s.SetFlash(c, "restored-ended")
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyReviewURL())
}
