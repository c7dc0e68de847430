package webhooks

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/webhooks"
)

// showWebhookReplay asks from where events are sent again, and says how many that is.
func (s *Screens) showWebhookReplay(c echo.Context) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	in, from := readReplay(c.QueryParams())
	in.Webhook = w.Webhook
	if from == (models.WebhookFrom{}) {
		return s.webhookReplayPage(c, http.StatusOK, in)
	}
	plan, err := s.Store.Webhooks.ReplayOf(c.Request().Context(), site.ActorOf(c), w.ID, from)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		in.Errors = e.Fields
		return s.webhookReplayPage(c, http.StatusOK, in)
	}
	if err != nil {
		return err
	}
	in.Plan = &plan
	return s.webhookReplayPage(c, http.StatusOK, in)
}

// readReplay reads the typed point, and adds an error if it is neither an entry's number nor a time.
func readReplay(sent url.Values) (in webhooks.ReplayInput, from models.WebhookFrom) {
	in = webhooks.ReplayInput{
		Entry: strings.TrimSpace(sent.Get(webhooks.ReplayEntryField)),
		At:    strings.TrimSpace(sent.Get(webhooks.ReplayTimeField)),
	}
	if in.Entry != "" {
		var err error
		// The audit writes numbers in groups.
		if from.Seq, err = strconv.ParseInt(strings.ReplaceAll(in.Entry, ",", ""), 10, 64); err != nil || from.Seq < 1 {
			in.Errors = map[string]string{webhooks.ReplayEntryField: "must be the number of an entry, from 1"}
			return in, models.WebhookFrom{}
		}
		return in, from
	}
	var ok bool
	if from.At, ok = site.TimeIn(in.At, time.UTC); !ok {
		in.Errors = map[string]string{webhooks.ReplayTimeField: "must be a time such as 2026-11-22 14:00, or a day"}
	}
	return in, from
}

func (s *Screens) webhookReplayPage(c echo.Context, status int, in webhooks.ReplayInput) error {
	frame, err := s.webhookFrame(c, "Send events again")
	if err != nil {
		return err
	}
	return handlers.Render(c, status, webhooks.ReplayPage(frame, webhooks.NewReplay(in)), nil)
}

// replayWebhook sends events again from an entry.
func (s *Screens) replayWebhook(c echo.Context) error {
	w, err := s.webhookOf(c)
	if err != nil {
		return err
	}
	in, from := readReplay(c.Request().PostForm)
	in.Webhook = w.Webhook
	if from == (models.WebhookFrom{}) {
		if in.Errors == nil {
			in.Errors = map[string]string{webhooks.ReplayEntryField: "must be the number of an entry, or choose a time below"}
		}
		return s.webhookReplayPage(c, http.StatusUnprocessableEntity, in)
	}
	err = s.Store.Webhooks.Replay(c.Request().Context(), site.ActorOf(c), w.ID, from)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		in.Errors = e.Fields
		return s.webhookReplayPage(c, handlers.Status(e.Code), in)
	}
	return s.changedWebhook(c, w.ID, "webhook-replayed", err)
}
