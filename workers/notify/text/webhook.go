package text

import (
	"time"

	"countersign/models"
)

type webhookMessage struct {
	Type      string      `json:"type"` // notice. and its kind
	Timestamp time.Time   `json:"timestamp"`
	Data      webhookData `json:"data"`
}

// webhookData has names exactly as they are: programs read it.
type webhookData struct {
	ID           string            `json:"id"`
	RequestID    models.ResponseID `json:"requestId,omitzero"`
	Agent        string            `json:"agent,omitzero"`
	Tool         string            `json:"tool,omitzero"`
	Risk         models.Risk       `json:"risk,omitzero"`
	Deadline     time.Time         `json:"deadline,omitzero"`
	SecondsLeft  int64             `json:"secondsLeft,omitzero"`
	Deciders     []string          `json:"deciders,omitempty"`
	MoreDeciders int               `json:"moreDeciders,omitzero"`
	Headline     string            `json:"headline,omitzero"`
	Count        int               `json:"count,omitzero"`
	FirstSeconds int64             `json:"firstSeconds,omitzero"`
	Outcome      string            `json:"outcome,omitzero"`
	By           string            `json:"by,omitzero"`
	Code         string            `json:"code,omitzero"`
	Channel      string            `json:"channel,omitzero"`
	Webhook      string            `json:"webhook,omitzero"` // that was paused
	WebhookHost  string            `json:"webhookHost,omitzero"`
	Class        models.SendClass  `json:"class,omitzero"` // of its last answer
	Head         string            `json:"head,omitzero"`  // of the ledger
	URL          string            `json:"url,omitzero"`
	SettingsURL  string            `json:"settingsUrl,omitzero"`
}

// Webhook is the body for a program, in the form that Standard Webhooks recommends.
func Webhook(n models.Notice, at time.Time) ([]byte, error) {
	data := webhookData{
		ID: n.ID, RequestID: n.Request, Agent: n.Agent, Tool: n.Tool, Risk: n.Risk, SecondsLeft: int64(n.Left / time.Second),
		Deciders: n.Deciders, MoreDeciders: n.MoreDeciders, Headline: n.Headline, Count: n.Count,
		FirstSeconds: int64(n.First / time.Second),
		Outcome:      n.Outcome, By: n.By, Code: n.Code, Channel: n.Channel, Webhook: n.Webhook, WebhookHost: n.WebhookHost,
		Class: n.Class, Head: n.Head,
		URL: n.URL, SettingsURL: n.SettingsURL,
	}
	if n.Deadline.Before(models.NoDeadline) {
		data.Deadline = n.Deadline.UTC()
	}
	return encode(webhookMessage{Type: "notice." + string(n.Kind), Timestamp: at.UTC(), Data: data})
}
