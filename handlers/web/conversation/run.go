package conversation

import (
	"context"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views/pages/conversations"
	"countersign/views/pages/inputs"
)

// batchPages is how many pages of history a batch is looked for in.
const batchPages = 10

// runAround is what entries are shown with besides their approvals.
func (s *Screens) runAround(
	ctx context.Context, actor models.Actor, id models.ConversationID, entries []models.HistoryEntry,
) (conversations.RunAround, error) {
	var out conversations.RunAround
	var ids []models.ResponseID
	var asked []*models.Approval
	var from, to int64
	for _, e := range entries {
		if e.Response == nil {
			continue
		}
		ids, asked = append(ids, e.Response.ID), append(asked, e.Response)
		if from == 0 {
			from = e.Sequence
		}
		to = e.Sequence
	}
	if len(ids) == 0 {
		return out, nil
	}
	var err error
	if out.Origins, err = s.Store.Requests.Origins(ctx, actor, ids...); err != nil {
		return out, err
	}
	if out.Opened, err = s.openedOf(ctx, actor, entries, out.Origins); err != nil {
		return out, err
	}
	if out.Rights, err = s.Store.Rights(ctx, actor, asked...); err != nil {
		return out, err
	}
	out.Calls, err = s.Store.Requests.RunDetails(ctx, actor, id, from, to)
	return out, err
}

// openedOf are the folded parts that the reader has opened, of those requests that
// are closed until all of them are.
func (s *Screens) openedOf(
	ctx context.Context, actor models.Actor, entries []models.HistoryEntry, origins map[models.ResponseID]models.Origin,
) (map[models.ResponseID][]string, error) {
	var out map[models.ResponseID][]string
	for _, e := range entries {
		a := e.Response
		if a == nil || a.Status() != models.StatusPending ||
			len(a.Unopened(inputs.Folds(&a.Response, origins[a.ID].Beside), nil)) == 0 {
			continue
		}
		opened, err := s.Store.Requests.OpenedParts(ctx, actor, a.ID)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[models.ResponseID][]string{}
		}
		out[a.ID] = opened
	}
	return out, nil
}

// entryIn is a response of this conversation and of no other, asked about or
// only reported.
func (s *Screens) entryIn(
	ctx context.Context, actor models.Actor, conv models.ConversationID, raw string,
) (*models.Approval, error) {
	none := models.Errorf(models.CodeNotFound, "There is no such entry.")
	id, err := models.ParseID[models.ResponseID]("entry", raw)
	if err != nil {
		return nil, none
	}
	a, err := s.Store.Requests.Entry(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound || err == nil && a.ConversationID != conv {
		return nil, none
	}
	return a, err
}

// entryPart is the current state of one entry of the history.
func (s *Screens) entryPart(c echo.Context, v *models.ConversationView) (templ.Component, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	a, err := s.entryIn(ctx, actor, v.ID, c.QueryParam("entry"))
	if err != nil {
		return nil, err
	}
	entries := []models.HistoryEntry{{Sequence: a.Sequence, At: a.CreatedAt, Response: a}}
	var around conversations.HistoryAround
	if around.Shares, err = s.sharesFor(ctx, actor, v.ID, entries); err != nil {
		return nil, err
	}
	if around.Run, err = s.runAround(ctx, actor, v.ID, entries); err != nil {
		return nil, err
	}
	if around.Run.Calls[a.ID].BatchID != "" {
		return s.batchFrom(c, v, a) // it has been reported while it waited, and others with it
	}
	return conversations.HistoryItem(conversations.NewHistoryEntries(v, entries, around, s.Kit.Now())[0]), nil
}

// batchPart is a batch from one of its calls on.
func (s *Screens) batchPart(c echo.Context, v *models.ConversationView) (templ.Component, error) {
	first, err := s.entryIn(c.Request().Context(), site.ActorOf(c), v.ID, c.QueryParam("entry"))
	if err != nil {
		return nil, err
	}
	return s.batchFrom(c, v, first)
}

func (s *Screens) batchFrom(
	c echo.Context, v *models.ConversationView, first *models.Approval,
) (templ.Component, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	var around conversations.HistoryAround
	around.Run = conversations.RunAround{
		Calls: map[models.ResponseID]models.CallDetail{}, Origins: map[models.ResponseID]models.Origin{},
		Opened: map[models.ResponseID][]string{}, Rights: map[models.ResponseID]models.Right{},
	}
	var batch []models.HistoryEntry
	after := first.Sequence - 1
	for range batchPages {
		if after == 0 {
			after = requests.FromStart
		}
		history, err := s.Store.Requests.History(ctx, actor, v.ID, requests.HistoryQuery{After: after, Limit: models.MaxPage})
		if err != nil {
			return nil, err
		}
		run, err := s.runAround(ctx, actor, v.ID, history.Entries)
		if err != nil {
			return nil, err
		}
		batch = append(batch, inBatch(first, history.Entries, run, &around.Run)...)
		if len(history.Entries) < models.MaxPage || complete(first, batch, around.Run) {
			break
		}
		after = history.After
	}
	if len(batch) == 0 {
		return nil, nil //nolint:nilnil // it is an entry by itself
	}
	return conversations.HistoryItem(conversations.NewHistoryEntries(v, batch, around, s.Kit.Now())[0]), nil
}

// inBatch are the entries that belong to a call's batch; it copies their details from run to to.
func inBatch(
	first *models.Approval, entries []models.HistoryEntry, run conversations.RunAround, to *conversations.RunAround,
) []models.HistoryEntry {
	var out []models.HistoryEntry
	for _, e := range entries {
		if e.Response == nil {
			continue
		}
		d, known := run.Calls[e.Response.ID]
		if !known || e.Response.ID != first.ID && (d.BatchID == "" || d.BatchID != deref(first.BatchID)) {
			continue
		}
		to.Calls[d.ID], to.Origins[d.ID], to.Opened[d.ID], to.Rights[d.ID] = d, run.Origins[d.ID], run.Opened[d.ID], run.Rights[d.ID]
		out = append(out, e)
	}
	return out
}

// complete reports whether the last call of a batch has been found.
func complete(first *models.Approval, batch []models.HistoryEntry, run conversations.RunAround) bool {
	if first.BatchID == nil || len(batch) == 0 {
		return true
	}
	last := run.Calls[batch[len(batch)-1].Response.ID]
	return last.Place == last.Of
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
