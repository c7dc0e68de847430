package people

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Input is what the page of people is made of.
type Input struct {
	People   []models.Person // one page, by e-mail
	After    string          // the key this page began with
	Next     string          // the key of the next one
	Invites  []models.Invite
	Away     []models.Absence // that run or are planned
	Waiting  int              // substitutes to accept
	OneAdmin bool             // no other person may administer
	Self     models.UserID
	Fresh    *FreshInvite
	MailFrom string // the sender of invitations; empty: the server sends no e-mail
	Form     InviteForm
	Problem  string // why the act was refused
}

// FreshInvite is an invitation that was made just now; its link is shown once.
type FreshInvite struct {
	Email, Link string
	Mail        *models.SendResult // how mailing it ended; nil: it was not mailed
}

// tone and text say how mailing the link ended; no text: it was not mailed.
func (f *FreshInvite) tone() views.Tone {
	if f.Mail != nil && f.Mail.Class == models.SendSent {
		return views.ToneGood
	}
	return views.ToneBad
}

func (f *FreshInvite) text() string {
	address := models.RevealString(f.Email, false)
	switch {
	case f.Mail == nil:
		return ""
	case f.Mail.Class == models.SendSent:
		return "Sent to " + address + "."
	}
	return "Could not send to " + address + ". " + words.MailText(f.Mail.Class, f.Mail.Status) + " Pass on the link yourself."
}

func (f *FreshInvite) help() string {
	const once = "The first person who opens it sets the name and password. It works once, within seven days."
	if f.Mail != nil && f.Mail.Class == models.SendSent {
		return "The same link as in the e-mail. " + once
	}
	return "Send it to them and to nobody else. " + once
}

// InviteForm keeps the form if an invitation could not be made.
type InviteForm struct {
	Email  string
	Role   models.Role
	ByHand bool // the link is not mailed
	Errors map[string]string
}

// People is the view model of the page of people.
type People struct {
	Rows              []PersonRow
	Invites           []InviteRow
	Fresh             *FreshInvite
	Form              InviteForm
	MailFrom          string
	Problem           string
	FirstURL, NextURL string
	AwayLabel         string
}

// PersonRow is one person and what may be done about them.
type PersonRow struct {
	Name, Email, Role string
	State             ui.Word
	Self, Disabled    bool
	Last              bool // the last who may administer stays one
	Sessions          string
	HasSessions       bool
	LastSeen, Added   views.Moment
	AwayUntil         views.Moment // zero: is not away
	Roles             []ui.Choice  // the others
	RoleURL           string
	SwitchURL         string // disables, or enables again
	EndURL            string
	AuditURL          string // what they did
}

// InviteRow is one open invitation.
type InviteRow struct {
	Email, By   string
	Role        models.Role
	Expires     views.Moment
	WithdrawURL string
}

// New makes the page as of now.
func New(in Input, now time.Time) People {
	v := People{Fresh: in.Fresh, Form: in.Form, MailFrom: in.MailFrom, Problem: in.Problem}
	if v.Form.Role == "" {
		v.Form.Role = models.RoleReviewer
	}
	if in.After != "" {
		v.FirstURL = views.PeopleURL()
	}
	if in.Next != "" {
		v.NextURL = views.PeoplePageURL(in.Next)
	}
	for _, p := range in.People {
		row := personRow(p, in.Self, now)
		row.Last = in.OneAdmin && p.Role == models.RoleAdmin && p.Enabled()
		for i := range in.Away {
			if a := &in.Away[i]; a.UserID == p.ID && a.Runs(now) {
				row.AwayUntil = views.Exact(a.UntilAt)
			}
		}
		v.Rows = append(v.Rows, row)
	}
	if v.AwayLabel = "Absences"; in.Waiting > 0 {
		v.AwayLabel += " (" + views.Count(in.Waiting) + " to accept)"
	}
	for _, i := range in.Invites {
		v.Invites = append(v.Invites, InviteRow{
			Email: i.Email, Role: i.Role, By: i.InviterName,
			Expires: views.Remaining(i.ExpiresAt, i.CreatedAt, now), WithdrawURL: views.WithdrawInviteURL(i.ID),
		})
	}
	return v
}

func personRow(p models.Person, self models.UserID, now time.Time) PersonRow {
	row := PersonRow{
		Name: p.Name, Email: p.Email, Role: p.Role.Word(), Self: p.ID == self, Disabled: !p.Enabled(),
		Sessions: "none", HasSessions: p.Sessions > 0, LastSeen: views.AgoOf(p.LastSeen, now),
		Added: views.Ago(p.CreatedAt, now),
		Roles: rolesBut(p.Role), RoleURL: views.PersonURL(p.ID, "role"),
		SwitchURL: views.PersonURL(p.ID, "disable"), EndURL: views.PersonURL(p.ID, "end-sessions"),
		AuditURL: views.PersonAuditURL(p.ID),
		State:    ui.Word{Text: "enabled", Tone: views.ToneGood},
	}
	if p.Sessions > 0 {
		row.Sessions = views.Count(p.Sessions)
	}
	if row.Disabled {
		row.State = ui.Word{Text: "disabled", Tone: views.ToneNeutral}
		row.SwitchURL = views.PersonURL(p.ID, "enable")
	}
	return row
}

// roleMeans says what each role may do.
var roleMeans = map[models.Role]string{
	models.RoleReviewer:     "decides requests that are theirs or routed to them",
	models.RoleAdmin:        "decides any request, manages the policy and people",
	models.RolePolicyEditor: "a reviewer who also drafts the policy",
	models.RoleAuditor:      "sees everything, changes nothing",
}

// rolesBut are the roles that a person may get besides the one that they have.
func rolesBut(standing models.Role) (all []ui.Choice) {
	for _, role := range models.Roles {
		if role != standing {
			all = append(all, ui.Choice{Value: string(role), Label: role.Word() + ": " + roleMeans[role]})
		}
	}
	return all
}

// roleHelp says what a change of role ends.
func (r PersonRow) roleHelp() string {
	switch {
	case r.Self:
		return "You lose access to this page, and your admin tokens are refused. Only another admin can make you an admin again."
	case r.Role == string(models.RoleAdmin):
		return "Their admin tokens are refused."
	}
	return ""
}

// disableHelp says what ends with the person's access.
func (r PersonRow) disableHelp() string {
	if r.Self {
		return "You are signed out at once, and your reviewer and admin tokens are refused. Only another admin can enable you again."
	}
	return "Signs them out and refuses their reviewer and admin tokens at once. Their agents can still ask; others decide."
}
