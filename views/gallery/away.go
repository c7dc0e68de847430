package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/people"
)

// The people of these states: one whose name deceives, one whose name is long.
var (
	awayAnn  = models.PersonRef{ID: "u1", Name: "Ada Berg", Email: "ada@example.org"}
	awayEve  = models.PersonRef{ID: "u2", Name: "Eve Lind", Email: "eve@example.org"}
	awayFake = models.PersonRef{ID: "u3", Name: "Eve\u202E <b>Lind</b> accepted", Email: "eve@evil.example"}
	awayLong = models.PersonRef{
		ID: "u4", Name: strings.Repeat("Maximiliane ", 9), Email: strings.Repeat("long.", 12) + "name@example.org",
	}
)

func substitute(n string, of, by models.PersonRef, accepted bool) models.Substitute {
	s := models.Substitute{
		ID: models.SubstituteID("01890a5d-ac96-774b-bcce-b302099a890" + n), UserID: of.ID, UserName: of.Name,
		UserEmail:    of.Email,
		SubstituteID: by.ID, SubstituteName: by.Name, SubstituteEmail: by.Email, AskedAt: Now.Add(-3 * time.Hour),
	}
	if accepted {
		s.AcceptedAt = new(Now.Add(-time.Hour))
	}
	return s
}

func absence(n string, of, by models.PersonRef, from, until time.Duration, accepted bool) models.Absence {
	return models.Absence{
		ID: models.AbsenceID("01890a5d-ac96-774b-bcce-b302099a8a0" + n), UserID: of.ID, UserName: of.Name,
		UserEmail:    of.Email,
		SubstituteID: by.ID, SubstituteName: by.Name, SubstituteEmail: by.Email, Accepted: accepted, FromAt: Now.Add(from),
		UntilAt: Now.Add(until),
	}
}

// wrongAway is a form that can't be, as it comes back.
func wrongAway() people.AwayForm {
	return people.AwayForm{
		Person: "ada@example.org", From: "tomorrow", Until: "2026-11-01T08:00", Zone: "Vienna", Substitute: "nobody@example.org", Sent: true, Errors: map[string]string{
			"from":  "must be a time such as 2026-12-24 17:00, or a day",
			"until": "must be later than the beginning, and in the future",
			"zone":  "must be a time zone such as Europe/Vienna", "person": "must be the e-mail of somebody who may sign in",
			"substitute": "must be the e-mail of somebody who may sign in",
		},
	}
}

func awayStates() []State {
	own := func(name, note string, in people.AwayInput) State {
		if in.Reader = awayAnn.ID; in.Form.Zone == "" {
			in.Form.Zone = "UTC"
		}
		return State{
			Page: "away", Name: name, Note: note,
			Component: people.AwayPage(Frame("Away", "/account/away"), people.NewAway(in, Now)),
		}
	}
	named := []models.Substitute{
		substitute("1", awayAnn, awayEve, true), substitute("2", awayAnn, awayFake, false),
		substitute("3", awayLong, awayAnn, true), substitute("4", awayEve, awayAnn, false),
	}
	return []State{
		own(Usual, "Substitutes are named, and nobody is away", people.AwayInput{Substitutes: named}),
		own("empty", "Nobody is named", people.AwayInput{}),
		own("runs", "The reader is away, and so is somebody whose substitute they are", people.AwayInput{Substitutes: named, Absences: []models.Absence{
			absence("1", awayAnn, awayEve, -time.Hour, 48*time.Hour, true),
			absence("2", awayLong, awayAnn, -time.Hour, 24*time.Hour, true),
		}}),
		own("planned", "It is planned, with somebody whom no admin has accepted",
			people.AwayInput{
				Substitutes: named, Absences: []models.Absence{absence("1", awayAnn, awayFake, 24*time.Hour, 48*time.Hour, false)},
			}),
		own("alone", "Away without a substitute",
			people.AwayInput{Absences: []models.Absence{absence("1", awayAnn, models.PersonRef{}, -time.Hour, 48*time.Hour, false)}}),
		own("wrong", "What can't be; what was typed stays",
			people.AwayInput{
				Substitutes: named[:1], Form: wrongAway(),
				Name: people.SubstituteForm{
					Substitute: "nobody@example.org",
					Errors:     map[string]string{"substitute": "must be the e-mail of somebody who may sign in"},
				},
			}),
		own("gone", "It had ended meanwhile",
			people.AwayInput{Problem: "That has ended or was removed in the meantime. Nothing was changed."}),
	}
}

func peopleAwayStates() []State {
	all := func(name, note string, in people.AwayInput) State {
		if in.Reader, in.Everybody, in.Emails = awayAnn.ID, true, []string{
			"ada@example.org", "eve@example.org",
		}; in.Form.Zone == "" {
			in.Form.Zone = "UTC"
		}
		return State{
			Page: "absences", Name: name, Note: note,
			Component: people.AllAwayPage(Frame("Absences and substitutes", "/people"), people.NewAllAway(in, Now)),
		}
	}
	return []State{
		all(Usual, "Some wait to be accepted, one with a name that deceives; some act", people.AwayInput{
			Substitutes: []models.Substitute{
				substitute("1", awayAnn, awayFake, false), substitute("2", awayEve, awayAnn, false),
				substitute("3", awayAnn, awayEve, true), substitute("4", awayLong, awayEve, true),
			},
			Absences: []models.Absence{
				absence("1", awayAnn, awayEve, -time.Hour, 48*time.Hour, true),
				absence("2", awayLong, awayFake, 24*time.Hour, 48*time.Hour, false),
				absence("3", awayEve, models.PersonRef{}, -time.Hour, time.Hour, false),
			},
		}),
		all("empty", "Nobody acts for anybody", people.AwayInput{}),
		all("wrong", "What can't be; what was typed stays",
			people.AwayInput{
				Form: wrongAway(),
				Name: people.SubstituteForm{
					Person: "nobody@example.org", Substitute: "ada@example.org",
					Errors: map[string]string{"person": "must be the e-mail of somebody who may sign in"},
				},
			}),
		all("refused", "An admin can't accept themselves",
			people.AwayInput{OtherAdmins: 1, Substitutes: []models.Substitute{substitute("2", awayEve, awayAnn, false)}}),
	}
}
