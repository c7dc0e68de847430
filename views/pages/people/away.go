package people

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// The fields of the forms about absences and substitutes.
const (
	AwayPersonField     = "person"
	AwayFromField       = "from"
	AwayUntilField      = "until"
	AwayZoneField       = "zone"
	AwaySubstituteField = "substitute"
)

// AwayInput is what the pages of absences and substitutes are made of.
type AwayInput struct {
	Reader      models.UserID
	Everybody   bool // the admins' page; else the reader's own
	Absences    []models.Absence
	Substitutes []models.Substitute
	Emails      []string // of people to pick from, for admins
	OtherAdmins int      // than the reader, on the admins' page
	Form        AwayForm
	Name        SubstituteForm
	Problem     string // why the act was refused
}

// AwayForm is what the form of an absence holds, as it was typed.
type AwayForm struct {
	Person      string // e-mail, on the admins' page
	From, Until string
	Zone        string
	Substitute  string // an id on one's own page, an e-mail on the admins'
	Sent        bool
	Errors      map[string]string
}

// SubstituteForm is what the form holds that names a substitute.
type SubstituteForm struct {
	Person, Substitute string // e-mails
	Errors             map[string]string
}

// Away is the view model of one's own page.
type Away struct {
	Problem     string
	Now         *AbsenceRow // that runs or is planned; nil: none
	Form        AwayFields
	Substitutes []SubstituteRow // who acts for the reader
	For         []SubstituteRow // for whom the reader acts
	Name        SubstituteFields
}

// AllAway is the view model of the admins' page.
type AllAway struct {
	Problem  string
	Waiting  []SubstituteRow // for an admin
	Accepted []SubstituteRow
	Absences []AbsenceRow
	Form     AwayFields
	Name     SubstituteFields
}

// PersonName is a person as pages name them.
type PersonName struct{ Name, Email string }

// AbsenceRow is one absence that runs or is planned.
type AbsenceRow struct {
	Person      PersonName
	Runs        bool
	From, Until views.Moment
	Substitute  *PersonName // nil: no one
	Accepted    bool
	EndURL      string
}

// SubstituteRow is somebody who acts for a person, or was asked to.
type SubstituteRow struct {
	Person, Substitute PersonName
	State              ui.Word
	Waits              bool // for an admin
	Self               bool // the reader is the substitute
	OfOther            bool // and there is another admin, who has to accept it
	Asked              views.Moment
	Until              views.Moment // the person is away until then, and this one acts; zero: not now
	AcceptURL          string
	RemoveURL          string
}

// AwayFields are the fields of an absence.
type AwayFields struct {
	URL         string
	Person      *ui.Field // nil: the reader
	From, Until ui.Field
	Zone        ui.Field
	Substitute  ui.Field
	Choices     []ui.Choice // nil: an e-mail is typed
}

// SubstituteFields are the fields that name a substitute.
type SubstituteFields struct {
	URL        string
	Person     *ui.Field // nil: the reader
	Substitute ui.Field
}

func (in *AwayInput) page() string {
	if in.Everybody {
		return views.PeopleAwayURL()
	}
	return views.AwayURL()
}

// NewAway makes one's own page as of now.
func NewAway(in AwayInput, now time.Time) Away {
	v := Away{Problem: in.Problem}
	for i := range in.Absences {
		if a := &in.Absences[i]; a.UserID == in.Reader {
			v.Now = new(in.absenceRow(a, now))
		}
	}
	choices := []ui.Choice{{Value: "", Label: "nobody"}}
	for i := range in.Substitutes {
		s := &in.Substitutes[i]
		row := in.substituteRow(s, now)
		if s.UserID != in.Reader {
			v.For = append(v.For, row)
			continue
		}
		v.Substitutes = append(v.Substitutes, row)
		label := models.RevealString(s.SubstituteName, false) + ", " + models.RevealString(s.SubstituteEmail, false)
		if !s.Accepted() {
			label += " (not accepted yet)"
		}
		choices = append(choices, ui.Choice{Value: string(s.SubstituteID), Label: label})
	}
	v.Form, v.Name = in.fields(), in.naming()
	v.Form.Choices = choices
	return v
}

// NewAllAway makes the admins' page as of now.
func NewAllAway(in AwayInput, now time.Time) AllAway {
	v := AllAway{Problem: in.Problem, Form: in.fields(), Name: in.naming()}
	for i := range in.Substitutes {
		if row := in.substituteRow(&in.Substitutes[i], now); row.Waits {
			v.Waiting = append(v.Waiting, row)
		} else {
			v.Accepted = append(v.Accepted, row)
		}
	}
	for i := range in.Absences {
		v.Absences = append(v.Absences, in.absenceRow(&in.Absences[i], now))
	}
	return v
}

