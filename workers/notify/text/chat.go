package text

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// encode writes JSON. Bytes that are no text become the sign for such.
func encode(v any) ([]byte, error) { return json.Marshal(v, jsontext.AllowInvalidUTF8(true)) }

// slackText is a text object. Of type plain_text it is shown as it is.
type slackText struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Emoji    *bool  `json:"emoji,omitzero"`
	Verbatim bool   `json:"verbatim,omitzero"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackMessage struct {
	Text        string       `json:"text"` // what phones show as a notification
	Blocks      []slackBlock `json:"blocks"`
	Mrkdwn      bool         `json:"mrkdwn"`
	Parse       string       `json:"parse"`
	LinkNames   bool         `json:"link_names"`
	UnfurlLinks bool         `json:"unfurl_links"`
	UnfurlMedia bool         `json:"unfurl_media"`
}

// slackEscapes are what Slack asks for in every text.
var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Slack is the body for an incoming webhook. The one link is the address of our own page.
func Slack(n models.Notice) ([]byte, error) {
	m := Unlinked(n)
	off := false
	body := slackMessage{
		Text:  slackEscapes.Replace(m.Subject + ". " + m.Lead),
		Parse: "none",
		Blocks: []slackBlock{{
			"section", slackText{Type: "plain_text", Text: slackEscapes.Replace(m.Subject + "\n" + m.brief()), Emoji: &off},
		}},
	}
	if m.Link != "" {
		address := strings.ReplaceAll(slackEscapes.Replace(m.URL), "|", "%7C")
		body.Blocks = append(body.Blocks,
			slackBlock{"section", slackText{Type: "mrkdwn", Text: "<" + address + "|" + m.Link + ">", Verbatim: true}})
	}
	return encode(body)
}

// ntfyPriorities are ntfy's levels, of which 3 is the usual one.
var ntfyPriorities = map[models.Risk]int{
	models.RiskLow: 2, models.RiskMedium: 3, models.RiskHigh: 4, models.RiskCritical: 5,
}

type ntfyMessage struct {
	Topic    string `json:"topic"`
	Title    string `json:"title"`
	Message  string `json:"message"`
	Click    string `json:"click,omitzero"`
	Priority int    `json:"priority,omitzero"`
}

// Ntfy is the body to publish as JSON. It does not say that it is Markdown, so that it is
// shown as it is.
func Ntfy(n models.Notice, topic string) ([]byte, error) {
	m := Unlinked(n)
	body := ntfyMessage{Topic: topic, Title: m.Subject, Message: m.brief(), Click: m.URL, Priority: ntfyPriorities[n.Risk]}
	if n.Kind == models.NoticeSettled {
		body.Priority = ntfyPriorities[models.RiskLow]
	}
	return encode(body)
}

type pushMessage struct {
	ID    string            `json:"id"`
	Kind  models.NoticeKind `json:"kind"`
	Title string            `json:"title"`
	Body  string            `json:"body"`
	URL   string            `json:"url"`
	Tag   string            `json:"tag"` // a later message with the same one takes its place
}

// Push is what the service worker shows.
func Push(n models.Notice) ([]byte, error) {
	m := Shown(n)
	tag := string(n.Request)
	if tag == "" {
		tag = string(n.Kind)
	}
	return encode(pushMessage{
		ID: n.ID, Kind: n.Kind, Title: m.Subject, Body: strings.TrimRight(m.brief(), "\n"), URL: m.URL, Tag: tag,
	})
}
