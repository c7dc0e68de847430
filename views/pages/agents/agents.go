package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/budgets"
	"countersign/views/pages/connect"
	"countersign/views/ui"
)

// Input is what the page of agents and tokens is made of.
type Input struct {
	Agents []models.Agent
	Tokens []models.Token // newest first
	Admin  bool           // may make admin tokens
	Fresh  *connect.FreshToken
	Form   TokenForm
	// Budgets are what the agents may spend and have spent; nil without a limit.
	Budgets map[models.AgentID]models.AgentBudget
	// Stops are those in force that concern the reader.
	Stops    []models.Stop
	Stoppers []ui.Choice // whom the reader may stop
	Reader   models.UserID
	StopForm StopForm
}

// StopForm keeps the form if agents could not be stopped, or a stop not lifted.
type StopForm struct {
	Agent, Note string
	Lift        models.StopID // which was to be lifted; empty: agents were to be stopped
	LiftNote    string
	Errors      map[string]string // by field
}

// TokenForm keeps the form if a token could not be made.
type TokenForm struct {
	Scope       models.Scope
	Agent, Name string
	Expires     string
	Errors      map[string]string // by field
}

// Agents is the view model of agents and tokens.
type Agents struct {
	Agents []AgentRow
	Tokens []TokenRow
	Admin  bool
	Fresh  *connect.FreshToken
	Form   TokenForm
	// Window is how far back what the agents spent counts, such as 24 hours; empty
	// without a limit.
	Window string

	Stops      []StopRow
	StopAgent  ui.Field
	Stoppers   []ui.Choice
	StopNote   ui.Field
	StopsError string
}

// StopRow is a stop in force.
type StopRow struct {
	ID, Who, By, Note string
	At                views.Moment
	LiftURL           string // empty: another has to lift it
	Lift              ui.Field
}

// newStops makes the rows of the stops that are in force.
func newStops(in Input, now time.Time) []StopRow {
	var out []StopRow
	for i := range in.Stops {
		s := &in.Stops[i]
		row := StopRow{ID: string(s.ID), Who: "All agents", By: s.ByName, Note: s.Note, At: views.Ago(s.At, now)}
		if !s.All() {
			row.Who = s.AgentName
		}
		if in.Admin || s.ByID == in.Reader {
			row.LiftURL = views.LiftURL(s.ID)
		}
		row.Lift = ui.Field{
			ID: "lift-" + row.ID, Name: "note", Label: "Note", Required: true, MaxLength: "500", Help: "Why the stop is lifted.",
		}
		if in.StopForm.Lift == s.ID {
			row.Lift.Value, row.Lift.Error = in.StopForm.LiftNote, in.StopForm.Errors["note"]
		}
		out = append(out, row)
	}
	return out
}

// AgentRow is one registered agent.
type AgentRow struct {
	Name     string
	Created  views.Moment
	LastUsed views.Moment
	Tokens   string
	Disabled bool
	Budget   budgets.Gauge // where the page has a Window
}

// TokenRow is one credential; its secret is never here.
type TokenRow struct {
	ID        string
	RevokeURL string
	Name      string
	Agent     string
	Scope     models.Scope
	Hint      string
	Created   views.Moment
	Expires   views.Moment
	LastUsed  views.Moment
	State     ui.Word
	Live      bool
}

// New makes the page as of now.
func New(in Input, now time.Time) Agents {
	v := Agents{Admin: in.Admin, Fresh: in.Fresh, Form: in.Form, Stops: newStops(in, now), Stoppers: in.Stoppers}
	v.StopAgent = ui.Field{ID: "stop-agent", Name: "agent", Label: "Agent", Value: in.StopForm.Agent}
	v.StopNote = ui.Field{
		ID: "stop-note", Name: "note", Label: "Note", Required: true, MaxLength: "500", Value: in.StopForm.Note,
		Help: "People whose agents are stopped see it.",
	}
	if in.StopForm.Lift == "" {
		v.StopNote.Error, v.StopAgent.Error = in.StopForm.Errors["note"], in.StopForm.Errors["agent"]
	}
	names := make(map[models.AgentID]string, len(in.Agents))
	live := make(map[models.AgentID]int64)
	used := make(map[models.AgentID]*time.Time)
	for _, a := range in.Agents {
		names[a.ID] = a.Name
	}
	for _, t := range in.Tokens {
		row := TokenRow{
			ID: string(t.ID), RevokeURL: views.RevokeTokenURL(t.ID), Name: t.Name, Scope: t.Scope, Hint: t.Hint,
			Created: views.Ago(t.CreatedAt, now), LastUsed: views.AgoOf(t.LastUsedAt, now), Live: t.Live(now),
		}
		if t.ExpiresAt != nil {
			row.Expires = views.Exact(*t.ExpiresAt)
		}
		switch {
		case t.RevokedAt != nil:
			row.State = ui.Word{Text: "revoked", Tone: views.ToneNeutral}
		case !row.Live:
			row.State = ui.Word{Text: "expired", Tone: views.ToneWarn}
		default:
			row.State = ui.Word{Text: "active", Tone: views.ToneGood}
		}
		if t.AgentID != nil {
			id := *t.AgentID
			row.Agent = names[id]
			if row.Live {
				live[id]++
			}
			if t.LastUsedAt != nil && (used[id] == nil || t.LastUsedAt.After(*used[id])) {
				used[id] = t.LastUsedAt
			}
		}
		v.Tokens = append(v.Tokens, row)
	}
	for _, a := range in.Agents {
		row := AgentRow{
			Name: a.Name, Created: views.Ago(a.CreatedAt, now), LastUsed: views.AgoOf(used[a.ID], now),
			Tokens: liveText(live[a.ID]), Disabled: a.DisabledAt != nil,
		}
		if b, ok := in.Budgets[a.ID]; ok {
			row.Budget, v.Window = budgets.AgentGauge(b), b.Window()
		}
		v.Agents = append(v.Agents, row)
	}
	return v
}

func liveText(n int64) string {
	switch n {
	case 0:
		return "none active"
	case 1:
		return "1 active"
	}
	return views.Number(n) + " active"
}

// errorFor gives the error of a field to the form that was sent, and to no
// other one on the page.
func (f TokenForm) errorFor(scope models.Scope, field string) string {
	if f.Scope != scope {
		return ""
	}
	return f.Errors[field]
}

// value is a field's value as it was sent.
func (f TokenForm) value(scope models.Scope, value string) string {
	if f.Scope != scope {
		return ""
	}
	return value
}

// spentLabel names the column of what the agents spent.
func (v Agents) spentLabel() string { return "Energy in " + v.Window }

func (v Agents) agentColumns() []ui.Column {
	columns := []ui.Column{
		{Label: "Agent"},
		{Label: "Tokens", Width: "medium"},
		{Label: "Last use", Width: "small"},
		{Label: "Registered", Width: "small"},
	}
	if v.Window != "" {
		columns = append(columns, ui.Column{Label: v.spentLabel(), Width: "medium"})
	}
	return columns
}

func tokenColumns() []ui.Column {
	return []ui.Column{
		{Label: "Token"},
		{Label: "Scope", Width: "small"},
		{Label: "State", Width: "small"},
		{Label: "Last use", Width: "small"},
		{Label: "Expires", Width: "time"},
		{Label: "Made", Width: "small"},
		{Width: "small"},
	}
}
