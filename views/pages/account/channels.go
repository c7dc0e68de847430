package account

import (
	"slices"
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// NotifyMeans are the ways in which this server can send messages.
type NotifyMeans struct {
	Mail   bool   // an SMTP server is set
	Push   string // the public key of web push, base64url; empty: there is none
	Secure bool   // pages are at an address at which browsers allow web push
	Hosts  []models.NotificationHost

	MayAllow bool // the reader may allow more
}

// Missing says why no channel of a kind can be added; empty: it can.
func (m NotifyMeans) Missing(kind models.ChannelKind) string {
	switch kind {
	case models.ChannelEmail:
		if !m.Mail {
			return "Not available: this server has no mail server. It is set with --smtp."
		}
	case models.ChannelWebPush:
		if !m.Secure {
			return "Not available: browsers allow it only over HTTPS or on localhost."
		}
		if m.Push == "" {
			return "Not available: this server has no key for browser notifications."
		}
	case models.ChannelNtfy, models.ChannelSlack, models.ChannelWebhook:
		if len(m.Hosts) == 0 {
			return "Not available: no host is allowed yet. Admins allow hosts under System, Notifications."
		}
	}
	return ""
}

// Bars says why a reader has no form for a channel of a kind; empty: they have one. An admin
// can allow a host with it.
func (m NotifyMeans) Bars(kind models.ChannelKind) string {
	if m.MayAllow && len(m.Hosts) == 0 &&
		slices.Contains([]models.ChannelKind{models.ChannelNtfy, models.ChannelSlack, models.ChannelWebhook}, kind) {
		return ""
	}
	return m.Missing(kind)
}

// ChannelForm keeps the form of a channel that could not be added. Its secrets, the URL and the token, go back with the
// errors to the person who has just typed them.
type ChannelForm struct {
	Kind           models.ChannelKind
	URL, Token     string
	Allow          string // the host that the reader can allow, so that it works; empty: none
	Label, Address string
	Errors         map[string]string
}

// ChannelsInput is what a list of channels is made of.
type ChannelsInput struct {
	Channels []models.Channel
	Group    string // whose they are; empty: the reader's own
	Means    NotifyMeans
	Admin    bool                        // of the reader
	Barred   map[models.ChannelID]string // hosts that no admin has allowed
	Form     ChannelForm
	Codes    map[models.ChannelID]string // the error of a code that was typed
	Problem  string                      // why the act was refused
	Trial    *TriedChannel
	Secret   string // of the webhook that was just added
}

// TriedChannel is a channel to which a test was sent, and what came of it.
type TriedChannel struct {
	ID     models.ChannelID
	Result models.SendResult
}

// Channels is the view model of a list of channels.
type Channels struct {
	Rows    []ChannelRow
	Adds    []AddChannel
	Empty   string // the text where there are none
	Problem string
	Trial   *ChannelTest
	Secret  string
}

// ChannelRow is one channel.
type ChannelRow struct {
	Kind, Label        string
	Word               ui.Word // empty: it works
	Problem            string
	Barred             ui.Barred
	Since              views.Moment // of failing
	Sent               views.Moment
	Code               *ui.Field // nil: it is verified
	VerifyURL          string
	ResendURL, TestURL string // empty: nothing is sent there
	RemoveURL          string
}

// ChannelTest is what came of a test.
type ChannelTest struct {
	Tone        views.Tone
	Label, Text string
	Body        string // of the answer, for admins
	Said        bool   // there is a body to show
}

// AddChannel is the form that adds a channel of one kind.
type AddChannel struct {
	ID, URL, Kind, Title, Text string
	Summary                    string
	Missing                    string // why there is no form
	Fields                     []ui.Field
	Problem                    string
	Push                       string // the key with which the browser makes the address
	Button                     string
	Open                       bool
}

// NewChannels makes the list as of now.
func NewChannels(in ChannelsInput, now time.Time) Channels {
	v := Channels{Problem: in.Problem, Secret: in.Secret}
	for i := range in.Channels {
		c := &in.Channels[i]
		v.Rows = append(v.Rows, in.row(c, now))
		if in.Trial != nil && in.Trial.ID == c.ID {
			v.Trial = in.test(c)
		}
	}
	for _, kind := range models.ChannelKinds() {
		if kind == models.ChannelWebPush && in.Group != "" {
			continue // it belongs to a browser of one person
		}
		v.Adds = append(v.Adds, in.add(kind))
	}
	v.Empty = "No channels yet. Add one below."
	if !slices.ContainsFunc(v.Adds, func(a AddChannel) bool { return a.Missing == "" }) {
		v.Empty = "No channels yet, and none can be added: this server is not set up to send messages. Ask an admin."
		if in.Admin || in.Group != "" { // groups are for admins
			v.Empty = "No channels yet, and none can be added until this server can send messages. What each kind needs is below."
		}
	}
	return v
}

func (in *ChannelsInput) url(id models.ChannelID, what string) string {
	if in.Group != "" {
		return views.GroupChannelURL(in.Group, id, what)
	}
	return views.ChannelURL(id, what)
}

// page is where they are listed.
func (in *ChannelsInput) page() string {
	if in.Group != "" {
		return views.GroupURL(in.Group)
	}
	return views.NotificationsURL()
}

func (in *ChannelsInput) row(c *models.Channel, now time.Time) ChannelRow {
	row := ChannelRow{
		Kind: words.ChannelName(c.Kind), Label: c.Label, Sent: views.AgoOf(c.LastSentAt, now),
		RemoveURL: in.url(c.ID, "remove"),
	}
	switch {
	case c.DisabledAt != nil:
		row.Word = ui.Word{Text: "gone", Tone: views.ToneBad, Icon: "octagon-alert"}
		row.Problem = "The service says that this address no longer exists. Remove it, and add it again."
	case c.VerifiedAt == nil:
		row.Word = ui.Word{Text: "not verified", Tone: views.ToneWarn, Icon: "triangle-alert"}
		row.VerifyURL, row.ResendURL = in.url(c.ID, "verify"), in.url(c.ID, "code")
		row.Code = &ui.Field{
			ID: "code-" + string(c.ID), Name: "code", Label: "Code", Required: true, Autocomplete: "one-time-code",
			MaxLength: "20", Mono: true, Error: in.Codes[c.ID],
			Help: "Six digits, sent to this channel. A code works for 15 minutes.",
		}
		if failed := c.LastClass != "" && c.LastClass != models.SendSent; failed {
			row.Problem = "The code did not arrive. " + words.SendText(c.LastClass, c.LastStatus)
		}
	case c.FailingSince != nil:
		row.Word = ui.Word{Text: "failing", Tone: views.ToneBad, Icon: "octagon-alert"}
		row.Problem, row.Since = words.SendText(c.LastClass, c.LastStatus), views.Ago(*c.FailingSince, now)
	case c.LastClass != "" && c.LastClass != models.SendSent:
		row.Problem = "The last attempt failed. " + words.SendText(c.LastClass, c.LastStatus)
	}
	if c.Usable() {
		row.TestURL = in.url(c.ID, "test")
	}
	if host := in.Barred[c.ID]; host != "" && c.DisabledAt == nil {
		row.Barred, row.Problem, row.ResendURL, row.TestURL = ui.Barred{Host: host, Back: in.page(), May: in.Admin}, "", "", ""
	}
	return row
}

func (in *ChannelsInput) test(c *models.Channel) *ChannelTest {
	result := in.Trial.Result
	out := &ChannelTest{Tone: views.ToneGood, Label: c.Label, Text: "Test sent."}
	if result.Class != models.SendSent {
		out.Tone, out.Text = views.ToneBad, "Test not sent. "+words.SendText(result.Class, result.Status)
	} else if result.Status != 0 {
		out.Text = "Test sent. The service answered " + strconv.Itoa(result.Status) + "."
	}
	if in.Admin && len(result.Body) > 0 {
		out.Body, out.Said = string(result.Body), true
	}
	return out
}
