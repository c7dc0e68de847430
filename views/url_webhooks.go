package views

import (
	"net/url"

	"countersign/models"
)

// WebhooksURL lists the endpoints that get events, and takes the POST that adds one.
func WebhooksURL() string { return SystemURL() + "/webhooks" }

// NewWebhookURL is the form that adds an endpoint.
func NewWebhookURL() string { return WebhooksURL() + "/new" }

// WebhookURL shows one endpoint.
func WebhookURL(id models.WebhookID) string { return WebhooksURL() + "/" + url.PathEscape(string(id)) }

// WebhookActURL takes POSTs about an endpoint: test, pause, resume, retry, skip, replay,
// rotate, retire or remove. GET of change is the form that changes it, GET of replay asks
// whether to send again.
func WebhookActURL(id models.WebhookID, act string) string { return WebhookURL(id) + "/" + act }

// WebhookPageURL shows an endpoint with further blocked streams, or further events that were
// skipped.
func WebhookPageURL(id models.WebhookID, blocks, skips string) string {
	q := url.Values{}
	if blocks != "" {
		q.Set("blocks", blocks)
	}
	if skips != "" {
		q.Set("skips", skips)
	}
	if len(q) == 0 {
		return WebhookURL(id)
	}
	return WebhookURL(id) + "?" + q.Encode()
}
