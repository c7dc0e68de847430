package inbox

import (
	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views/pages/inbox"
)

// readToday finds, for an empty inbox, what the reader has decided today, and whether anything has ever come.
func (s *Screens) readToday(c echo.Context, in *inbox.Input) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in.Midnight = site.Midnight(s.Kit.Now(), site.ZoneOf(c))
	today, err := s.Store.Requests.Settled(ctx, actor,
		requests.SettledQuery{By: in.Reader.ID, From: in.Midnight.UTC(), Limit: models.MaxPage})
	if err != nil {
		return err
	}
	in.Today, in.TodayCap = today.Items, today.Next != ""
	if len(in.Today) == 0 {
		ever, err := s.Store.Requests.Settled(ctx, actor, requests.SettledQuery{Limit: 1})
		in.Newcomer = err == nil && len(ever.Items) == 0 && !ever.Cut
		return err
	}
	return nil
}
