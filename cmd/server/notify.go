package server

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"countersign/cmd/config"
	"countersign/handlers"
	"countersign/handlers/web/channels"
	"countersign/models"
	"countersign/models/headline"
	"countersign/models/notices"
	"countersign/models/store"
	"countersign/views"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// newSender makes what sends notifications, and the keys that browsers subscribe with.
// Nothing is sent to hosts but those of the list that admins keep, the browsers' push
// services and the one mail server.
func newSender(cfg config.Config, public *url.URL, s *store.Store) (*send.Sender, *send.PushKeys, error) {
	keys := send.NewPushKeys(func() ([]byte, error) {
		return s.Key(context.Background(), models.PushKeyFile, send.NewPushKey)
	})
	sender, err := send.New(send.Options{
		Out:  outward.New(outward.Options{Hosts: hostsOf(s), Now: time.Now}),
		SMTP: cfg.Mail.SMTP(), Push: keys, Name: pushName(cfg, public), Now: time.Now,
	})
	return sender, keys, err
}

// mostOfHeadline is where a headline in a message is cut, in characters.
const mostOfHeadline = 120

// newNotifier makes the worker that sends people their notices, and what the pages need of it.
func newNotifier(
	cfg config.Config, public *url.URL, s *store.Store, log *slog.Logger, metrics *handlers.Metrics,
) (*notify.Notifier, channels.Sender, error) {
	sender, keys, err := newSender(cfg, public, s)
	if err != nil {
		return nil, channels.Sender{}, err
	}
	at := func(path string) string { return strings.TrimSuffix(public.String(), "/") + path }
	about := notices.New(s)
	n := notify.New(notify.Options{
		Store: s, Sender: sender, Log: log, Holder: holderOf(s, log), Observe: metrics.NotificationTried,
		SettingsURL: at(views.NotificationsURL()),
		RequestURL: func(id models.ResponseID) string {
			if id == "" {
				return at("/")
			}
			return at(views.ApprovalURL(id))
		},
		Headline: func(ctx context.Context, id models.ResponseID) (string, error) {
			r, err := about.ForHeadline(ctx, id)
			if r == nil {
				return "", err
			}
			return headline.Shown(r).Short(mostOfHeadline), nil
		},
	})
	mail := func(ctx context.Context, address string, n models.Notice) models.SendResult {
		return sender.Send(ctx, models.ChannelEmail, models.ChannelTarget{Address: address}, n)
	}
	return n, channels.Sender{From: cfg.Mail.From, PushKey: keys.Public, Check: sender.Check, Mail: mail, Test: n.Test}, nil
}

// pushName is how push services reach the operator of this server: its address, or an e-mail address where that is not
// one of the internet.
func pushName(cfg config.Config, public *url.URL) string {
	if public.Scheme != "https" && cfg.Mail.From != "" {
		return cfg.Mail.From
	}
	return "https://" + public.Host
}
