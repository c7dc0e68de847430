package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
)

// StopLine is a stop in force that a page shows above its agents.
type StopLine struct {
	ID, Name, URL string // URL: of the agent's page; empty: it is of all agents
	By, Note      string
	At            views.Moment
	Lift          *NoteForm // nil: another has to lift it
}

// stopLines are the stops in force that no row of the page shows.
func (c *Common) stopLines(shown func(models.AgentID) bool, now time.Time) []StopLine {
	var out []StopLine
	for i := range c.Stops {
		s := &c.Stops[i]
		if !s.All() && shown(s.AgentID) {
			continue
		}
		line := c.stopLine(s, now)
		if !s.All() {
			line.Name, line.URL = s.AgentName, views.AgentURL(s.AgentID)
		}
		out = append(out, line)
	}
	return out
}

func (c *Common) stopLine(s *models.Stop, now time.Time) StopLine {
	line := StopLine{ID: string(s.ID), By: s.ByName, Note: s.Note, At: views.Ago(s.At, now)}
	if c.mayLift(s) {
		line.Lift = c.lift(s)
	}
	return line
}
