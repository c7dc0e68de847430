package system

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// NotificationsInput is what the page of the system's notifications is made of.
type NotificationsInput struct {
	Means   account.NotifyMeans
	From    string // whose name messages by e-mail bear
	Backlog models.NotificationBacklog
	Barred  map[models.ChannelID]string // hosts of failing channels that no admin has allowed
	Host    string                      // that was typed and not allowed
	Errors  map[string]string           // its errors
	Problem string                      // why the act was refused
}

// Notifications is the view model of the page of the system's notifications.
type Notifications struct {
	Ways     []Health
	Facts    []Fact
	Failures []FailingRow
	Hosts    []HostRow
	Host     ui.Field
	Problem  string
}

// FailingRow is one channel whose messages do not arrive.
type FailingRow struct {
	Owner, Kind, Label, Problem string
	Barred                      ui.Barred
	Since, Sent                 views.Moment
}

// HostRow is one host that is allowed.
type HostRow struct {
	Host, By string
	Added    views.Moment
}

// NewNotifications makes the page as of now.
func NewNotifications(in NotificationsInput, now time.Time) Notifications {
	v := Notifications{
		Ways: notifyWays(in), Problem: in.Problem,
		Host: ui.Field{
			Name: "host", Label: "Host", Value: in.Host, Error: in.Errors["host"], Required: true, Autocomplete: "off",
			MaxLength: "253", Mono: true,
			Help: "A name such as hooks.slack.com, with a port if it is not 443. This computer and your own network need an entry by name: localhost or 192.168.1.20.",
		},
	}
	b := in.Backlog
	v.Facts = []Fact{
		{Name: "Scheduled", Value: views.Count(b.Schedule), Note: "for later, or after quiet hours"},
		{Name: "To be sent", Value: views.Count(b.Unsent), Note: "now, or again after a failure"},
	}
	if !b.Oldest.IsZero() {
		v.Facts = append(v.Facts, Fact{Name: "Oldest", Value: views.Ago(b.Oldest, now).Text})
	}
	for i := range b.Failures {
		f := &b.Failures[i]
		row := FailingRow{
			Owner: f.Owner, Kind: words.ChannelName(f.Kind), Label: f.Label, Problem: words.SendText(f.LastClass, f.LastStatus),
			Sent: views.AgoOf(f.LastSentAt, now),
		}
		if row.Since = views.AgoOf(f.FailingSince, now); row.Since.IsZero() {
			row.Since = views.AgoOf(f.DisabledAt, now)
		}
		if host := in.Barred[f.ID]; host != "" && f.DisabledAt == nil {
			row.Barred, row.Problem = ui.Barred{Host: host, Back: views.SystemNotificationsURL(), May: true}, ""
		}
		v.Failures = append(v.Failures, row)
	}
	for _, h := range in.Means.Hosts {
		by := h.ByName
		if h.AddedBy == "" {
			by = "command line"
		}
		v.Hosts = append(v.Hosts, HostRow{Host: h.Host, By: by, Added: views.Ago(h.AddedAt, now)})
	}
	return v
}

func notifyWays(in NotificationsInput) []Health {
	good := ui.Word{Text: "ok", Tone: views.ToneGood, Icon: "check"}
	off := ui.Word{Text: "off", Tone: views.ToneNeutral}
	mail := Health{Name: "E-mail", Word: good, Text: "Sent through the mail server that was set."}
	if in.From != "" {
		mail.Text = "Sent through the mail server that was set, from " + models.RevealString(in.From, false) + "."
	}
	if !in.Means.Mail {
		mail.Word, mail.Text = off, "No mail server is set. Start the server with --smtp and --smtp-from."
	}
	push := Health{
		Name: "Browser notifications", Word: good, Text: "Ready. The server must be able to reach the push services of browser makers.",
	}
	if text := in.Means.Missing(models.ChannelWebPush); text != "" {
		push.Word, push.Text = off, text
	}
	others := Health{Name: "ntfy, Slack, webhooks", Word: good, Text: "Sent to the hosts below, and to no other."}
	if len(in.Means.Hosts) == 0 {
		others.Word, others.Text = off, "No host is allowed yet."
	}
	return []Health{mail, push, others}
}
