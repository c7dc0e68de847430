package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/runs"
)

// reportOperation describes a route whose body is read line by line, past huma.
func (a *API) reportOperation() huma.Operation {
	events := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[[]models.RunEvent](), true, "RunEvents")
	return huma.Operation{
		OperationID: "report-events", Method: http.MethodPost, Path: eventsPath, Tags: runTags,
		Summary: "Report what happens in a run: messages, replies, tool calls and their results",
		Description: "A JSON array as application/json, or one event on each line as " + ndjson +
			". The order of arrival is the sequence. Each event is answered separately: " +
			"a wrong one is named by its line and does not lose the others, which are stored together or, with a problem as answer, not at all. " +
			"An event is known by its id, or without one by type and toolUseId: the same sent again is repeated and changes nothing. " +
			"What is reported is the agent's word; it needs no approval, costs nothing. A token may report so many new events an hour; a repeat is not counted.",
		RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: events}}},
		Errors:      []int{401, 403, 404, 409, 413, 422, 429, 503},
	}
}

type reportIn struct {
	caller

	ConversationID string `path:"conversationId" doc:"The id that opening the run gave"`
	RawBody        []byte `contentType:"application/x-ndjson"`
}

type reportOut struct {
	Body *wire.ReportAnswer
}

func (a *API) report(ctx context.Context, in *reportIn) (*reportOut, error) {
	id, err := conversationID(in.ConversationID)
	if err != nil {
		return nil, err
	}
	lines, err := readReport(in.from.Header("Content-Type"), in.RawBody)
	if err != nil {
		return nil, err
	}
	events := make([]models.RunEvent, 0, len(lines))
	for i := range lines {
		if lines[i].wrong == "" {
			events = append(events, lines[i].event)
		}
	}
	stored, err := runs.New(a.store).ReportEvents(ctx, in.actor, id, events)
	if err != nil {
		return nil, err
	}
	return &reportOut{Body: reportAnswerOf(lines, stored)}, nil
}

// reportAnswerOf puts what became of the events that could be read back among
// those that could not.
func reportAnswerOf(lines []reportedLine, stored []models.RunEventResult) *wire.ReportAnswer {
	out := &wire.ReportAnswer{Results: make([]wire.RunEventResult, 0, len(lines))}
	for i := range lines {
		l := &lines[i]
		result := models.RunEventResult{Status: models.RunEventError, ID: l.event.ID, Error: l.wrong}
		if l.wrong == "" {
			result, stored = stored[0], stored[1:]
		}
		result.Line = l.number
		if len(result.ID) > maxToldID {
			result.ID = ""
		}
		switch result.Status {
		case models.RunEventStored:
			out.Accepted++
		case models.RunEventRepeated:
			out.Repeated++
		case models.RunEventConflict, models.RunEventError:
			out.Failed++
		}
		out.Results = append(out.Results, wire.RunEventResult{
			Line: result.Line, ID: result.ID, Status: wire.RunEventOutcome(result.Status),
			ResponseID: wire.ResponseID(result.ResponseID), Error: result.Error,
		})
	}
	return out
}
