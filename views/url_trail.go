package views

import (
	"net/url"
	"strconv"

	"countersign/models"
)

// TrailPlace is where in a person's audit trail a reader is. The zero value is the
// reader's own, all of it.
type TrailPlace struct {
	Person       models.UserID // for admins: whose; empty: the reader's own
	Part         string
	Outcome      string
	Agent        models.AgentID
	Conversation models.ConversationID
	Text         string
	From, To     string // days as typed, 2006-01-02
	Zone         string // of the days, such as Europe/Berlin; empty: UTC
	Before       int64  // the key of the page
}

// URL is the address of the place.
func (p TrailPlace) URL() string { return p.at("", "") }

// PrintURL is the same, as much of it as one page holds, to be printed.
func (p TrailPlace) PrintURL() string { return p.at("/print", "") }

// ExportURL streams all that the place filters, as csv or jsonl.
func (p TrailPlace) ExportURL(format string) string {
	p.Before = 0
	return p.at("/export", format)
}

// Filtered reports whether something is left out.
func (p TrailPlace) Filtered() bool { return p != TrailPlace{Person: p.Person, Before: p.Before} }

// All is the whole trail of the same person.
func (p TrailPlace) All() TrailPlace { return TrailPlace{Person: p.Person} }

func (p TrailPlace) at(below, format string) string {
	path := AuditURL()
	if p.Person != "" {
		path = PersonAuditURL(p.Person)
	}
	key := ""
	if p.Before > 0 {
		key = strconv.FormatInt(p.Before, 10)
	}
	return with(path+below, "format", format, "what", p.Part, "outcome", p.Outcome, "agent", string(p.Agent),
		"conversation", string(p.Conversation), "q", p.Text,
		"from", p.From, "to", p.To, "zone", p.Zone, "before", key)
}

// Kept is what a saved view has of the place: its filters, as a query, without days and page.
func (p TrailPlace) Kept() string {
	p.From, p.To, p.Zone, p.Before = "", "", "", 0
	return queryOf(p.URL())
}

// PersonAuditURL is one person's audit trail, for admins.
func PersonAuditURL(id models.UserID) string {
	return PeopleURL() + "/" + url.PathEscape(string(id)) + "/audit"
}
