package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// bulk gives one verdict to exactly the requests that were ticked: each by itself,
// with the digest that was shown, so that one that fails stops no other. It
// answers with a page on which each has its own outcome; sent again, it changes
// nothing. More than a few are shown once more before anything happens.
func (s *Site) bulk(c echo.Context) error {
	form := c.Request().PostForm
	in := pages.BulkInput{
		Verdict: models.Verdict(form.Get("verdict")), Reason: strings.ReplaceAll(form.Get("reason"), "\r\n", "\n"),
		Place: readDesk(form.Get("desk")).At(""), Reader: actorOf(c).UserID(),
	}
	picks, problem := readPicks(form["pick"])
	if problem == "" && in.Verdict != models.VerdictApprove && in.Verdict != models.VerdictReject {
		problem = "Choose what to do with them: approve or reject."
	}
	if problem != "" {
		in.Problem = problem
		return s.bulkPage(c, http.StatusUnprocessableEntity, in)
	}
	// What was sent is meant, whether or not the browser waits for the answer.
	ctx := context.WithoutCancel(c.Request().Context())
	var err error
	if in.Items, err = s.lookAtPicks(ctx, actorOf(c), picks); err != nil {
		return err
	}
	if in.Verdict == models.VerdictApprove {
		leaveToApprovers(actorOf(c), in.Items)
	}
	if e := asError(models.CheckText("reason", in.Reason, models.MaxReason), models.CodeInvalid); e != nil && in.Open() > 0 {
		in.Ask, in.ReasonError = true, e.Fields["reason"] // corrected there, with the ticks kept
		return s.bulkPage(c, http.StatusUnprocessableEntity, in)
	}
	in.Ask = in.Open() > pages.BulkUnasked && form.Get("sure") != "true"
	if !in.Ask {
		s.decideEach(ctx, c, &in)
	}
	return s.bulkPage(c, http.StatusOK, in)
}

// pick is one ticked row: the request, and the digest that was shown.
type pick struct {
	id     models.ResponseID
	digest string
}

// readPicks reads the ticks, each of them once; problem says what is wrong with
// them.
func readPicks(values []string) (picks []pick, problem string) {
	seen := map[models.ResponseID]bool{}
	for _, value := range values {
		raw, digest, _ := strings.Cut(value, " ")
		id, err := models.ParseID[models.ResponseID]("pick", raw)
		if err != nil || digest == "" {
			return nil, "What was sent is no request of the list. Go back and tick them again."
		}
		if !seen[id] {
			seen[id] = true
			picks = append(picks, pick{id, digest})
		}
	}
	switch {
	case len(picks) == 0:
		return nil, "Nothing was ticked. Go back and tick the requests that are meant."
	case len(picks) > pages.MaxBulk:
		return nil, "At most " + views.Number(pages.MaxBulk) + " are decided at once. Go back and tick fewer."
	}
	return picks, ""
}

// lookAtPicks reads what was ticked as it stands now, and says what may not be
// decided together with others.
func (s *Site) lookAtPicks(ctx context.Context, actor models.Actor, picks []pick) ([]pages.BulkItem, error) {
	items := make([]pages.BulkItem, 0, len(picks))
	for _, p := range picks {
		item := pages.BulkItem{ID: p.id, Digest: p.digest}
		a, err := s.store.Approval(ctx, actor, p.id)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			item.Refused = "There is no such request, or it is not for you to see."
		case err != nil:
			return nil, err
		default:
			item.Approval = a
			item.Late = a.Status() != models.StatusPending
			item.Refused = refusedInBulk(a, p.digest)
		}
		items = append(items, item)
	}
	return items, nil
}

// refusedInBulk says why a request is not decided now; empty: it is.
func refusedInBulk(a *models.Approval, digest string) string {
	switch {
	case a.Status() != models.StatusPending:
		return overtaken[models.CodeAlreadyDecided]
	case a.Digest != digest:
		return overtaken[models.CodeDigestMismatch]
	}
	return pages.NotInBulk(a)
}

// leaveToApprovers says of what the actor may not approve who must.
func leaveToApprovers(actor models.Actor, items []pages.BulkItem) {
	for i := range items {
		if a := items[i].Approval; a != nil && items[i].Refused == "" {
			items[i].Refused = a.Approvers().Refusal(a.OwnerID, actor.UserID())
		}
	}
}

// decideEach decides one after the other.
func (s *Site) decideEach(ctx context.Context, c echo.Context, in *pages.BulkInput) {
	actor := actorOf(c)
	for i := range in.Items {
		item := &in.Items[i]
		if item.Refused != "" {
			continue
		}
		a, err := s.store.Decide(ctx, actor, item.ID, models.DecisionInput{
			Approved: new(in.Verdict == models.VerdictApprove), Reason: in.Reason, Digest: item.Digest, Bulk: true,
		})
		if err == nil {
			item.Approval, item.Done = a, true
			continue
		}
		e := asError(err, append(tooLate, append(toCorrect, models.CodeNotFound, models.CodeForbidden)...)...)
		if e == nil {
			s.kit.LogInternal(c, err) //nolint:contextcheck // a line in the log
			item.Refused = "Something went wrong here: it may or may not have been decided. Open it to see."
			continue
		}
		item.Refused = bulkText(e)
		if e.Approval != nil {
			item.Approval, item.Late = e.Approval, e.Approval.Status() != models.StatusPending
		}
	}
}

// overtaken is what the list of outcomes says where a request has changed.
var overtaken = map[models.Code]string{
	models.CodeAlreadyDecided: "It was settled before your verdict came, which changed nothing.",
	models.CodeExpired:        "It was settled before your verdict came, which changed nothing.",
	models.CodeBeingDecided:   "Another verdict on it is on its way; yours changed nothing.",
	models.CodeDigestMismatch: "It is not what was shown: open it, and look again.",
}

// bulkText is what a store's refusal says in the list of outcomes.
func bulkText(e *models.Error) string {
	if text, ok := overtaken[e.Code]; ok {
		return text
	}
	return e.Error()
}

func (s *Site) bulkPage(c echo.Context, status int, in pages.BulkInput) error {
	frame, err := s.frame(c, "", -1)
	if err != nil {
		return err
	}
	v := pages.NewBulk(in, frame.Now)
	frame.Title, frame.Path = v.Title, views.InboxURL()
	return handlers.Render(c, status, pages.BulkPage(frame, v), nil)
}
