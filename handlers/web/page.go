package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages/nav"
)

// frame is what the shell shows around a screen for whoever is signed in.
// counted is how many requests wait, or negative to have it read.
func (s *Site) frame(c echo.Context, title string, counted int) (views.Page, error) {
	ctx := c.Request().Context()
	p := views.Page{Title: title, Path: c.Request().URL.Path, Now: s.kit.Now(), Flash: s.takeFlash(c)}
	err := s.warn(ctx, &p)
	if err != nil {
		return p, err
	}
	v := visitorOf(c)
	if v == nil {
		p.Narrow = true
		return p, nil
	}
	p.Viewer, p.Since, p.Inbox = v.view(), string(v.since), counted
	if err := s.warnOfStops(ctx, &p, v.actor); err != nil {
		return p, err
	}
	if counted < 0 {
		p.Inbox, err = s.waiting(ctx, v.actor)
	}
	return p, err
}

// warn has the page say in red what lets calls through unasked (I11).
func (s *Site) warn(ctx context.Context, p *views.Page) error {
	doc, err := s.policies.document(ctx)
	if err != nil {
		return err
	}
	if p.GateOff = doc.GateOff(p.Now); p.GateOff && doc.ApprovalOffUntil != nil {
		p.GateOffUntil = *doc.ApprovalOffUntil
	}
	if p.FallbackOn = doc.FallbackOn(p.Now); p.FallbackOn && doc.FallbackUntil != nil {
		p.FallbackUntil = *doc.FallbackUntil
	}
	return nil
}

// warnOfStops has the page say in red which agents are stopped, of those that concern its
// reader.
func (s *Site) warnOfStops(ctx context.Context, p *views.Page, actor models.Actor) error {
	stops, err := s.policies.stopped(ctx)
	for i := range stops {
		if stop := &stops[i]; stop.ConcernsUser(actor.UserID(), actor.Admin) {
			p.Stopped = append(p.Stopped, views.Stopped{Agent: stop.AgentName, By: stop.ByName, Note: stop.Note})
		}
	}
	return err
}

// waiting counts what the person may decide, up to models.StatsCap.
func (s *Site) waiting(ctx context.Context, actor models.Actor) (int, error) {
	stats, err := s.store.Stats(ctx, actor)
	if err != nil {
		return 0, fmt.Errorf("count what waits: %w", err)
	}
	sending, err := s.store.Sending(ctx, actor)
	return max(0, stats.Pending-sending), err
}

// policyWatch keeps the policy's document at hand for the warnings on every
// page, and reads it again when it was changed here or by another process.
type policyWatch struct {
	store   *store.Store
	changes *events.Subscription
	mu      sync.Mutex
	doc     *policy.Document
	stops   []models.Stop
	closed  atomic.Bool
}

func watchPolicy(s *store.Store) *policyWatch {
	return &policyWatch{store: s, changes: s.Bus().Subscribe(1, events.Policy, events.Outside)}
}

func (w *policyWatch) document(ctx context.Context) (policy.Document, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(ctx); err != nil {
		return policy.Document{}, err
	}
	return *w.doc, nil
}

// stopped are the stops in force.
func (w *policyWatch) stopped(ctx context.Context) ([]models.Stop, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	return w.stops, nil
}

// look reads again what may have changed.
func (w *policyWatch) look(ctx context.Context) error {
	if w.doc != nil && !w.changed() && !w.closed.Load() {
		return nil
	}
	w.doc = nil
	v, err := w.store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	if w.stops, err = w.store.StopsInForce(ctx); err != nil {
		return err
	}
	doc := v.Compiled.Document()
	w.doc = &doc
	return nil
}

func (w *policyWatch) changed() bool {
	changed := false
	for {
		select {
		case <-w.changes.C:
			changed = true
		case <-w.changes.Lagged:
			changed = true
		default:
			return changed
		}
	}
}

func (w *policyWatch) close() {
	w.closed.Store(true)
	w.changes.Close()
}

// fail answers a handler's error: a page for people, a problem document for
// programs, and for a fragment nothing that would replace what stands.
func (s *Site) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := s.kit.Problem(err, c)
	switch {
	case handlers.WantsJSON(c.Request()):
		handlers.WriteProblem(c.Response(), p)
		return
	case handlers.WantsFragment(c.Request()):
		handlers.KeepFragment(c)
	}
	for name, values := range p.GetHeaders() {
		if name != "Www-Authenticate" { // a browser would ask for a password of its own
			c.Response().Header()[name] = values
		}
	}
	frame := views.Page{Title: http.StatusText(p.Status), Path: c.Request().URL.Path, Now: s.kit.Now(), Narrow: true}
	if p.Status < http.StatusInternalServerError {
		if full, err := s.frame(c, frame.Title, -1); err == nil {
			frame = full
			frame.Narrow = true
		}
	}
	page := nav.FailurePage(frame, nav.NewFailure(p.Status, p.Detail, p.RequestID))
	if err := handlers.Render(c, p.Status, page, nil); err != nil {
		s.kit.LogInternal(c, err)
	}
}

// asError is the part of an error that a form can show, or nil.
func asError(err error, codes ...models.Code) *models.Error {
	if e, ok := errors.AsType[*models.Error](err); ok && slices.Contains(codes, e.Code) {
		return e
	}
	return nil
}

// more lists the places that a phone's bar has no room for.
func (s *Site) more(c echo.Context) error {
	frame, err := s.frame(c, "More", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, nav.MorePage(frame), nil)
}
