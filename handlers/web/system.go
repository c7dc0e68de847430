package web

import (
	"net/http"
	"runtime"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/outside"
	"countersign/models/upkeep"
	"countersign/views/pages/system"
)

// system shows how the server fares.
func (s *Site) system(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	state, err := upkeep.New(s.store).System(ctx, actor)
	if err != nil {
		return err
	}
	upstreams, err := outside.New(s.store).UpstreamStates(ctx, actor)
	if err != nil {
		return err
	}
	backlog, err := notices.New(s.store).Backlog(ctx, actor)
	if err != nil {
		return err
	}
	webhooks, err := s.store.Webhooks.List(ctx, actor)
	if err != nil {
		return err
	}
	frame, err := s.frame(c, "System", -1)
	if err != nil {
		return err
	}
	in := system.Input{
		State: *state, Version: s.opts.Version, Go: runtime.Version(), Started: s.started,
		Streams: s.streams.Open(), Upstreams: upstreams, Notifications: backlog, Webhooks: webhooks, GateOff: frame.GateOff, FallbackOn: frame.FallbackOn,
		GateOffUntil: frame.GateOffUntil, FallbackUntil: frame.FallbackUntil,
	}
	if err := s.store.Ready(ctx); err != nil {
		if models.ErrorCode(err) != models.CodeUnavailable {
			return err
		}
		in.Fault = err.Error()
	}
	return handlers.Render(c, http.StatusOK, system.Page(frame, system.New(in, frame.Now)), nil)
}
