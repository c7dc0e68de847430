package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

var stopTags = []string{"Stops"}

func (a *API) registerStops() {
	register(a, People, huma.Operation{
		OperationID: "list-stops", Method: http.MethodGet, Path: "/v1/stops", Tags: stopTags,
		Summary:     "List what is stopped",
		Description: "The stops in force that concern the caller: of all agents, and of their own; for admins, all.",
		Errors:      []int{401, 403, 503},
	}, a.listStops)
	register(a, People, huma.Operation{
		OperationID: "stop-agents", Method: http.MethodPost, Path: "/v1/stops", Tags: stopTags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Stop one agent, or all",
		Description: "What a stopped agent asks is rejected with the cause stopped, whatever the policy says; what waits of it is cancelled, and nothing of it can be approved. " +
			"An agent's owner and admins may stop it; all agents, admins only.",
		Errors: []int{401, 403, 404, 409, 413, 422, 503},
	}, a.stopAgents)
	register(a, People, huma.Operation{
		OperationID: "lift-stop", Method: http.MethodPost, Path: "/v1/stops/{id}/lift", Tags: stopTags,
		Summary:     "Lift a stop, so that its agents can ask again",
		Description: "Who made a stop and admins may lift it. The answer lists what is still stopped.",
		Errors:      []int{401, 403, 404, 413, 422, 503},
	}, a.liftStop)
}

type listStopsIn struct{ caller }

type listStopsOut struct{ Body *wire.StopList }

func (a *API) listStops(ctx context.Context, in *listStopsIn) (*listStopsOut, error) {
	all, err := a.store.Stops(ctx, in.actor)
	if err != nil {
		return nil, err
	}
	out := &wire.StopList{Stops: []wire.Stop{}}
	for i := range all {
		out.Stops = append(out.Stops, stopOf(&all[i]))
	}
	return &listStopsOut{out}, nil
}

func stopOf(s *models.Stop) wire.Stop {
	out := wire.Stop{StopID: string(s.ID), Note: s.Note, StoppedAt: s.At, StoppedBy: s.ByName}
	if !s.All() {
		id := string(s.AgentID)
		out.AgentID, out.AgentName = &id, &s.AgentName
	}
	return out
}

type stopAgentsIn struct {
	caller

	Body wire.StopRequest
}

type stopAgentsOut struct{ Body *wire.Stopped }

func (a *API) stopAgents(ctx context.Context, in *stopAgentsIn) (*stopAgentsOut, error) {
	agent := models.AgentID("")
	switch {
	case in.Body.All == (in.Body.AgentID != ""):
		return nil, models.Invalid("agentId", "must name the agent, or all must be true")
	case !in.Body.All:
		var err error
		if agent, err = models.ParseID[models.AgentID]("agentId", in.Body.AgentID); err != nil {
			return nil, err
		}
	}
	stop, n, err := a.store.Stop(ctx, in.actor, agent, in.Body.Note)
	if err != nil {
		return nil, err
	}
	return &stopAgentsOut{&wire.Stopped{
		Stop: stopOf(stop), Cancelled: n, Withdrawn: stop.Withdrawn, InFlight: stop.InFlight,
	}}, nil
}

type liftStopIn struct {
	caller

	ID   string `path:"id" doc:"The stop's stopId"`
	Body wire.StopLift
}

func (a *API) liftStop(ctx context.Context, in *liftStopIn) (*listStopsOut, error) {
	id, err := models.ParseID[models.StopID]("id", in.ID)
	if err != nil {
		return nil, models.NotFound("stop")
	}
	if err := a.store.Lift(ctx, in.actor, id, in.Body.Note); err != nil {
		return nil, err
	}
	return a.listStops(ctx, &listStopsIn{in.caller})
}

// stopDocs are the operations of stops.
func stopDocs() map[string]operationDoc {
	agent, name := exampleConversation, "builder"
	stop := wire.Stop{
		StopID: exampleID, AgentID: &agent, AgentName: &name, Note: "It deletes things.", StoppedAt: exampleTime,
		StoppedBy: "Ada Lovelace",
	}
	return map[string]operationDoc{
		"list-stops": {answers: map[int]any{200: &wire.StopList{Stops: []wire.Stop{stop}}}},
		"stop-agents": {
			requests: map[string]any{
				"one": &wire.StopRequest{AgentID: agent, Note: stop.Note}, "all": &wire.StopRequest{All: true, Note: "Incident 12"},
			},
			answers:  map[int]any{201: &wire.Stopped{Stop: stop, Cancelled: 3}},
			problems: []models.Code{models.CodeNotFound, models.CodeConflict},
		},
		"lift-stop": {
			requests: map[string]any{"note": &wire.StopLift{Note: "Mended"}},
			answers:  map[int]any{200: &wire.StopList{Stops: []wire.Stop{}}},
			problems: []models.Code{models.CodeNotFound},
		},
	}
}
