package hooks

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/runs"
	"countersign/models/store"
)

// beatEvery is how often an answer that takes long says that it is still coming.
const beatEvery = 15 * time.Second

// wayOfHooks is the way by which hooks wait: a call may be waited for by a permission prompt
// as well.
const wayOfHooks = "hook"

// judge asks about a call and answers once that is settled, or the wait is over.
func (h *hook) judge(c echo.Context) (wire.HookResult, error) {
	if h.event.Name == wire.HookPermissionRequest && h.event.ToolName == askUserQuestion {
		return answered(new(wire.HookAnswer)), nil // the person at the terminal is asked already
	}
	if h.event.Name == wire.HookPermissionRequest && h.key == "" {
		h.key = string(models.NewID[models.ResponseID]()) // the wait may ask again
	}
	row, err := h.settled(c)
	switch {
	case err != nil:
		return wire.HookResult{}, err
	case row.Status() != models.StatusPending:
		return answered(h.translate(row)), nil
	case h.polls:
		return h.pending(c.Request().Context(), row)
	}
	return answered(h.giveUp(c.Request().Context(), row)), nil
}

// pending tells a client that comes back that there is no decision yet.
func (h *hook) pending(ctx context.Context, row *models.Approval) (wire.HookResult, error) {
	waits, err := h.store.WaitsFor(ctx, h.actor, row)
	if err != nil {
		return wire.HookResult{}, err
	}
	return wire.HookResult{Pending: &wire.HookPending{
		ApprovalID: wire.ResponseID(row.ID), Kind: wire.Kind(row.Kind), URL: h.kit.ApprovalURL(row.ID),
		Reviewers: waits[0].Reviewers, WaitingFor: waits[0].Text,
	}}, nil
}

// giveUp answers an agent that will not wait any longer. The request ends with it, for
// nothing would come of a decision, unless its agent waits by another way too; but not where
// the server is the one that stops (I8).
func (h *hook) giveUp(ctx context.Context, row *models.Approval) *wire.HookAnswer {
	if h.stopping() {
		return wire.DenyHook(h.event.Name,
			"Countersign is stopping and nobody has decided, so this call must not run. Try it again in a minute.")
	}
	if row.Kind == models.KindToolCall {
		late, err := h.store.GiveUp(ctx, h.actor, row.ID, wayOfHooks)
		if err != nil {
			h.log(ctx, "give the request up", err)
		} else if status := late.Status(); status != models.StatusPending && status != models.StatusCancelled {
			return h.translate(late) // somebody has decided meanwhile
		}
	}
	return wire.DenyHook(h.event.Name, "Nobody decided before this hook's timeout, so this call must not run.")
}

// settled asks, and waits for the outcome. The row that it returns is pending where the
// wait ended before: it may be a request for more energy, without which nothing is asked.
func (h *hook) settled(c echo.Context) (*models.Approval, error) {
	ctx := c.Request().Context()
	var grant models.ResponseID
	for {
		row, err := h.store.Ask(ctx, h.actor, h.input())
		var spent *models.Error
		if errors.As(err, &spent) && spent.Code == models.CodeBudgetExhausted && spent.Approval != nil &&
			spent.Approval.ID != grant {
			row = spent.Approval
		} else if err != nil {
			return nil, err
		} else {
			h.nameConversation(ctx, row)
			h.event = wire.HookEvent{Name: h.event.Name, ToolName: h.event.ToolName} // who waits is small
		}
		if row.Status() == models.StatusPending {
			if row, err = h.await(c, row); err != nil {
				return nil, err
			}
		}
		if spent == nil || row.Status() == models.StatusPending {
			return row, nil
		}
		if row.Status() != models.StatusApproved && row.Status() != models.StatusResolved {
			return nil, models.Errorf(models.CodeBudgetExhausted,
				"The energy budget does not allow this call, and more was not granted. %s", refusal(row))
		}
		grant = row.ID
	}
}

// await waits for an outcome, saying now and then that an answer is coming. All that the
// hook has taken so far counts, whatever took it.
func (h *hook) await(c echo.Context, row *models.Approval) (*models.Approval, error) {
	ctx := c.Request().Context()
	for row.Status() == models.StatusPending && !h.stopping() {
		slice := h.until.Sub(h.kit.Now())
		if slice <= 0 {
			break
		}
		if !h.polls {
			slice = min(slice, beatEvery)
		}
		handlers.ExtendDeadlines(ctx, c.Response(), slice)
		var err error
		if row, err = h.store.Await(ctx, h.actor, row.ID, slice, store.ByWay(wayOfHooks)); err != nil {
			return nil, err
		}
		// Between two waits the token may have been revoked.
		if err := h.store.People.CheckCredential(ctx, h.actor); err != nil {
			return nil, err
		}
		if !h.polls && row.Status() == models.StatusPending {
			if err := beat(c.Response()); err != nil {
				return nil, err
			}
		}
	}
	return row, nil
}

// stopping reports whether the server stops: who waits is answered with what there is.
func (h *hook) stopping() bool {
	select {
	case <-h.store.WaitsEnded():
		return true
	default:
		return false
	}
}

// nameConversation gives the conversation of a session its title, once. The call does not
// hang on it.
func (h *hook) nameConversation(ctx context.Context, row *models.Approval) {
	if row.ConversationTitle != "" {
		return
	}
	if _, _, err := runs.New(h.store).OpenRun(ctx, h.actor, h.run()); err != nil {
		h.log(ctx, "name the conversation", err)
	}
}

// run is the session as a run.
func (h *hook) run() models.RunInput {
	return models.RunInput{RunID: h.event.SessionID, Title: title(&h.event)}
}
