package webhooks

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/notices"
	"countersign/views"
	"countersign/views/pages/webhooks"
)

// webhookID is the endpoint of the path.
func webhookID(c echo.Context) (models.WebhookID, error) {
	id, err := models.ParseID[models.WebhookID]("id", c.Param("id"))
	if err != nil {
		return "", models.NotFound("webhook")
	}
	return id, nil
}

func (s *Screens) webhookOf(c echo.Context) (*models.WebhookState, error) {
	id, err := webhookID(c)
	if err != nil {
		return nil, err
	}
	return s.Store.Webhooks.Get(c.Request().Context(), site.ActorOf(c), id)
}

// backToWebhook leads to the page of the endpoint of the path.
func backToWebhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.WebhookURL(id))
}

func (s *Screens) webhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	return s.webhookPage(c, http.StatusOK, id, webhooks.WebhookInput{})
}

// webhookPage shows an endpoint. in carries what an act brought, or why it was not done.
func (s *Screens) webhookPage(c echo.Context, status int, id models.WebhookID, in webhooks.WebhookInput) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	w, err := s.Store.Webhooks.Page(ctx, actor, id, c.QueryParam("skips"))
	if err != nil {
		return err
	}
	in.Webhook, in.Answers, in.Blocks, in.Skips = w.WebhookState, w.Answers, w.Blocks, w.Skips
	if w.NextSkip != "" {
		in.MoreSkips = views.WebhookSkipsURL(id, w.NextSkip)
	}
	hosts, err := s.Store.People.AllowedHosts(ctx, actor)
	if err != nil {
		return err
	}
	in.Barred = site.BarredHost(hosts, w.Label)
	frame, err := s.webhookFrame(c, models.RevealName(w.Name))
	if err != nil {
		return err
	}
	return handlers.Render(c, status, webhooks.WebhookPage(frame, webhooks.NewWebhookPage(in, frame.Now)), nil)
}

// changedWebhook answers an act. The endpoint's page shows why one was refused.
func (s *Screens) changedWebhook(c echo.Context, id models.WebhookID, flash string, err error) error {
	if e := site.AsError(err, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		site.RetryAfter(c, e)
		return s.webhookPage(c, handlers.Status(e.Code), id, webhooks.WebhookInput{Problem: e.Text})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.WebhookURL(id))
}

// actOnWebhook is a handler of an act that takes nothing but the endpoint.
func (s *Screens) actOnWebhook(
	flash string, act func(context.Context, models.Actor, models.WebhookID) error,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := webhookID(c)
		if err != nil {
			return err
		}
		return s.changedWebhook(c, id, flash, act(c.Request().Context(), site.ActorOf(c), id))
	}
}

// removeWebhook has nothing more sent to an endpoint.
func (s *Screens) removeWebhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	if err := s.Store.Webhooks.Remove(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	s.SetFlash(c, "webhook-removed")
	return c.Redirect(http.StatusSeeOther, views.WebhooksURL())
}

// rotateWebhook makes a new secret, and shows it once.
func (s *Screens) rotateWebhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	secret, err := s.Store.Webhooks.Rotate(c.Request().Context(), site.ActorOf(c), id)
	if err != nil {
		return err
	}
	return s.webhookSecret(c, id, secret)
}

// skipWebhook gives up the event that a conversation waits for, with a reason.
func (s *Screens) skipWebhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	seq, err := strconv.ParseInt(c.Request().PostFormValue("seq"), 10, 64)
	if err != nil {
		return models.Invalid("seq", "must be the number of the entry to skip")
	}
	reason := strings.TrimSpace(c.Request().PostFormValue("reason"))
	err = s.Store.Webhooks.Skip(c.Request().Context(), site.ActorOf(c), id, seq, reason)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		return s.webhookPage(c, handlers.Status(e.Code), id,
			webhooks.WebhookInput{Skip: webhooks.SkipForm{Seq: seq, Reason: reason, Error: e.Fields["reason"]}})
	}
	return s.changedWebhook(c, id, "webhook-skipped", err)
}

// tryWebhook sends a test, and shows what came of it. It waits for the answer: the sender
// bounds how long that takes.
func (s *Screens) tryWebhook(c echo.Context) error {
	id, err := webhookID(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	if _, err := s.Store.Webhooks.Get(ctx, actor, id); err != nil {
		return err
	}
	if s.test == nil {
		return s.changedWebhook(c, id, "", models.Errorf(models.CodeConflict, "This server can't send events."))
	}
	if err := notices.New(s.Store).AdmitTest(ctx, actor); err != nil {
		return s.changedWebhook(c, id, "", err)
	}
	answer, err := s.test(ctx, actor, id)
	if err != nil {
		return s.changedWebhook(c, id, "", err)
	}
	return s.webhookPage(c, http.StatusOK, id, webhooks.WebhookInput{Trial: &answer})
}
