package policy

import (
	"context"
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
	"countersign/models/upkeep"
	"countersign/views"
	"countersign/views/pages/policies"
)

// reviewPolicy says what saving the draft would change.
func (s *Screens) reviewPolicy(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	return s.policyReview(c, http.StatusOK, e, policies.ReviewInput{})
}

// policyReview shows the draft beside what it would change, or the form if it is not valid.
func (s *Screens) policyReview(c echo.Context, status int, e *editing, in policies.ReviewInput) error {
	if e.doc == nil || len(e.checked.Problems) > 0 {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	in.Base, in.Revision, in.Standing = e.draft.Base, e.draft.Revision, e.standing.Version
	in.Now = e.now
	if err := s.proposes(c, e, &in); err != nil {
		return err
	}
	for path, text := range e.ends() {
		in.Error = path + " " + text + ". Change it on the form: your draft is kept."
	}
	in.Before, in.After = e.standing.Program.Document(), e.checked.Document
	if e.stale() {
		base := e.base.Program.Document()
		_, clashes, err := policy.Merge(base, in.Before, in.After)
		if err != nil {
			return err
		}
		in.By, in.Began, in.Clashes = e.standing.AuthorName, base, clashes
	} else {
		usage, err := drafts.New(s.Store).Usage(c.Request().Context(), site.ActorOf(c))
		if err != nil {
			return err
		}
		in.Warnings = policy.LintIn(in.After, usage)
		in.Replay = s.replayedBriefly(c, e)
		if in.Removal == nil {
			in.Removal = &policies.Removal{}
		}
		if err := s.removal(c, &in); err != nil {
			return err
		}
	}
	frame, err := s.Frame(c, "Review your draft", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.ReviewPage(frame, policies.NewReview(in)), nil)
}

// removal says what a retention will remove that starts or gets shorter.
func (s *Screens) removal(c echo.Context, in *policies.ReviewInput) error {
	days := in.After.RetentionDays
	if !policy.KeepsLonger(in.Before.RetentionDays, days) || !site.ActorOf(c).MayAdminister() {
		in.Removal = nil // the admin who saves it is warned
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), reviewWaits)
	defer cancel()
	dry, err := upkeep.New(s.Store).NewPurge(ctx, site.ActorOf(c),
		models.PurgeQuery{Before: s.Store.Now().AddDate(0, 0, -days), DryRun: true})
	if err != nil {
		return err
	}
	_, err = dry.All(ctx)
	if err != nil && ctx.Err() == nil {
		return err
	}
	in.Removal.Days, in.Removal.Rows, in.Removal.AtLeast = days, dry.Report.Rows(), err != nil
	return nil
}

// Of what a review says of real calls: how many are judged, and how long it waits for that.
const (
	reviewReplays = 1000
	reviewWaits   = 2 * time.Second
)

// replayedBriefly is what the draft would have made of the last calls; nil if that can't be
// told soon.
func (s *Screens) replayedBriefly(c echo.Context, e *editing) *policy.Tally {
	next, err := e.compiled()
	if err != nil || next == nil {
		return nil
	}
	return s.replayedOf(c, e.standing.Program, next)
}

func (s *Screens) replayedOf(c echo.Context, standing, next *policy.Policy) *policy.Tally {
	ctx, cancel := context.WithTimeout(c.Request().Context(), reviewWaits)
	defer cancel()
	found, err := drafts.New(s.Store).Replay(ctx, site.ActorOf(c), standing, next,
		drafts.ReplayQuery{Last: reviewReplays}, func(int) {})
	if err != nil {
		return nil
	}
	return &found.Tally
}

// saveOrMergePolicy makes the draft a version, or puts it on top of the version that
// somebody else saved.
func (s *Screens) saveOrMergePolicy(c echo.Context) error {
	form := c.Request().PostForm
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	in := policies.ReviewInput{Note: form.Get("note")}
	if form.Get("revision") != strconv.FormatInt(e.draft.Revision, 10) {
		in.Error = "Your draft was changed in another window. This is the current version."
		return s.policyReview(c, http.StatusConflict, e, in)
	}
	if form.Get("step") == "merge" {
		return s.mergePolicy(c, e)
	}
	if e.stale() {
		return s.policyReview(c, http.StatusConflict, e, in)
	}
	if strings.TrimSpace(in.Note) == "" {
		in.NoteError = "Say why you are making this change."
	}
	actor, days := site.ActorOf(c), e.checked.Document.RetentionDays
	if text := strings.TrimSpace(form.Get("retention_typed")); actor.MayAdminister() && policy.KeepsLonger(e.standing.Program.Document().RetentionDays, days) && text != strconv.Itoa(days) {
		in.Removal = &policies.Removal{
			Text: text, Error: "must be " + strconv.Itoa(days) + ", to confirm that contents are removed",
		}
	}
	if in.NoteError != "" || in.Removal != nil {
		return s.policyReview(c, http.StatusUnprocessableEntity, e, in)
	}
	work, note := drafts.New(s.Store), strings.TrimSpace(in.Note)
	if adminsFor(actor, e) > 0 {
		err := work.Propose(c.Request().Context(), actor, e.draft.Revision, note)
		if failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); failed != nil {
			return s.notSaved(c, failed, in)
		}
		if err != nil {
			return err
		}
		s.SetFlash(c, "policy-proposed")
		return c.Redirect(http.StatusSeeOther, views.PolicyProposalURL())
	}
	saved, err := work.Apply(c.Request().Context(), actor, e.draft.Revision, note)
	if failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); failed != nil {
		return s.notSaved(c, failed, in)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "policy-saved")
	if saved.Version == e.standing.Version {
		s.SetFlash(c, "policy-same")
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyURL())
}

// adminsFor is how many admins have to agree to the draft before it is saved; 0: the actor saves it alone.
func adminsFor(actor models.Actor, e *editing) int {
	need := e.standing.Program.Document().SavedBy()
	if need == 1 && actor.MayAdminister() {
		return 0
	}
	return need
}

// proposes says whether the draft is proposed, and whose proposal waits already.
func (s *Screens) proposes(c echo.Context, e *editing, in *policies.ReviewInput) error {
	actor := site.ActorOf(c)
	if in.Admins = adminsFor(actor, e); in.Admins == 0 {
		return nil
	}
	p, err := drafts.New(s.Store).Proposal(c.Request().Context(), actor)
	if p.Waits() {
		in.Waiting = p.ByName
	}
	return err
}

// notSaved shows the review again, with why it was not saved.
func (s *Screens) notSaved(c echo.Context, failed *models.Error, in policies.ReviewInput) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	in.NoteError = failed.Fields["note"]
	for path, text := range failed.Fields {
		if path != "note" {
			in.Error = path + " " + text
		}
	}
	if failed.Code == models.CodeConflict && !e.stale() {
		in.Error = failed.Text
	}
	return s.policyReview(c, handlers.Status(failed.Code), e, in)
}

func (s *Screens) mergePolicy(c echo.Context, e *editing) error {
	if e.doc == nil || len(e.checked.Problems) > 0 || !e.stale() {
		return c.Redirect(http.StatusSeeOther, views.PolicyReviewURL())
	}
	merge, _, err := policy.Merge(e.base.Program.Document(), e.standing.Program.Document(), e.checked.Document)
	if err != nil {
		return err
	}
	text, err := merge.Marshal()
	if err != nil {
		return err
	}
	if _, err := drafts.New(s.Store).Keep(c.Request().Context(), site.ActorOf(c), e.standing.Version, e.draft.Revision,
		string(text)); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyReviewURL())
}
