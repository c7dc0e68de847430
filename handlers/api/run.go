package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/runs"
)

const runsPath, eventsPath = "/v1/conversations", "/v1/conversations/{conversationId}/events"

var runTags = []string{"Run events"}

func (a *API) registerRuns() {
	register(a, Agents, huma.Operation{
		OperationID: "open-run", Method: http.MethodPost, Path: runsPath, Tags: runTags,
		Summary: "Open a run as a conversation, or find the existing one",
		Description: "Known by runId among the runs of the agent's owner: the same sent again is the same conversation, and opened is false. " +
			"It costs nothing. A token may open so many new runs an hour; the same again is not counted.",
		Errors: []int{401, 403, 409, 413, 422, 429, 503},
	}, a.openRun)
	register(a, Agents, a.reportOperation(), a.report)
}

type openRunIn struct {
	caller

	Body wire.OpenRequest
}

type openRunOut struct {
	Location string `header:"Location"`
	Body     *wire.OpenedRun
}

func (a *API) openRun(ctx context.Context, in *openRunIn) (*openRunOut, error) {
	b := in.Body
	conv, opened, err := runs.New(a.store).OpenRun(ctx, in.actor, models.RunInput{
		ID: b.ID, RunID: b.RunID, ParentRunID: b.ParentRunID, Title: b.Title, EnergyBudget: (*int64)(b.EnergyBudget),
		OnReject:        b.OnReject,
		OnRejectDefault: b.OnRejectDefault,
	})
	if err != nil {
		return nil, err
	}
	view, err := a.store.Requests.Conversation(ctx, in.actor, conv.ID)
	if err != nil {
		return nil, err
	}
	return &openRunOut{
		Location: conversationPath(conv.ID), Body: &wire.OpenedRun{Conversation: conversationOf(view), Opened: opened},
	}, nil
}
