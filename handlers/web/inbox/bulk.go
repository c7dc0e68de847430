package inbox

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
)

// bulk gives one verdict to exactly the requests that were ticked: each separately,
// with the digest that was shown, so that one that fails stops no other. It answers
// with what became of each; sent again, it changes nothing. More than a few are
// shown once more before anything happens, and so is an approval that leaves one out.
func (s *Screens) bulk(c echo.Context) error {
	form := c.Request().PostForm
	in := inbox.BulkInput{
		Verdict: models.Verdict(form.Get("verdict")), Reason: strings.ReplaceAll(form.Get("reason"), "\r\n", "\n"),
		Place: request.ReadDesk(form.Get("desk")).At(""), Reader: site.ActorOf(c).UserID(),
	}
	sure, looks := form.Get("sure") == "true", form.Has("look")
	if looks {
		in.Verdict = models.Verdict(form.Get("asked"))
	}
	ticks, problem := readPicks(form["pick"])
	shown := ticks
	if sure && (looks || len(form["pick"]) == 0) && form.Has("row") { // the question again
		shown, problem = readPicks(form["row"])
		if !looks {
			looks, in.TickError = true, "Nothing is selected. Select at least one request."
		}
	}
	if problem == "" && in.Verdict != models.VerdictApprove && in.Verdict != models.VerdictReject {
		problem = "Choose Approve or Reject."
	}
	if problem != "" {
		in.Problem = problem
		return s.bulkPage(c, http.StatusUnprocessableEntity, in)
	}
	// The decisions count even if the browser does not wait for the answer.
	ctx := context.WithoutCancel(c.Request().Context())
	var err error
	if in.Items, err = s.checkPicks(ctx, site.ActorOf(c), in.Verdict, shown); err != nil {
		return err
	}
	leaveToApprovers(site.ActorOf(c), in.Verdict, in.Items)
	if err := s.openInBulk(ctx, site.ActorOf(c), &in, form.Get("look")); err != nil {
		return err
	}
	for i := range in.Items {
		item := &in.Items[i]
		item.Ticks = item.Refusal == "" && (len(item.LeftOut) == 0 || item.Opened && sure) &&
			(!sure || slices.Contains(ticks, pick{item.ID, item.Digest, item.Behalf}))
	}
	if e := site.AsError(models.CheckText("reason", in.Reason, models.MaxReason), models.CodeInvalid); e != nil &&
		in.Open() > 0 {
		in.Ask, in.ReasonError = true, e.Fields["reason"] // corrected there, with the ticks kept
		return s.bulkPage(c, http.StatusUnprocessableEntity, in)
	}
	if in.TickError != "" {
		in.Ask = true
		return s.bulkPage(c, http.StatusUnprocessableEntity, in)
	}
	if in.Ask = looks || !sure && asksFirst(&in); !in.Ask {
		s.decideEach(ctx, c, &in)
	}
	return s.bulkPage(c, http.StatusOK, in)
}

// asksFirst reports whether a verdict on several is asked about before it is given:
// on more than a few, and where one that waits is left out.
func asksFirst(in *inbox.BulkInput) bool {
	for i := range in.Items {
		item := &in.Items[i]
		if len(item.LeftOut) > 0 || item.Approval != nil && !item.Late && inbox.NotInBulk(item.Approval, in.Verdict) != "" {
			return true
		}
	}
	return in.Open() > inbox.BulkUnasked
}

// openInBulk notes that the reader opens one of those that are left out.
func (s *Screens) openInBulk(ctx context.Context, actor models.Actor, in *inbox.BulkInput, id string) error {
	for i := range in.Items {
		item := &in.Items[i]
		if string(item.ID) != id || len(item.LeftOut) == 0 || item.Refusal != "" || item.Opened {
			continue
		}
		if err := s.Store.OpenPart(ctx, actor, item.ID, inbox.PartInBulk); err != nil {
			return err
		}
		item.Opened = true
	}
	return nil
}

// pick is one ticked row: the request, and the digest that was shown.
type pick struct {
	id     models.ResponseID
	digest string
	behalf models.UserID // for whom the verdict was shown to count
}

