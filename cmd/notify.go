package cmd

import (
	"context"
	"net/url"
	"time"

	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// newSender makes what sends notifications, and the keys that browsers subscribe with.
// Nothing is sent to hosts but those of the list that hosts reads, the browsers' push
// services and the one mail server.
func newSender(cfg Config, public *url.URL, hosts func(context.Context) (outward.List, error)) (*send.Sender, *send.PushKeys, error) {
	keys := send.NewPushKeys(cfg.Data)
	sender, err := send.New(send.Options{
		Out:  outward.New(outward.Options{Hosts: hosts, Now: time.Now}),
		SMTP: cfg.Mail.smtp(), Push: keys, Name: pushName(cfg, public), Now: time.Now,
	})
	return sender, keys, err
}

// pushName is how push services reach whoever runs this server: its address, or an e-mail
// address where that is not one of the internet.
func pushName(cfg Config, public *url.URL) string {
	if public.Scheme != "https" && cfg.Mail.From != "" {
		return cfg.Mail.From
	}
	return "https://" + public.Host
}
