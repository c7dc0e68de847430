package account

import (
	"slices"
	"strings"
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
	Moments             map[models.Risk]string // as models.Moments writes them
	Digest, From, Until string                 // times of day
	Zone                string
	Critical            bool // breaks through
	Errors              map[string]string
}

// NewNotificationForm is the form of settings as they are.
func NewNotificationForm(s models.NotificationSettings) NotificationForm {
	out := NotificationForm{
		Moments: map[models.Risk]string{}, Digest: string(s.DigestAt), From: string(s.QuietFrom),
		Until: string(s.QuietTo),
		Zone:  s.Zone, Critical: s.CriticalBreaksThrough,
	}
	for _, risk := range models.Risks() {
		out.Moments[risk] = s.Moments[risk].String()
	}
	return out
}

// Notifications is the view model of one's own notifications.
type Notifications struct {
	Channels                  Channels
	When                      []MomentsRow
	Digest, From, Until, Zone ui.Field
	Critical                  bool
	Problem                   string
}

// MomentsRow says when requests of one risk are told, and what else may be chosen.
type MomentsRow struct {
	Field   ui.Field
	Choices []ui.Choice
}

// MomentsField is the name of the field of a risk.
func MomentsField(risk models.Risk) string { return "moments_" + string(risk) }

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
		v.When = append(v.When, f.row(risk))
	}
	return v
}

// momentChoices are the moments that are offered; others stay as they are set.
func momentChoices() []models.Moments {
	return []models.Moments{
		{AtOnce: true},
		{AtOnce: true, Tenth: true},
		{AtOnce: true, Half: true, Tenth: true},
		{UnseenMinutes: 2},
		{UnseenMinutes: 5},
		{UnseenMinutes: 15},
		{UnseenMinutes: 30},
		{UnseenMinutes: 60},
		{UnseenMinutes: 15, Tenth: true},
		{Half: true, Tenth: true},
		{Half: true},
		{Tenth: true},
		{},
	}
}

func (f *NotificationForm) row(risk models.Risk) MomentsRow {
	value := f.Moments[risk]
	row := MomentsRow{Field: ui.Field{
		Name: MomentsField(risk), Label: "When it's " + string(risk) + " risk", Value: value, Error: f.Errors[MomentsField(risk)],
	}}
	moments, ok := models.ParseMoments(value)
	if !ok {
		row.Choices = append(row.Choices, ui.Choice{Label: "Choose…"})
	}
	for _, m := range momentChoices() {
		row.Choices = append(row.Choices, ui.Choice{Value: m.String(), Label: momentsText(m)})
	}
	if ok && !slices.Contains(momentChoices(), moments) {
		row.Choices = append(row.Choices, ui.Choice{Value: value, Label: "as set: " + momentsText(moments)})
	}
	return row
}

// momentsText says when somebody hears of a request, as the end of a sentence.
func momentsText(m models.Moments) string {
	var parts []string
	if m.AtOnce {
		parts = append(parts, "at once")
	}
	if m.UnseenMinutes > 0 {
		parts = append(parts, "if you haven't looked at it after "+models.SpokenDuration(time.Duration(m.UnseenMinutes)*time.Minute))
	}
	switch {
	case m.Half && m.Tenth:
		parts = append(parts, "when half and when a tenth of its time is left")
	case m.Half:
		parts = append(parts, "when half of its time is left")
	case m.Tenth:
		parts = append(parts, "when a tenth of its time is left")
	}
	if len(parts) == 0 {
		return "never"
	}
	return strings.Join(parts, ", and ")
}
