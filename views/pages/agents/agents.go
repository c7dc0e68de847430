package agents

import (
	"slices"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/connect"
)

// Input is what the page of one's own agents and tokens is made of.
type Input struct {
	Common

	Agents    []models.OwnedAgent // one page
	Next      string              // the key of the next page; empty: that was all
	Tokens    []models.Token      // newest first
	Fresh     *connect.FreshToken
	TokenForm TokenForm
}

// Agents is the view model of one's own agents and tokens.
type Agents struct {
	*Common

	Rows              []AgentRow
	StopLines         []StopLine
	All               *NoteForm // stops all agents; nil: the reader may not
	Tokens            []TokenRow
	Fresh             *connect.FreshToken
	Form              TokenForm
	FirstURL, NextURL string
}

// New makes the page as of now.
func New(in Input, now time.Time) Agents {
	c := &in.Common
	v := Agents{Common: c, Fresh: in.Fresh, Form: in.TokenForm, All: c.stopAll(), Rows: c.rows(in.Agents, now)}
	v.StopLines = c.stopLines(amongOf(in.Agents), now)
	for i := range in.Tokens {
		t := &in.Tokens[i]
		row := tokenRow(t, c.Place, now)
		if t.AgentID != nil {
			row.AgentURL, row.Agent = views.AgentURL(*t.AgentID), t.Name
			if j := slices.IndexFunc(in.Agents, func(a models.OwnedAgent) bool { return a.ID == *t.AgentID }); j >= 0 {
				row.Agent = in.Agents[j].Name
			}
		}
		v.Tokens = append(v.Tokens, row)
	}
	v.FirstURL, v.NextURL = pages(c.Place, in.Next)
	return v
}

// rows are those of a page of agents.
func (c *Common) rows(list []models.OwnedAgent, now time.Time) []AgentRow {
	var out []AgentRow
	for i := range list {
		out = append(out, c.row(&list[i], live(list[i].Tokens, now), now))
	}
	return out
}

// amongOf reports whether a list has an agent.
func amongOf(list []models.OwnedAgent) func(models.AgentID) bool {
	return func(id models.AgentID) bool {
		return slices.ContainsFunc(list, func(a models.OwnedAgent) bool { return a.ID == id })
	}
}

// pages lead to the start of a list and on; empty: there it is, and that was all.
func pages(p views.AgentsPlace, next string) (first, on string) {
	after := p.After
	p.After = ""
	if after != "" {
		first = p.URL()
	}
	if next != "" {
		p.After = next
		on = p.URL()
	}
	return first, on
}