// readPicks reads the ticks, each of them once; problem says why they can't be used.
func readPicks(values []string) (picks []pick, problem string) {
	seen := map[models.ResponseID]bool{}
	for _, value := range values {
		raw, digest, _ := strings.Cut(value, " ")
		digest, behalf, _ := strings.Cut(digest, " ")
		id, err := models.ParseID[models.ResponseID]("pick", raw)
		if err != nil || digest == "" {
			return nil, "The form names a request that is not in the list. Go back and select again."
		}
		if !seen[id] {
			seen[id] = true
			picks = append(picks, pick{id, digest, models.UserID(behalf)})
		}
	}
	switch {
	case len(picks) == 0:
		return nil, "Nothing was selected. Go back and select at least one request."
	case len(picks) > inbox.MaxBulk:
		return nil, "At most " + views.Number(inbox.MaxBulk) + " can be decided at once. Go back and select fewer."
	}
	return picks, ""
}

// checkPicks reads the current state of the ticked requests, and says which can't be decided in bulk, or not before
// they are opened.
func (s *Screens) checkPicks(
	ctx context.Context, actor models.Actor, verdict models.Verdict, picks []pick,
) ([]inbox.BulkItem, error) {
	items := make([]inbox.BulkItem, 0, len(picks))
	var waiting []*models.Approval
	for _, p := range picks {
		item := inbox.BulkItem{ID: p.id, Digest: p.digest, Behalf: p.behalf}
		a, err := s.Store.Requests.Approval(ctx, actor, p.id)
		switch {
		case models.ErrorCode(err) == models.CodeNotFound:
			item.Refusal = "This request doesn't exist, or you don't have access."
		case err != nil:
			return nil, err
		default:
			item.Approval = a
			item.Late = a.Status() != models.StatusPending
			if item.Refusal = refusedInBulk(a, verdict, p.digest); item.Refusal == "" {
				waiting = append(waiting, a)
			}
		}
		items = append(items, item)
	}
	return items, s.markPicks(ctx, actor, verdict, items, waiting)
}

// markPicks adds what the cards of requests would warn of, and which of them are
// left out of an approval until somebody has opened them.
func (s *Screens) markPicks(
	ctx context.Context, actor models.Actor, verdict models.Verdict, items []inbox.BulkItem, waiting []*models.Approval,
) error {
	twins, err := s.Store.Requests.Twins(ctx, actor, waiting...)
	if err != nil {
		return err
	}
	rights, err := s.Store.Rights(ctx, actor, waiting...)
	if err != nil {
		return err
	}
	rejected, err := s.Store.Requests.Rejected(ctx, actor, waiting...)
	if err != nil {
		return err
	}
	for i := range items {
		item := &items[i]
		if item.Refusal != "" {
			continue
		}
		item.Right = rights[item.ID]
		if twin, ok := twins[item.ID]; ok {
			item.Twin = &twin
		}
		item.ReaskOf = rejected[item.ID]
		if verdict != models.VerdictApprove {
			continue
		}
		if item.LeftOut = inbox.LookFirst(item.Approval, item.Twin, item.ReaskOf != ""); len(item.LeftOut) == 0 {
			continue
		}
		opened, err := s.Store.Requests.OpenedParts(ctx, actor, item.ID)
		if err != nil {
			return err
		}
		item.Opened = slices.Contains(opened, inbox.PartInBulk)
	}
	return nil
}

// refusedInBulk says why a verdict on a request is not given now; empty: it is. The
// store judges each again.
func refusedInBulk(a *models.Approval, verdict models.Verdict, digest string) string {
	switch {
	case a.Status() != models.StatusPending:
		return overtakenTexts[models.CodeAlreadyDecided]
	case a.Digest != digest:
		return overtakenTexts[models.CodeDigestMismatch]
	}
	return inbox.NotInBulk(a, verdict)
}

// leaveToApprovers says of what the actor may not approve who must, and of what they may not
// decide at all that others may.
func leaveToApprovers(actor models.Actor, verdict models.Verdict, items []inbox.BulkItem) {
	for i := range items {
		item := &items[i]
		a := item.Approval
		switch {
		case a == nil || item.Refusal != "":
		case !item.Right.MayDecide():
			item.Refusal = "You can see this request, but only others can decide it."
		case verdict == models.VerdictApprove && !item.Right.MayApprove:
			item.Refusal = cmp.Or(a.Approvers().Refusal(a.OwnerID, actor.Voter()), "You can't approve this request.")
		}
	}
}

