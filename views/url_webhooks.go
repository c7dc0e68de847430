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

// WebhookSkipsURL shows an endpoint with the events that were skipped before the one with a key.
func WebhookSkipsURL(id models.WebhookID, after string) string {
	return with(WebhookURL(id), "skips", after) + "#skips"
}
