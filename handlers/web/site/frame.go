package site

import (
	"context"
	"fmt"

	"github.com/labstack/echo/v4"

	"countersign/models"
	"countersign/views"
)

// Frame is what the shell shows around a screen for the signed-in person.
// waits is how many requests wait, or negative to have it read.
func (s *Site) Frame(c echo.Context, title string, waits int) (views.Page, error) {
	ctx := c.Request().Context()
	p := views.Page{Title: title, Path: c.Request().URL.Path, Now: s.Kit.Now(), Flash: s.takeFlash(c)}
	err := s.Warn(ctx, &p)
	if err != nil {
		return p, err
	}
	v := VisitorOf(c)
	if v == nil {
		p.Narrow = true
		return p, nil
	}
	p.Viewer, p.Since, p.Inbox = v.View(), string(v.since), waits
	if err := s.warnOfStops(ctx, &p, v.Actor); err != nil {
		return p, err
	}
	if waits < 0 {
		p.Inbox, err = s.Waiting(ctx, v.Actor)
	}
	return p, err
}

// Warn has the page say in red what lets calls through unasked (I11).
func (s *Site) Warn(ctx context.Context, p *views.Page) error {
	doc, err := s.Policies.Document(ctx)
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
	stops, err := s.Policies.stopped(ctx)
	for i := range stops {
		if stop := &stops[i]; stop.ConcernsUser(actor.UserID(), actor.Admin) {
			p.Stopped = append(p.Stopped, views.Stopped{Agent: stop.AgentName, By: stop.ByName, Note: stop.Note})
		}
	}
	return err
}

// Waiting counts what the person may decide, up to models.StatsCap.
func (s *Site) Waiting(ctx context.Context, actor models.Actor) (int, error) {
	stats, err := s.Store.Stats(ctx, actor)
	if err != nil {
		return 0, fmt.Errorf("count what waits: %w", err)
	}
	sends, err := s.Store.Sending(ctx, actor)
	return max(0, stats.Pending-sends), err
}
