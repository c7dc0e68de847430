package webhooks

import (
	"strconv"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// The fields of the form that says from where events are sent again.
const (
	ReplayEntryField = "seq"
	ReplayTimeField  = "at"
)

// ReplayInput is what the page is made of that sends events again.
type ReplayInput struct {
	Webhook models.Webhook
	Entry   string // as typed
	At      string
	Errors  map[string]string
	Plan    *models.WebhookReplay // what it means; nil: nothing was chosen yet
	Problem string
}

// ReplayView is the view model of that page.
type ReplayView struct {
	Name, Label   string
	Back, URL     string
	Problem       string
	Entry, At     ui.Field
	Chosen        bool
	Key           string // the first entry's number, as the form sends it
	Seq, EntryURL string
	Count         string
	Only          bool // it gets some kinds only
}

// NewReplay makes the page.
func NewReplay(in ReplayInput) ReplayView {
	w := &in.Webhook
	v := ReplayView{
		Name: w.Name, Label: w.Label, Back: views.WebhookURL(w.ID), URL: views.WebhookActURL(w.ID, "replay"),
		Problem: in.Problem, Only: len(w.Types) > 0,
		Entry: ui.Field{
			Name: ReplayEntryField, Label: "From entry number", Value: in.Entry, Error: in.Errors[ReplayEntryField],
			Optional: true, Autocomplete: "off", MaxLength: "20",
			Help: "As the audit and data.sequence show it.",
		},
		At: ui.Field{
			Name: ReplayTimeField, Label: "Or from a time (UTC)", Value: in.At, Error: in.Errors[ReplayTimeField],
			Optional: true, Autocomplete: "off", MaxLength: "40",
			Help: "Such as 2026-11-22 14:00, or a day.",
		},
	}
	if in.Plan != nil {
		v.Chosen, v.Key, v.Seq, v.EntryURL = true, strconv.FormatInt(in.Plan.Seq,
			10), views.Number(in.Plan.Seq), views.LedgerEntryURL(in.Plan.Seq)
		v.Count = views.Number(in.Plan.Entries) + " entries"
		if in.Plan.Entries == 1 {
			v.Count = "1 entry"
		}
	}
	return v
}
