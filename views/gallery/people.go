package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/people"
)

func peopleStates() []State {
	page := func(name, note string, in people.Input) State {
		return State{
			Page: "people", Name: name, Note: note, Component: people.Page(Frame("People", "/people"), people.New(in, Now)),
		}
	}
	fresh, wrong, paged := PeopleInput(), PeopleInput(), PeopleInput()
	fresh.Fresh = &people.FreshInvite{
		Email: "new@example.org", Link: "https://countersign.example/join?key=0123456789abcdef",
	}
	mailed, unsent, unmailed := fresh, fresh, PeopleInput()
	mailed.Fresh = &people.FreshInvite{Email: fresh.Fresh.Email, Link: fresh.Fresh.Link, Mail: &models.SendResult{Class: models.SendSent, Status: 250}}
	unsent.Fresh = &people.FreshInvite{Email: fresh.Fresh.Email, Link: fresh.Fresh.Link, Mail: &models.SendResult{Class: models.SendRejected, Status: 550}}
	unmailed.MailFrom = ""
	wrong.Form = people.InviteForm{
		Email: "bo@example.org", Role: models.RoleAdmin, Errors: map[string]string{"email": "is in use"},
	}
	wrong.Problem = "The last enabled admin cannot be disabled: add another admin first."
	away := PeopleInput()
	away.Waiting, away.Away = 2, []models.Absence{absence("1",
		models.PersonRef{ID: away.People[1].ID, Name: away.People[1].Name}, awayEve, -time.Hour, 48*time.Hour, true)}
	paged.After, paged.Next, paged.Invites = "a@example.org", "z@example.org", nil
	return []State{
		page(Usual, "Oneself, another, one who is disabled", PeopleInput()),
		page("one", "Nobody but oneself", people.Input{Self: UserID, OneAdmin: true, People: PeopleInput().People[:1]}),
		page("fresh", "A link to join, shown only now", fresh),
		page("mailed", "The link went by e-mail, and is shown only now", mailed),
		page("unsent", "The mail server refused it: the link is not lost", unsent),
		page("no-mail", "This server sends no e-mail", unmailed),
		page("wrong", "What cannot be done, and an error in the form", wrong),
		page("away", "Somebody is away, and a substitute is to be accepted", away),
		watched(page("auditor", "As an auditor sees it", PeopleInput())),
		page("paged", "More than fits, nobody invited", paged),
	}
}

// PeopleInput is three people and an invitation, to the first of them.
func PeopleInput() people.Input {
	made := Now.Add(-90 * 24 * time.Hour)
	return people.Input{
		Self: UserID, MailFrom: "countersign@example.org",
		People: []models.Person{
			{
				User: models.User{
					ID: UserID, Email: "ada@example.org", Name: "Ada Berg", Role: models.RoleAdmin, CreatedAt: made,
				},
				Sessions: 2, LastSeen: new(Now.Add(-20 * time.Second)),
			},
			{User: models.User{
				ID: "01890a5d-ac96-774b-bcce-b302099a8202", Email: "bo@example.org", Name: "Bo\u202E Lind",
				Role: models.RoleReviewer, CreatedAt: made,
			}},
			{User: models.User{
				ID: "01890a5d-ac96-774b-bcce-b302099a8203", Email: strings.Repeat("long", 40) + "@example.org", Name: "Cy",
				Role: models.RoleReviewer, CreatedAt: made, DisabledAt: new(Now.Add(-time.Hour)),
			}, Sessions: models.StatsCap},
		},
		Invites: []models.Invite{{
			ID: "01890a5d-ac96-774b-bcce-b302099a8901", Email: "new@example.org", Role: models.RoleReviewer,
			InviterName: "Ada Berg", CreatedAt: Now.Add(-time.Hour), ExpiresAt: Now.Add(7*24*time.Hour - time.Hour),
		}},
	}
}
