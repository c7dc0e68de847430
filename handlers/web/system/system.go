package system

import (
	"net/http"
	"runtime"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/outside"
	"countersign/models/upkeep"
	"countersign/views/pages/system"
)

// system shows how the server fares.
func (s *Screens) system(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	state, err := upkeep.New(s.Store).System(ctx, actor)
	if err != nil {
		return err
	}
	upstreams, err := outside.New(s.Store).UpstreamStates(ctx, actor)
	if err != nil {
		return err
	}
	backlog, err := notices.New(s.Store).Backlog(ctx, actor)
	if err != nil {
		return err
	}
	webhooks, err := s.Store.Webhooks.List(ctx, actor)
	if err != nil {
		return err
	}
	frame, err := s.Frame(c, "System", -1)
	if err != nil {
		return err
	}
	in := system.Input{
		State: *state, Version: s.version, Go: runtime.Version(), Start: s.Start,
		Streams: s.Streams.Open(), Upstreams: upstreams, Notifications: backlog, Webhooks: webhooks, GateOff: frame.GateOff,
		FallbackOn:   frame.FallbackOn,
		GateOffUntil: frame.GateOffUntil, FallbackUntil: frame.FallbackUntil,
	}
	if err := s.Store.Ready(ctx); err != nil {
		if models.ErrorCode(err) != models.CodeUnavailable {
			return err
		}
		in.Fault = err.Error()
	}
	return handlers.Render(c, http.StatusOK, system.Page(frame, system.New(in, frame.Now)), nil)
}
