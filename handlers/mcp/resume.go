package mcp

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// get goes on with the stream of a call, also one that another process began. There is no
// other stream to read: nothing is ever told outside of a call.
func (m *Server) get(c echo.Context) error {
	actor, err := m.admit(c)
	if err != nil {
		return err
	}
	r := c.Request()
	last := r.Header.Get(headerLastEvent)
	if last == "" {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
		return models.Errorf(handlers.CodeMethodNotAllowed,
			"This address takes: POST. GET resumes a stream that was cut off, by Last-Event-ID.")
	}
	session := r.Header.Get(headerSession)
	if !m.seal.isSession(actor, session) {
		return noSession()
	}
	p, ok := m.seal.place(actor, session, last)
	if !ok {
		return noSuchEvent()
	}
	w := waiter{tool: m.tools[p.Tool]}
	if w.tool == nil || w.tool.answer == nil {
		return noSuchEvent()
	}
	w.limit = w.tool.limit(m)
	for _, id := range p.Rows {
		row, err := m.store.Requests.Approval(r.Context(), actor, id)
		if models.ErrorCode(err) == models.CodeNotFound {
			return noSuchEvent()
		}
		if err != nil {
			return err
		}
		w.rows = append(w.rows, row)
	}
	return m.resume(c, actor, session, p, w)
}

func (m *Server) resume(c echo.Context, actor models.Actor, session string, p place, w waiter) error {
	sent := messages{all: []message{{ID: p.Call, Method: methodCall}}}
	sent.all[0].Params.Meta.Progress = p.Progress
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	x := m.exchange(c.Response(), c.Request(), actor, session, sent)
	defer x.end()
	m.finish(x, w)
	return nil
}

func noSuchEvent() error {
	return models.Invalid(headerLastEvent, "must be the id of an event of this session whose call can still be answered")
}
