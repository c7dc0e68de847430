// Package send takes notices to where people are: by e-mail, web push, ntfy, Slack and
// webhooks. What leaves the process is the notice and nothing else.
package send

import (
	"context"
	"errors"
	"net/http"
	"net/mail"
	"strings"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// Options are what a Sender is made with. Out and Now are required.
type Options struct {
	Out  *outward.Client
	SMTP SMTP      // zero: no e-mail
	Push *PushKeys // nil: no web push
	Name string    // of this server to push services: its address, or an e-mail address
	Now  func() time.Time
}

// Sender sends one message at a time. It may be used from several goroutines.
type Sender struct {
	o    Options
	mail *mailer // nil: no e-mail
}

// New makes a Sender. Codes: invalid.
func New(o Options) (*Sender, error) {
	s := &Sender{o: o}
	if o.SMTP.Addr == "" {
		return s, nil
	}
	var err error
	s.mail, err = newMailer(o.SMTP)
	return s, err
}

// Can reports whether this server is set up for channels of a kind.
func (s *Sender) Can(kind models.ChannelKind) bool {
	switch kind {
	case models.ChannelEmail:
		return s.mail != nil
	case models.ChannelWebPush:
		return s.o.Push != nil
	case models.ChannelNtfy, models.ChannelSlack, models.ChannelWebhook:
		return true
	}
	return false
}

// Send makes one attempt, and says how it ended. Where there is no answer, the body of the
// result says why, for admins.
func (s *Sender) Send(
	ctx context.Context, kind models.ChannelKind, to models.ChannelTarget, n models.Notice,
) models.SendResult {
	if !s.Can(kind) {
		return models.SendResult{Class: models.SendNotConfigured}
	}
	switch kind {
	case models.ChannelEmail:
		return s.mail.send(ctx, to, n)
	case models.ChannelWebPush:
		return s.push(ctx, to, n)
	case models.ChannelNtfy:
		return s.ntfy(ctx, to, n)
	case models.ChannelSlack:
		return s.slack(ctx, to, n)
	case models.ChannelWebhook:
		return s.webhook(ctx, to, n)
	}
	return models.SendResult{Class: models.SendNotConfigured}
}

// Check refuses a target that nothing could be sent to, before a channel is added. It makes no request. The error names
// address, url, token or subscription. Codes: invalid.
func (s *Sender) Check(ctx context.Context, kind models.ChannelKind, to models.ChannelTarget) error {
	switch kind {
	case models.ChannelEmail:
		return CheckAddress("address", to.Address)
	case models.ChannelWebPush:
		if err := CheckSubscription("subscription", to); err != nil {
			return err
		}
		return s.o.Out.Check(ctx, "subscription", to.URL, PushServices())
	case models.ChannelNtfy:
		if _, _, ok := splitTopic(to.URL); !ok {
			return models.Invalid("url", "must be the address of a topic, such as https://ntfy.example.com/my-topic")
		}
		if !visible(to.Token) {
			return models.Invalid("token", "must contain only visible ASCII characters")
		}
	case models.ChannelSlack, models.ChannelWebhook:
	}
	return s.o.Out.Check(ctx, "url", to.URL, nil)
}

// failed is the result of an attempt that got no answer.
func failed(class models.SendClass, why string) models.SendResult {
	return models.SendResult{Class: class, Body: []byte(why[:min(len(why), outward.KeptBody)])}
}

// result is how a request over HTTP ended.
func result(a *outward.Answer, err error) models.SendResult {
	if e, ok := errors.AsType[*outward.Error](err); ok {
		r := failed(e.Class, e.Text)
		r.Status = e.Status
		return r
	}
	if err != nil {
		return failed(models.SendConnect, "the request cannot be made")
	}
	return models.SendResult{Class: classOf(a.Status), Status: a.Status, Body: a.Body, RetryAfter: a.RetryAfter}
}

func classOf(status int) models.SendClass {
	switch {
	case status >= 200 && status <= 299:
		return models.SendSent
	case status >= 500, status == http.StatusTooManyRequests:
		return models.SendUnavailable
	}
	return models.SendRejected
}

// header is one of a request, with secrets among them.
type header struct{ name, value string }

// post sends JSON to an address that a person entered.
func (s *Sender) post(ctx context.Context, url string, body []byte, headers ...header) models.SendResult {
	req, err := newPost(ctx, url, body)
	if err != nil {
		return failed(models.SendRefusedHost, "the address is none")
	}
	req.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	return result(s.o.Out.Do(req, nil))
}

// CheckAddress accepts a single plain e-mail address only. The error names field. Codes: invalid.
func CheckAddress(field, address string) error {
	mailbox, err := mail.ParseAddress(address)
	_, domain, _ := cutLast(address, "@")
	if err != nil || mailbox.Address != address || len(address) > 254 || !visible(address) || !outward.IsName(domain) ||
		strings.HasPrefix(address, "-") || strings.Trim(domain, "-.") != domain {
		return models.Invalid(field, "must be an e-mail address such as ann@example.com")
	}
	return nil
}

// visible reports whether a text is of visible ASCII characters alone.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
