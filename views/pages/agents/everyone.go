package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// EveryoneInput is what the page of everybody's agents and tokens is made of.
type EveryoneInput struct {
	Common

	Agents []models.OwnedAgent // one page, newest first
	Tokens []models.OwnedToken // one page of people's tokens, where the place is that
	Next   string              // the key of the next page; empty: that was all
	Errors map[string]string   // of the search, by field
}

// Everyone is the view model of everybody's agents and tokens.
type Everyone struct {
	*Common

	Rows              []AgentRow
	People            []PersonToken
	StopLines         []StopLine
	All               *NoteForm // stops all agents; nil: they are stopped
	Bar               ui.FilterBar
	Whats             []ui.Choice
	What              string
	Error             string
	Empty             string
	FirstURL, NextURL string
}

// PersonToken is a token by which a person acts.
type PersonToken struct {
	TokenRow

	Owner, Email string
	LastUsed     views.Moment
	Expires      views.Moment
	Made         views.Moment
}

// everyonesPeople is how the form names the tokens of people.
const everyonesPeople = "people"

// peopleColumns head the tokens of people.
func peopleColumns() []ui.Column {
	return []ui.Column{
		{Label: "Token"},
		{Label: "Owner", Width: "large"},
		{Label: "Begins with", Width: "large", Wide: true},
		{Label: "State", Width: "small"},
		ui.TimeColumn("Last use"),
		{Label: "Expires", Width: "time", Wide: true},
		{Label: "Created", Width: "time", Wide: true},
		{Width: "small"},
	}
}

// NewEveryone makes the page as of now.
func NewEveryone(in EveryoneInput, now time.Time) Everyone {
	c := &in.Common
	v := Everyone{
		Common: c, Error: in.Errors["q"], All: c.stopAll(), Rows: c.rows(in.Agents, now), Bar: everyoneBar(in),
		Whats: []ui.Choice{{Label: "agents"}, {Value: everyonesPeople, Label: "tokens of people"}},
	}
	if c.Place.People {
		v.What = everyonesPeople
	} else {
		v.StopLines = c.stopLines(amongOf(in.Agents), now)
	}
	for i := range in.Tokens {
		v.People = append(v.People, personRow(&in.Tokens[i], c.Place, now))
	}
	v.FirstURL, v.NextURL = pages(c.Place, in.Next)
	v.Empty = everyoneEmpty(in)
	return v
}

// everyoneBar is the search, with a chip for each filter that is set.
func everyoneBar(in EveryoneInput) ui.FilterBar {
	p := in.Place
	bar := ui.FilterBar{
		Label: "Search everybody's agents and tokens", Action: views.AgentsPlace{Everyone: true}.URL(), Open: len(in.Errors) > 0,
	}
	if p.People {
		bar.Chips = append(bar.Chips, ui.Chip{
			Name: "Show", Value: "tokens of people", RemoveURL: views.AgentsPlace{Everyone: true, Text: p.Text}.URL(),
		})
	}
	if p.Text != "" {
		bar.Chips = append(bar.Chips, ui.Chip{
			Name: "Text", Value: p.Text, RemoveURL: views.AgentsPlace{Everyone: true, People: p.People}.URL(),
		})
	}
	if len(bar.Chips) > 0 {
		bar.ClearURL = bar.Action
	}
	return bar
}

func everyoneEmpty(in EveryoneInput) string {
	switch {
	case len(in.Errors) > 0:
		return "Not searched: correct the text, or clear it."
	case in.Place.Text != "":
		return "Nothing matches. Clear the text to see all."
	case in.Place.People:
		return "No tokens: nobody acts by API."
	}
	return "No agents yet. An agent appears here with its first token."
}

// personRow is a row of a token by which a person acts.
func personRow(t *models.OwnedToken, place views.AgentsPlace, now time.Time) PersonToken {
	row := PersonToken{
		TokenRow: tokenRow(&t.Token, place, now), Owner: t.OwnerName, Email: t.OwnerEmail, Made: views.Stamp(t.CreatedAt),
	}
	if t.LastUsedAt != nil {
		row.LastUsed = views.Stamp(*t.LastUsedAt)
	}
	if t.ExpiresAt != nil {
		row.Expires = views.Stamp(*t.ExpiresAt)
	}
	return row
}
