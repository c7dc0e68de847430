package webhooks

import (
	_ "embed" // the guide

	"countersign/models"
)

//go:embed webhooks.md
var webhookGuide string

// Guide explains webhooks to those who write a receiver, in Markdown.
func Guide() string { return webhookGuide }

// EventFamily are the kinds of events whose names begin alike.
type EventFamily struct {
	Name  string
	Types []models.EventType
}

// eventFamilies are all kinds of events that webhooks get.
func eventFamilies() []EventFamily {
	var out []EventFamily
	for _, t := range models.EventTypes() {
		if n := len(out); n == 0 || out[n-1].Name != t.Family() {
			out = append(out, EventFamily{Name: t.Family()})
		}
		last := &out[len(out)-1]
		last.Types = append(last.Types, t)
	}
	return out
}
