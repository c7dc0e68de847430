package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// EveryoneInput is what the page of everybody's agents and tokens is made of.
type EveryoneInput struct {
	Place  views.EveryonePlace
	Agents []models.OwnedAgent // one page, newest first
	Tokens []models.OwnedToken // one page of people's tokens, where the place is that
	Next   string              // the key of the next page; empty: that was all
	Errors map[string]string   // of the search, by field
}

// Everyone is the view model of everybody's agents and tokens.
type Everyone struct {
	Place             views.EveryonePlace
	Rows              []EveryoneRow
	Bar               ui.FilterBar
	Whats             []ui.Choice
	What              string
	Error             string
	Empty             string
	FirstURL, NextURL string
}

// EveryoneRow is an agent with one of its tokens, or none, or a token of a person.
type EveryoneRow struct {
	Name, Owner, Email string
	Hint, Scope        string
	RevokeURL          string // empty: there is nothing to revoke
	State              ui.Word
	LastUsed, Expires  views.Moment
	Made               views.Moment
}

// everyonesPeople is how the form names the tokens of people.
const everyonesPeople = "people"

// everyoneColumns head the list.
func (v Everyone) columns() []ui.Column {
	first := "Agent"
	if v.Place.People {
		first = "Token"
	}
	return []ui.Column{
		{Label: first},
		{Label: "Owner", Width: "large"},
		{Label: "Token", Width: "large", Wide: true},
		{Label: "State", Width: "small"},
		ui.TimeColumn("Last use"),
		{Label: "Expires", Width: "time", Wide: true},
		{Label: "Made", Width: "time", Wide: true},
		{Width: "small"},
	}
}

// NewEveryone makes the page as of now.
func NewEveryone(in EveryoneInput, now time.Time) Everyone {
	p := in.Place
	p.After = ""
	v := Everyone{
		Place: p, Error: in.Errors["q"],
		Whats: []ui.Choice{{Label: "agents"}, {Value: everyonesPeople, Label: "tokens of people"}},
		Bar: ui.FilterBar{
			Label: "Search everybody's agents and tokens", Action: views.EveryonePlace{}.URL(), Open: len(in.Errors) > 0,
		},
	}
	if p.People {
		v.What = everyonesPeople
		v.Bar.Chips = append(v.Bar.Chips,
			ui.Chip{Name: "Show", Value: "tokens of people", RemoveURL: views.EveryonePlace{Text: p.Text}.URL()})
	}
	if p.Text != "" {
		v.Bar.Chips = append(v.Bar.Chips,
			ui.Chip{Name: "Text", Value: p.Text, RemoveURL: views.EveryonePlace{People: p.People}.URL()})
	}
	if len(v.Bar.Chips) > 0 {
		v.Bar.ClearURL = v.Bar.Action
	}
	for i := range in.Agents {
		v.Rows = append(v.Rows, agentRows(&in.Agents[i], now)...)
	}
	for i := range in.Tokens {
		t := &in.Tokens[i]
		row := tokenOf(&t.Token, now)
		row.Name, row.Owner, row.Email = t.Name, t.OwnerName, t.OwnerEmail
		v.Rows = append(v.Rows, row)
	}
	if in.Place.After != "" {
		v.FirstURL = p.URL()
	}
	if in.Next != "" {
		p.After = in.Next
		v.NextURL = p.URL()
	}
	v.Empty = everyoneEmpty(in)
	return v
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

// agentRows are a row for each token of an agent that works, or one that says there is none.
func agentRows(a *models.OwnedAgent, now time.Time) []EveryoneRow {
	rows := []EveryoneRow{{State: ui.Word{Text: "no token", Tone: views.ToneNeutral}, Made: views.Stamp(a.CreatedAt)}}
	if len(a.Tokens) > 0 {
		rows = rows[:0]
	}
	for i := range a.Tokens {
		rows = append(rows, tokenOf(&a.Tokens[i], now))
	}
	for i := range rows {
		rows[i].Name, rows[i].Owner, rows[i].Email = a.Name, a.OwnerName, a.OwnerEmail
		if a.DisabledAt != nil {
			rows[i].State = ui.Word{Text: "disabled", Tone: views.ToneNeutral}
		}
	}
	return rows
}

// tokenOf is what a row says of a token.
func tokenOf(t *models.Token, now time.Time) EveryoneRow {
	row := EveryoneRow{
		Hint: t.Hint, Scope: string(t.Scope), Made: views.Stamp(t.CreatedAt), RevokeURL: views.RevokeTokenURL(t.ID),
		State: ui.Word{Text: "active", Tone: views.ToneGood},
	}
	if t.LastUsedAt != nil {
		row.LastUsed = views.Stamp(*t.LastUsedAt)
	}
	if t.ExpiresAt != nil {
		row.Expires = views.Stamp(*t.ExpiresAt)
	}
	if !t.Live(now) {
		row.State, row.RevokeURL = ui.Word{Text: "expired", Tone: views.ToneWarn}, ""
	}
	return row
}
