package account

import (
	"strconv"
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// add is the form for a channel of one kind, with the text typed into it if it was sent.
func (in *ChannelsInput) add(kind models.ChannelKind) AddChannel {
	out := AddChannel{
		ID: "add-" + string(kind), URL: views.ChannelsURL(), Kind: string(kind), Title: words.ChannelName(kind),
		Missing: in.Means.Bars(kind), Button: "Add and send a code",
	}
	if in.Group != "" {
		out.URL = views.GroupChannelsURL(in.Group)
	}
	form := ChannelForm{}
	if in.Form.Kind == kind {
		form, out.Open, out.Problem = in.Form, true, in.Form.Errors[""]
	}
	field := func(name, label, help string) ui.Field {
		return ui.Field{
			ID: string(kind) + "-" + name, Name: name, Label: label, Help: help, Error: form.Errors[name], Autocomplete: "off",
			Required: true,
		}
	}
	address := func(label, help string) ui.Field {
		f := field("url", label, help+" It is stored encrypted and never shown again.")
		f.Value, f.Mend = form.URL, ui.AllowHost(form.Allow)
		if !in.Admin && strings.HasSuffix(f.Error, models.HostNotAllowed) {
			f.Error += "; an admin can allow it under System, Notifications"
		}
		f.Type, f.Mono, f.Secret, f.MaxLength = "url", true, true, strconv.Itoa(models.MaxTarget)
		return f
	}
	name := field("label", "Name", "How it is listed here.")
	name.Value, name.Required, name.Optional, name.MaxLength = form.Label, false, true, strconv.Itoa(models.MaxChannelLabel)
	switch kind {
	case models.ChannelEmail:
		out.Summary, out.Text = "Add an e-mail address", "One thread for each request."
		mail := field("address", "E-mail address", "A code is sent there first.")
		mail.Type, mail.Value, mail.Autocomplete, mail.MaxLength = "email", form.Address, "email", "254"
		out.Fields = []ui.Field{mail}
	case models.ChannelWebPush:
		out.Summary, out.Text = "Turn on in this browser", "Notifications of this browser, also when no page of Countersign is open. They go through the browser maker's push service, which can't read them; the server must be able to reach it. Signing out turns them off."
		out.Push, out.Button = in.Means.Push, "Turn on in this browser"
		out.Fields = []ui.Field{name}
	case models.ChannelNtfy:
		out.Summary, out.Text = "Add an ntfy topic", "A topic of an ntfy server. Who knows the topic's name can read it, unless the server asks for a token."
		token := field("token", "Access token", "Only if the server wants one.")
		token.Value, token.Secret = form.Token, true
		token.Type, token.Required, token.Optional, token.MaxLength = "password", false, true, "500"
		out.Fields = []ui.Field{address("Topic URL", "Such as https://ntfy.example.com/approvals."), token, name}
	case models.ChannelSlack:
		out.Summary, out.Text = "Add a Slack channel", "A channel of Slack, by an incoming webhook. A later message is a new one: webhooks can't answer in a thread."
		out.Fields = []ui.Field{address("Webhook URL", "As Slack shows it."), name}
	case models.ChannelWebhook:
		out.Summary, out.Text = "Add a webhook", "JSON to an address of yours, signed as Standard Webhooks says. The secret to verify it with is shown once."
		out.Fields = []ui.Field{address("URL", "Where the JSON is sent."), name}
	}
	return out
}

// pushFields are what the browser says of the address that it made: PushSubscription.
var pushFields = []string{"endpoint", "p256dh", "auth"}