func (in *AwayInput) absenceRow(a *models.Absence, now time.Time) AbsenceRow {
	row := AbsenceRow{
		Person: PersonName{a.UserName, a.UserEmail}, Runs: a.Runs(now), From: views.Exact(a.FromAt),
		Until:    views.Exact(a.UntilAt),
		Accepted: a.Accepted, EndURL: views.EndAbsenceURL(in.page(), a.ID),
	}
	if a.SubstituteID != "" {
		row.Substitute = &PersonName{a.SubstituteName, a.SubstituteEmail}
	}
	return row
}

func (in *AwayInput) substituteRow(s *models.Substitute, now time.Time) SubstituteRow {
	row := SubstituteRow{
		Person: PersonName{s.UserName, s.UserEmail}, Substitute: PersonName{s.SubstituteName, s.SubstituteEmail},
		Waits: !s.Accepted(), Self: s.SubstituteID == in.Reader, Asked: views.Ago(s.AskedAt, now),
		State:     ui.Word{Text: "accepted", Tone: views.ToneGood},
		AcceptURL: views.SubstituteURL(in.page(), s.ID, "accept"), RemoveURL: views.SubstituteURL(in.page(), s.ID, "remove"),
	}
	row.OfOther = row.Self && in.OtherAdmins > 0
	if row.Waits {
		row.State = ui.Word{Text: "waits for an admin", Tone: views.ToneWarn}
	}
	for i := range in.Absences {
		if a := &in.Absences[i]; a.UserID == s.UserID && a.SubstituteID == s.SubstituteID && a.Runs(now) {
			row.Until = views.Exact(a.UntilAt)
		}
	}
	return row
}

func (in *AwayInput) fields() AwayFields {
	f := in.Form
	moment := func(name, label, value, help string) ui.Field {
		out := ui.Field{Name: name, Label: label, Value: value, Error: f.Errors[name], Help: help, Type: "datetime-local"}
		if _, err := time.Parse("2006-01-02T15:04", value); err != nil && value != "" {
			out.Type = "text" // a browser shows only valid times
		}
		return out
	}
	v := AwayFields{
		URL:   in.page(),
		From:  moment(AwayFromField, "From", f.From, "Empty: from now on."),
		Until: moment(AwayUntilField, "Until", f.Until, ""),
		Zone: ui.Field{
			Name: AwayZoneField, Label: "Time zone", Value: f.Zone, Error: f.Errors[AwayZoneField], Required: true,
			Autocomplete: "off", MaxLength: "200", Mono: true,
			Help: "Such as Europe/Berlin.", OfferZone: !f.Sent && f.Zone == "UTC",
		},
		Substitute: ui.Field{
			ID: "away-substitute", Name: AwaySubstituteField, Label: "Substitute", Value: f.Substitute,
			Error: f.Errors[AwaySubstituteField],
			Help:  "Also gets your requests while you are away.",
		},
	}
	v.From.Optional, v.Until.Required = true, true
	if in.Everybody {
		v.Person = in.email("away-person", AwayPersonField, "Who is away", f.Person, f.Errors)
		sub := in.email("away-substitute", AwaySubstituteField, "Substitute", f.Substitute, f.Errors)
		sub.Required, sub.Optional, sub.Help = false, true, "The e-mail of the person who also gets their requests."
		v.Substitute = *sub
	}
	return v
}

func (in *AwayInput) naming() SubstituteFields {
	f := in.Name
	v := SubstituteFields{
		URL:        views.SubstitutesURL(in.page()),
		Substitute: *in.email("name-substitute", AwaySubstituteField, "Their e-mail", f.Substitute, f.Errors),
	}
	if in.Everybody {
		v.Person = in.email("name-person", AwayPersonField, "For whom", f.Person, f.Errors)
		v.Substitute.Label = "Substitute"
	}
	return v
}

func (in *AwayInput) email(id, name, label, value string, errors map[string]string) *ui.Field {
	return &ui.Field{
		ID: id, Name: name, Label: label, Type: "email", Value: value, Error: errors[name], Required: true,
		Autocomplete: "off", MaxLength: "200", List: in.Emails,
	}
}

// AwayNote is what the inbox says of an absence that runs.
type AwayNote struct {
	Own        bool        // the reader is away
	Person     PersonName  // who is, otherwise
	Substitute *PersonName // of the reader; nil: no one
	Accepted   bool
	Until      views.Moment
	EndURL     string
}

// NewAwayNotes are those of one reader.
func NewAwayNotes(absences []models.Absence, reader models.UserID) []AwayNote {
	var out []AwayNote
	for i := range absences {
		a := &absences[i]
		note := AwayNote{
			Own: a.UserID == reader, Person: PersonName{a.UserName, a.UserEmail}, Accepted: a.Accepted,
			Until:  views.Exact(a.UntilAt),
			EndURL: views.EndAbsenceURL(views.AwayURL(), a.ID),
		}
		if a.SubstituteID != "" {
			note.Substitute = &PersonName{a.SubstituteName, a.SubstituteEmail}
		}
		out = append(out, note)
	}
	return out
}