// decideEach decides one after the other.
func (s *Screens) decideEach(ctx context.Context, c echo.Context, in *inbox.BulkInput) {
	actor := site.ActorOf(c)
	for i := range in.Items {
		item := &in.Items[i]
		if len(item.LeftOut) > 0 && !item.Opened {
			item.Refusal = "It was not opened. Open it first."
		}
		if item.Refusal != "" {
			continue
		}
		a, err := s.Store.Decide(ctx, actor, item.ID, models.DecisionInput{
			Approved: new(in.Verdict == models.VerdictApprove), Reason: in.Reason, Digest: item.Digest, Behalf: &item.Behalf,
			Bulk: true, Page: &models.PageView{},
		})
		if err == nil {
			item.Approval, item.Done = a, true
			continue
		}
		e := site.AsError(err,
			append(request.TooLate, append(request.ToCorrect, models.CodeNotFound, models.CodeForbidden)...)...)
		if e == nil {
			s.Kit.LogInternal(c, err) //nolint:contextcheck // a line in the log
			item.Refusal = "Something went wrong. It may have been decided: open it to check."
			continue
		}
		item.Refusal = bulkText(e)
		if e.Approval != nil {
			item.Approval, item.Late = e.Approval, e.Approval.Status() != models.StatusPending
		}
	}
}

// overtakenTexts is what the list of outcomes says where a request has changed.
var overtakenTexts = map[models.Code]string{
	models.CodeAlreadyDecided: "Your decision came too late and changed nothing.",
	models.CodeExpired:        "Your decision came too late and changed nothing.",
	models.CodeBeingDecided:   "Another decision on it is being sent. Yours changed nothing.",
	models.CodeDigestMismatch: "It differs from what you were shown. Open it again.",
}

// bulkText is what a store's refusal says in the list of outcomes.
func bulkText(e *models.Error) string {
	if text, ok := overtakenTexts[e.Code]; ok {
		return text
	}
	return e.Error()
}

// undoBulk takes back all approvals of several that are still held.
func (s *Screens) undoBulk(c echo.Context) error {
	form, actor := c.Request().PostForm, site.ActorOf(c)
	in := inbox.BulkInput{Undo: true, Place: request.ReadDesk(form.Get("desk")).At(""), Reader: actor.UserID()}
	ctx := context.WithoutCancel(c.Request().Context())
	for _, raw := range form["row"] {
		id, err := models.ParseID[models.ResponseID]("row", raw)
		if err != nil || len(in.Items) == inbox.MaxBulk {
			in.Problem = "These requests are not in the list. Go back to the inbox."
			return s.bulkPage(c, http.StatusUnprocessableEntity, in)
		}
		item := inbox.BulkItem{ID: id}
		a, err := s.Store.Undo(ctx, actor, id)
		item.Approval, item.Done = a, err == nil
		if err != nil {
			e := site.AsError(err, append(request.TooLate, models.CodeConflict, models.CodeNotFound, models.CodeForbidden)...)
			if e == nil {
				return err
			}
			item.Approval, item.Refusal = e.Approval, "Too late to undo."
			if e.Code == models.CodeNotFound {
				item.Refusal = "This request doesn't exist, or you don't have access."
			}
		}
		in.Items = append(in.Items, item)
	}
	return s.bulkPage(c, http.StatusOK, in)
}

// bulkPage shows the question, or what became of each: in the inbox, where script
// has asked for it, else as a page.
func (s *Screens) bulkPage(c echo.Context, status int, in inbox.BulkInput) error {
	if handlers.WantsFragment(c.Request()) {
		v := inbox.NewBulk(in, s.Kit.Now())
		if in.Ask || in.Problem != "" {
			return handlers.Render(c, status, nil, inbox.BulkDetail(v))
		}
		gone := make([]models.ResponseID, 0, len(in.Items))
		for i := range in.Items {
			gone = append(gone, in.Items[i].ID)
		}
		rows, err := s.readInbox(c, in.Place, "", gone...)
		if err != nil {
			return err
		}
		list := inbox.New(rows, s.Kit.Now())
		list.Apart = true
		return handlers.Render(c, status, nil, inbox.BulkFragment(v, list))
	}
	frame, err := s.Frame(c, "", -1)
	if err != nil {
		return err
	}
	v := inbox.NewBulk(in, frame.Now)
	frame.Title, frame.Path = v.Title, views.InboxURL()
	return handlers.Render(c, status, inbox.BulkPage(frame, v), nil)
}
