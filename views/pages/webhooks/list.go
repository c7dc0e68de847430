package webhooks

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Input is what the list of endpoints is made of.
type Input struct {
	Webhooks []models.WebhookState
	Barred   map[models.WebhookID]string // hosts that no admin has allowed
}

// Webhooks is the view model of the list of endpoints.
type Webhooks struct {
	Rows []Row
	Full bool // no more can be added
}

// Row is one endpoint and how it does.
type Row struct {
	URL, Name, Label string
	Word             ui.Word // empty: it is sent events
	Why              string
	Barred           ui.Barred
	Backlog          Backlog
	Last             *AnswerRow
}

// Backlog is what an endpoint has not got yet. Count is empty if that is nothing.
type Backlog struct {
	Count  string
	Oldest views.Moment
}

// New makes the page as of now.
func New(in Input, now time.Time) Webhooks {
	v := Webhooks{Full: len(in.Webhooks) >= models.MaxWebhooks}
	for i := range in.Webhooks {
		w := &in.Webhooks[i]
		row := Row{URL: views.WebhookURL(w.ID), Name: w.Name, Label: w.Label, Backlog: webhookBacklog(w, now)}
		row.Word, row.Why = webhookWord(w)
		row.Barred = ui.Barred{Host: in.Barred[w.ID], Back: views.WebhooksURL(), May: true}
		if w.Last != nil {
			last := webhookAnswer(w.Last, now)
			row.Last = &last
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// webhookWord is the special state of an endpoint, and its reason.
func webhookWord(w *models.WebhookState) (word ui.Word, why string) {
	switch w.PausedWhy {
	case models.PausedByPerson:
		return ui.Word{Text: "paused", Tone: views.ToneNeutral}, "by " + models.RevealName(w.PausedBy)
	case models.PausedFailing:
		return ui.Word{Text: "paused", Tone: views.ToneBad, Icon: "triangle-alert"}, "It refused an event for 24 hours."
	case models.PausedGone:
		return ui.Word{
			Text: "paused", Tone: views.ToneBad, Icon: "triangle-alert",
		}, "It answered 410: it wants no more events."
	}
	switch w.BlockCount {
	case 0:
		return ui.Word{}, ""
	case 1:
		return ui.Word{Text: "refusing", Tone: views.ToneWarn}, "1 conversation waits."
	}
	return ui.Word{Text: "refusing", Tone: views.ToneWarn}, views.Count(w.BlockCount) + " conversations wait."
}

func webhookBacklog(w *models.WebhookState, now time.Time) Backlog {
	if w.OldestAt == nil {
		return Backlog{}
	}
	text := views.Number(w.Behind) + " entries"
	switch {
	case w.Behind == 1:
		text = "1 entry"
	case w.Behind <= 0: // only blocked events
		text = "refused events only"
	}
	return Backlog{Count: text, Oldest: views.Ago(*w.OldestAt, now)}
}

// AnswerRow is how one attempt ended.
type AnswerRow struct {
	At       views.Moment
	Type     string
	Seq, URL string // of the entry; empty: a test
	Attempt  string
	Took     string
	Good     bool
	Text     string
	Body     string
}

func webhookAnswer(a *models.WebhookAnswer, now time.Time) AnswerRow {
	row := AnswerRow{
		At: views.Ago(a.At, now), Type: a.Type, Attempt: strconv.Itoa(a.Attempt),
		Took: strconv.FormatInt(a.Took.Milliseconds(), 10) + " ms",
		Good: a.Class == models.SendSent, Text: answerWords(a.Class, a.Status), Body: string(a.Body),
	}
	if a.Seq != 0 {
		row.Seq, row.URL = views.Number(a.Seq), views.LedgerEntryURL(a.Seq)
	}
	return row
}

// answerWords says how an attempt to send an event ended.
func answerWords(class models.SendClass, status int) string {
	code := strconv.Itoa(status)
	switch class {
	case models.SendSent:
		return "Accepted with " + code + "."
	case models.SendRejected, models.SendUnavailable, models.SendGone:
		return "Refused with " + code + "."
	case models.SendRedirect:
		return "It redirects (" + code + "), and redirects are not followed."
	case models.SendNotConfigured:
		return "Its address or secret can't be read. Change the address, or make a new secret."
	case models.SendRefusedHost, models.SendNameNotFound, models.SendConnect, models.SendCertificate, models.SendTimeout,
		models.SendTooLarge:
	}
	return words.SendText(class, status)
}
