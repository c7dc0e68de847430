package system

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// overdueAfter is how late a poll may be before the page says that no server polls: longer than another server takes to
// step in.
const overdueAfter = time.Minute

// UpstreamsInput is what the page of upstreams is made of.
type UpstreamsInput struct {
	Upstreams []models.UpstreamState
	Form      UpstreamForm
	Problem   string // why the act was refused
}

// UpstreamForm keeps the form if an upstream could not be added. The key goes back with the errors to the person who
// has just typed it.
type UpstreamForm struct {
	Key                           string
	Name, BaseURL, Dialect, Owner string
	Errors                        map[string]string
}

// Upstreams is the view model of the page of upstreams.
type Upstreams struct {
	Rows    []UpstreamRow
	State   string // of the list when its forms were drawn
	Form    UpstreamForm
	Problem string
}

// UpstreamRow is one upstream and how it does.
type UpstreamRow struct {
	Name, BaseURL, Dialect, Owner string
	Word                          ui.Word
	Problem                       string // in words
	Next                          string // when it is polled again, and after how many failures
	Succeeded                     views.Moment
	Waiting                       string
	Unsent                        string // verdicts not yet told; empty: none
	UnsentSince                   views.Moment
	UnsentProblem                 string
	Disabled, Paused              bool
	KeyID, KeyURL, SwitchURL      string
	ResumeURL                     string
}

// NewUpstreams makes the page as of now.
func NewUpstreams(in UpstreamsInput, now time.Time) Upstreams {
	v := Upstreams{Rows: upstreamRows(in.Upstreams, now), Form: in.Form, Problem: in.Problem}
	if v.Form.Dialect == "" {
		v.Form.Dialect = "plain"
	}
	var state strings.Builder
	for i := range in.Upstreams {
		u := &in.Upstreams[i]
		state.WriteString(string(u.ID))
		if u.DisabledAt != nil {
			state.WriteString(" disabled")
		}
		if u.PausedAt != nil {
			state.WriteString(" paused")
		}
		state.WriteByte('\n')
	}
	v.State = models.Digest([]byte(state.String()))
	return v
}

func upstreamRows(in []models.UpstreamState, now time.Time) []UpstreamRow {
	rows := make([]UpstreamRow, 0, len(in))
	for i := range in {
		rows = append(rows, upstreamRow(&in[i], now))
	}
	return rows
}

func upstreamRow(u *models.UpstreamState, now time.Time) UpstreamRow {
	row := UpstreamRow{
		Name: u.Name, BaseURL: u.BaseURL, Dialect: u.Dialect, Owner: u.OwnerName, Problem: u.Problem,
		Word: upstreamWord(u, now), Succeeded: views.AgoOf(u.SucceededAt, now), Waiting: views.Count(u.Waiting),
		Disabled: u.DisabledAt != nil, KeyID: "key-" + string(u.ID), KeyURL: views.UpstreamURL(u.ID, "key"),
		SwitchURL: views.UpstreamURL(u.ID, "disable"),
		Paused:    u.PausedAt != nil && u.DisabledAt == nil, ResumeURL: views.UpstreamURL(u.ID, "resume"),
	}
	if u.Unsent > 0 {
		row.Unsent, row.UnsentSince, row.UnsentProblem = views.Count(u.Unsent), views.AgoOf(u.UnsentSince,
			now), u.UnsentProblem
	}
	if row.Disabled {
		row.Problem, row.SwitchURL = "", views.UpstreamURL(u.ID, "enable")
		return row
	}
	if row.Paused {
		row.Next = "Paused " + views.Ago(*u.PausedAt, now).Text +
			": nothing is fetched from it or sent to it. Give it a new key, or resume once the key works again."
		return row
	}
	if late := now.Sub(u.NextPollAt); late >= overdueAfter {
		row.Next = "Overdue by " + views.Duration(late) + ": no server fetches from it."
	} else if u.Failures > 0 {
		row.Next = failures(u.Failures) + " " + retryText(u.NextPollAt.Sub(now))
	}
	return row
}

func failures(n int) string {
	if n == 1 {
		return "The last attempt failed."
	}
	return "The last " + views.Number(int64(n)) + " attempts failed."
}

func retryText(left time.Duration) string {
	if left < time.Second {
		return "Next attempt now."
	}
	return "Next attempt in " + views.Duration(left) + "."
}

func upstreamWord(u *models.UpstreamState, now time.Time) ui.Word {
	switch {
	case u.DisabledAt != nil:
		return ui.Word{Text: "disabled", Tone: views.ToneNeutral}
	case u.PausedAt != nil:
		return ui.Word{Text: "paused", Tone: views.ToneBad, Icon: "octagon-alert"}
	case u.Failures > 0:
		return ui.Word{Text: "failing", Tone: views.ToneBad, Icon: "octagon-alert"}
	case now.Sub(u.NextPollAt) >= overdueAfter:
		return ui.Word{Text: "not fetched", Tone: views.ToneWarn, Icon: "triangle-alert"}
	case u.PolledAt == nil:
		return ui.Word{Text: "not fetched yet", Tone: views.ToneNeutral}
	case u.Problem != "":
		return ui.Word{Text: "incomplete", Tone: views.ToneWarn, Icon: "triangle-alert"}
	}
	return ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"}
}

// upstreamHealth is one line for all of them.
func upstreamHealth(in []models.UpstreamState, now time.Time) Health {
	h := Health{
		Name: "Upstreams", Word: ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"},
		Text: "Every enabled upstream answers and has received every decision.",
	}
	untold, trouble, paused := 0, 0, 0
	for i := range in {
		word := upstreamWord(&in[i], now)
		if word.Tone == views.ToneBad || word.Tone == views.ToneWarn {
			trouble++
		}
		untold += in[i].Unsent
		if in[i].PausedAt != nil && in[i].DisabledAt == nil {
			paused++
		}
	}
	if paused > 0 {
		h.Word = ui.Word{Text: "not ok", Tone: views.ToneBad, Icon: "octagon-alert"}
		h.Text = "Some refuse their key and are paused: nothing is fetched from them or sent to them. Give them a new key or resume them below."
		return h
	}
	if trouble > 0 || untold > 0 {
		h.Word = ui.Word{Text: "look", Tone: views.ToneWarn, Icon: "triangle-alert"}
		h.Text = "Some do not answer properly, or have not received a decision yet: see below."
	}
	return h
}
