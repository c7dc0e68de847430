package account

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views/ui"
)

// NotificationsInput is what the page of one's own notifications is made of.
type NotificationsInput struct {
	Channels ChannelsInput
	Form     NotificationForm
}

// NotificationForm is what the form of the settings holds, as it was typed.
type NotificationForm struct {
	Moments             map[models.Risk]MomentsForm
	Digest, From, Until string // times of day
	Zone                string
	Critical            bool // breaks through
	Errors              map[string]string
}

// MomentsForm is when requests of one risk are told.
type MomentsForm struct {
	AtOnce, Half, Tenth bool
	Unseen              string // minutes
}

// NewNotificationForm is the form of settings as they are.
func NewNotificationForm(s models.NotificationSettings) NotificationForm {
	out := NotificationForm{
		Moments: map[models.Risk]MomentsForm{}, Digest: string(s.DigestAt), From: string(s.QuietFrom),
		Until: string(s.QuietTo),
		Zone:  s.Zone, Critical: s.CriticalBreaksThrough,
	}
	for _, risk := range models.Risks() {
		m := s.Moments[risk]
		form := MomentsForm{AtOnce: m.AtOnce, Half: m.Half, Tenth: m.Tenth}
		if m.UnseenMinutes > 0 {
			form.Unseen = strconv.Itoa(m.UnseenMinutes)
		}
		out.Moments[risk] = form
	}
	return out
}

// Notifications is the view model of one's own notifications.
type Notifications struct {
	Channels                  Channels
	Rows                      []MomentsRow
	Digest, From, Until, Zone ui.Field
	Critical                  bool
	Problem                   string
}

// MomentsRow are the fields of one risk.
type MomentsRow struct {
	Risk                string
	AtOnce, Half, Tenth Tick
	Unseen              ui.Field
}

// Tick is one box of a table.
type Tick struct {
	Name, Label string
	On          bool
}

// The fields of the settings, each with its risk behind it.
const (
	AtOnceField = "at_once_"
	UnseenField = "unseen_minutes_"
	HalfField   = "half_"
	TenthField  = "tenth_"
)

// NewNotifications makes the page as of now.
func NewNotifications(in NotificationsInput, now time.Time) Notifications {
	f := in.Form
	clock := func(name, label, value, help string) ui.Field {
		out := ui.Field{
			Name: name, Label: label, Type: "time", Value: value, Help: help, Error: f.Errors[name], Optional: true,
		}
		if _, err := time.Parse("15:04", value); err != nil && value != "" {
			out.Type = "text" // a browser shows only valid times
		}
		return out
	}
	v := Notifications{
		Channels: NewChannels(in.Channels, now), Critical: f.Critical, Problem: f.Errors[""],
		Digest: clock("digest_at", "Daily digest at", f.Digest, "One message with how many wait. Empty: none."),
		From:   clock("quiet_from", "Quiet from", f.From, ""),
		Until:  clock("quiet_to", "Quiet until", f.Until, "What comes meanwhile is sent afterwards, if it still waits."),
		Zone: ui.Field{
			Name: "zone", Label: "Time zone", Value: f.Zone, Error: f.Errors["zone"], Required: true, Autocomplete: "off",
			MaxLength: "200", Mono: true,
			// nothing depends on it yet
			Help: "Such as Europe/Berlin.", OfferZone: f.Zone == "UTC" && f.Digest == "" && f.From == "" && f.Until == "",
		},
	}
	if v.Problem == "" {
		v.Problem = f.Errors["moments"]
	}
	for _, risk := range models.Risks() {
		v.Rows = append(v.Rows, f.row(risk))
	}
	return v
}

func (f *NotificationForm) row(risk models.Risk) MomentsRow {
	m, name := f.Moments[risk], string(risk)
	unseen := ui.Field{
		Name: UnseenField + name, Label: "Minutes unseen, " + name + " risk", Value: m.Unseen, Type: "number", Min: "1",
		Max: strconv.Itoa(models.MaxUnseenMinutes), Error: f.Errors[UnseenField+name],
	}
	if unseen.Error != "" {
		unseen.Type = "text"
	}
	return MomentsRow{
		Risk:   name,
		AtOnce: Tick{AtOnceField + name, "At once, " + name + " risk", m.AtOnce},
		Half:   Tick{HalfField + name, "At half the time, " + name + " risk", m.Half},
		Tenth:  Tick{TenthField + name, "At a tenth of the time, " + name + " risk", m.Tenth},
		Unseen: unseen,
	}
}
