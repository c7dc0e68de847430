package webhooks

import (
	"context"

	"countersign/handlers/web/site"
	"countersign/models"
)

// Screens are the pages of endpoints that get the ledger's events.
type Screens struct {
	*site.Site
	test func(context.Context, models.Actor, models.WebhookID) (models.WebhookAnswer, error)
}

// New makes them. test sends a test to an endpoint, at once; nil: nothing is sent from here.
func New(
	s *site.Site, test func(context.Context, models.Actor, models.WebhookID) (models.WebhookAnswer, error),
) *Screens {
	return &Screens{Site: s, test: test}
}

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/docs/webhooks", site.Anyone, s.webhookGuide),
		site.Get("/system/webhooks", site.Overseer, s.webhooks),
		site.Post("/system/webhooks", site.Admin, s.addWebhook),
		site.Get("/system/webhooks/new", site.Admin, s.showNewWebhook),
		site.Get("/system/webhooks/:id", site.Overseer, s.webhook),
		site.Post("/system/webhooks/:id", site.Admin, s.changeWebhook),
		site.Get("/system/webhooks/:id/change", site.Admin, s.showWebhookChange),
		site.Get("/system/webhooks/:id/replay", site.Admin, s.showWebhookReplay),
		site.Post("/system/webhooks/:id/replay", site.Admin, s.replayWebhook),
		site.Post("/system/webhooks/:id/test", site.Admin, s.tryWebhook),
		site.Post("/system/webhooks/:id/pause", site.Admin, s.actOnWebhook("webhook-paused", s.Store.Webhooks.Pause)),
		site.Post("/system/webhooks/:id/resume", site.Admin, s.actOnWebhook("webhook-resumed", s.Store.Webhooks.Resume)),
		site.Post("/system/webhooks/:id/retry", site.Admin, s.actOnWebhook("webhook-retried", s.Store.Webhooks.RetryNow)),
		site.Post("/system/webhooks/:id/retire", site.Admin,
			s.actOnWebhook("webhook-retired", s.Store.Webhooks.RetireOldKey)),
		site.Post("/system/webhooks/:id/skip", site.Admin, s.skipWebhook),
		site.Post("/system/webhooks/:id/rotate", site.Admin, s.rotateWebhook),
		site.Post("/system/webhooks/:id/remove", site.Admin, s.removeWebhook),
		site.Get("/system/webhooks/:id/:act", site.Overseer, backToWebhook),
	}
}
