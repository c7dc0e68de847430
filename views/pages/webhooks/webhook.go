package webhooks

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// WebhookInput is what the page of one endpoint is made of.
type WebhookInput struct {
	Webhook   models.WebhookState
	Answers   []models.WebhookAnswer // newest first
	Blocks    []models.WebhookBlock
	Skips     []models.WebhookSkip // newest first
	MoreSkips string               // where the rest of the skips is; empty: there is none

	Secret  string                // a new one, to be shown once
	Trial   *models.WebhookAnswer // what came of a test
	Skip    SkipForm              // that was refused
	Problem string                // why the act was refused
	Barred  string                // its host, if no admin has allowed it
}

// SkipForm is the form that gives up an event, as it was sent.
type SkipForm struct {
	Seq    int64
	Reason string
	Error  string
}

// WebhookView is the view model of the page of one endpoint.
type WebhookView struct {
	ID          models.WebhookID
	Name, Label string
	Word        ui.Word
	Why         string
	Barred      ui.Barred
	Paused      bool
	PausedAt    views.Moment
	Backlog     Backlog
	Accepted    views.Moment
	Types       []string // none: all
	Inputs      bool
	Owner       string
	Created     views.Moment
	OldKey      views.Moment // until when the secret before signs too; zero: there is none
	Answers     []AnswerRow
	Blocks      []BlockRow
	Skips       []SkipRow
	MoreSkips   string
	Secret      string
	Trial       *AnswerRow
	Problem     string
	TestURL     string
	SwitchURL   string
	SwitchLabel string
	RetryURL    string
	SkipURL     string
	ChangeURL   string
	ReplayURL   string
	RotateURL   string
	RetireURL   string
	RemoveURL   string
}

// BlockRow is a stream that waits for an event that was refused.
type BlockRow struct {
	URL, Label     string // of the conversation or request; without URL neither
	Type, Seq      string
	EntryURL       string
	Since          views.Moment
	Next           string // when it is sent again
	Attempts, Text string
	Key            string // the entry's number, as forms send it
	Reason         ui.Field
	Open           bool // the form that skips it
}

// SkipRow is one event that was given up.
type SkipRow struct {
	Type, Seq, EntryURL string
	At                  views.Moment
	By, Reason, Text    string
}

// NewWebhookPage makes the page as of now.
func NewWebhookPage(in WebhookInput, now time.Time) WebhookView {
	w := &in.Webhook
	at := func(act string) string { return views.WebhookActURL(w.ID, act) }
	v := WebhookView{
		ID: w.ID, Name: w.Name, Label: w.Label, Paused: w.PausedAt != nil, PausedAt: views.AgoOf(w.PausedAt, now),
		Backlog: webhookBacklog(w, now), Accepted: views.AgoOf(w.LastAcceptedAt, now), Inputs: w.Inputs, Owner: w.Owner,
		Created:   views.Ago(w.CreatedAt, now),
		MoreSkips: in.MoreSkips, Secret: in.Secret, Problem: in.Problem,
		TestURL: at("test"), SwitchURL: at("pause"), SwitchLabel: "Pause", RetryURL: at("retry"), SkipURL: at("skip"),
		ChangeURL: at("change"), ReplayURL: at("replay"), RotateURL: at("rotate"), RetireURL: at("retire"),
		RemoveURL: at("remove"),
	}
	v.Word, v.Why = webhookWord(w)
	v.Barred = ui.Barred{Host: in.Barred, Back: views.WebhookURL(w.ID), May: true}
	if v.Paused {
		v.SwitchURL, v.SwitchLabel = at("resume"), "Resume"
	}
	if len(w.Types) > 0 {
		v.Types = typesInShort(w.Types)
	}
	if w.OldKeyUntil != nil && w.OldKeyUntil.After(now) {
		v.OldKey = views.Exact(*w.OldKeyUntil)
	}
	for i := range in.Answers {
		v.Answers = append(v.Answers, webhookAnswer(&in.Answers[i], now))
	}
	if in.Trial != nil {
		trial := webhookAnswer(in.Trial, now)
		v.Trial = &trial
	}
	for i := range in.Blocks {
		v.Blocks = append(v.Blocks, webhookBlock(&in.Blocks[i], in.Skip, now))
	}
	for i := range in.Skips {
		v.Skips = append(v.Skips, webhookSkip(&in.Skips[i], now))
	}
	return v
}

func webhookBlock(b *models.WebhookBlock, form SkipForm, now time.Time) BlockRow {
	row := BlockRow{
		Type: b.Type, Seq: views.Number(b.Seq), EntryURL: views.LedgerEntryURL(b.Seq), Key: strconv.FormatInt(b.Seq, 10),
		Since: views.Ago(b.Since, now), Next: "now", Attempts: strconv.Itoa(b.Attempts), Text: answerWords(b.Class, b.Status),
		Label: "people and settings",
	}
	if wait := b.DueAt.Sub(now); wait >= time.Second {
		row.Next = "in " + views.Duration(wait)
	}
	if b.ConversationID != "" {
		row.URL, row.Label = views.ConversationURL(b.ConversationID), "conversation "+words.Tail(string(b.ConversationID))
	} else if b.ResponseID != "" {
		row.URL, row.Label = views.ApprovalURL(b.ResponseID), "request "+words.Tail(string(b.ResponseID))
	}
	row.Reason = ui.Field{
		ID: "reason-" + row.Key, Name: "reason", Label: "Reason", Required: true,
		MaxLength: strconv.Itoa(models.MaxSkipReason), Autocomplete: "off",
	}
	if form.Seq == b.Seq {
		row.Reason.Value, row.Reason.Error, row.Open = form.Reason, form.Error, true
	}
	return row
}

func webhookSkip(s *models.WebhookSkip, now time.Time) SkipRow {
	return SkipRow{
		Type: s.Type, Seq: views.Number(s.Seq), EntryURL: views.LedgerEntryURL(s.Seq), At: views.Ago(s.At, now),
		By: s.By, Reason: s.Reason, Text: answerWords(s.Class, s.Status),
	}
}
