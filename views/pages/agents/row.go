package agents

import (
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/budgets"
	"countersign/views/ui"
)

// Common is what every page of agents is made of beside its own.
type Common struct {
	Place    views.AgentsPlace
	Reader   models.UserID
	Admin    bool
	Figures  models.AgentsFigures
	Stops    []models.Stop // in force, of those that concern the reader
	StopForm StopForm
}

// StopForm keeps the form if agents could not be stopped, or a stop not lifted.
type StopForm struct {
	Agent  string        // which was to be stopped: its id, or AllAgents; empty: none
	Lift   models.StopID // which was to be lifted; empty: none
	Note   string
	Errors map[string]string // by field
}

// AllAgents is what the form that stops all of them sends for an agent.
const AllAgents = "all"

// AgentRow is what a list says of one agent.
type AgentRow struct {
	ID, Name, URL string
	Owner, Email  string
	State         ui.Word
	By            string // who stopped it; empty: it is not
	LastSeen      views.Moment
	Week          Week
	Pending       string // empty: nothing is
	PendingURL    string
	Tokens        string // how many work; empty: it has none by its nature
	Budget        *budgets.Gauge
	Act           *NoteForm // stops it, or lifts its stop; nil: the reader may do neither
	Wait          string    // why it can't be lifted here
}

// NoteForm is an act that opens in its place and asks for a note.
type NoteForm struct {
	Opener string // what opens it
	Name   string // of the agent that it is about; empty: all, or the page says
	URL    string
	Agent  string // which is stopped; empty: a stop is lifted
	Text   string // what the act does
	Note   ui.Field
	Button ui.Button
	Open   bool
}

// stopOf is the stop in force of one agent, or with an empty id of all; nil: there is none.
func (c *Common) stopOf(id models.AgentID) *models.Stop {
	for i := range c.Stops {
		if c.Stops[i].AgentID == id {
			return &c.Stops[i]
		}
	}
	return nil
}

// row is an agent's row; tokens are those that work now.
func (c *Common) row(a *models.OwnedAgent, tokens []models.Token, now time.Time) AgentRow {
	f := c.Figures.Of[a.ID]
	row := AgentRow{
		ID: string(a.ID), Name: a.Name, URL: views.AgentURL(a.ID), Owner: a.OwnerName, Email: a.OwnerEmail,
		Week: newWeek(f.Days, now), LastSeen: views.AgoOf(lastSeen(tokens, f), now),
	}
	if !a.System {
		row.Tokens = strconv.Itoa(len(tokens))
	}
	if f.Pending > 0 {
		row.Pending, row.PendingURL = views.Count(f.Pending), views.InboxPlace{Agent: a.ID}.URL()
	}
	if f.Budget != nil {
		g := budgets.AgentGauge(*f.Budget)
		row.Budget = &g
	}
	c.addState(&row, a)
	return row
}

// addState says whether the agent is stopped, and what the reader may do about it.
func (c *Common) addState(row *AgentRow, a *models.OwnedAgent) {
	own, all := c.stopOf(a.ID), c.stopOf("")
	switch {
	case own != nil:
		row.State, row.By = stoppedWord, own.ByName
	case all != nil:
		row.State, row.By = stoppedWord, all.ByName
	case a.DisabledAt != nil:
		row.State = ui.Word{Text: "disabled", Tone: views.ToneNeutral}
	case row.LastSeen.IsZero():
		row.State = ui.Word{Text: "never used", Tone: views.ToneNeutral}
	default:
		row.State = ui.Word{Text: "active", Tone: views.ToneGood}
	}
	switch {
	case own != nil && c.mayLift(own):
		row.Act = c.lift(own)
	case own != nil:
		row.Wait = "An admin can lift it."
	case a.DisabledAt == nil && (c.Admin || a.OwnerID == c.Reader):
		row.Act = c.stop(a)
	}
}

var stoppedWord = ui.Word{Text: "stopped", Tone: views.ToneBad, Icon: "octagon-alert"}

// mayLift says what the store will say.
func (c *Common) mayLift(s *models.Stop) bool { return c.Admin || s.ByID == c.Reader }

// stop is the form that stops an agent.
func (c *Common) stop(a *models.OwnedAgent) *NoteForm {
	f := c.Figures.Of[a.ID]
	form := &NoteForm{
		Opener: "Stop…", Name: a.Name, URL: c.Place.Act(views.StopURL()), Agent: string(a.ID),
		Text: cancelText(f.Cancels) + " What it asks is rejected until you lift the stop.",
		Button: ui.Button{
			ID: "stop-" + string(a.ID), Label: "Stop this agent", Variant: "destructive", Small: true,
		},
	}
	if left := f.Pending - f.Cancels; left > 0 {
		form.Text += " Requests of other systems stay pending: " + views.Count(left) + "."
	}
	form.Note = c.note("stop-note-"+string(a.ID), "The agent and its owner see it.", c.StopForm.Agent == string(a.ID))
	form.Open = c.StopForm.Agent == string(a.ID)
	return form
}

// stopAll is the form that stops all agents; nil: the reader may not, or they are stopped.
func (c *Common) stopAll() *NoteForm {
	if !c.Admin || c.stopOf("") != nil {
		return nil
	}
	open := c.StopForm.Agent == AllAgents
	return &NoteForm{
		Opener: "Stop all agents…", URL: c.Place.Act(views.StopURL()), Agent: AllAgents, Open: open,
		Text:   cancelText(c.Figures.AllCancels) + " What any agent asks, of anybody's, is rejected until an admin lifts the stop.",
		Note:   c.note("stop-note-all", "The agents and their owners see it.", open),
		Button: ui.Button{ID: "stop-all", Label: "Stop all agents", Variant: "destructive", Small: true},
	}
}

// lift is the form that lifts a stop.
func (c *Common) lift(s *models.Stop) *NoteForm {
	open := c.StopForm.Lift == s.ID
	return &NoteForm{
		Opener: "Lift…", Name: s.AgentName, URL: c.Place.Act(views.LiftURL(s.ID)), Open: open,
		Text:   "The policy judges new requests again. Those that were cancelled stay cancelled.",
		Note:   c.note("lift-"+string(s.ID), "Why the stop is lifted.", open),
		Button: ui.Button{Label: "Lift the stop", Variant: "outline", Small: true},
	}
}

// note is the field of an act; open: it was sent, and is to be corrected.
func (c *Common) note(id, help string, open bool) ui.Field {
	f := ui.Field{
		ID: id, Name: "note", Label: "Note", Required: true, MaxLength: strconv.Itoa(models.MaxStopNote), Help: help,
		Autocomplete: "off",
	}
	if open {
		f.Value, f.Error, f.Focus = c.StopForm.Note, c.StopForm.Errors["note"], true
	}
	return f
}

// cancelText says what a stop ends; n is counted as the store does.
func cancelText(n int) string {
	switch n {
	case 0:
		return "Cancels nothing: no request is pending."
	case 1:
		return "Cancels 1 pending request."
	}
	return "Cancels " + views.Count(n) + " pending requests."
}

// lastSeen is when an agent last used a token or asked; nil: never.
func lastSeen(tokens []models.Token, f models.AgentFigures) *time.Time {
	last := f.LastAskAt
	for i := range tokens {
		if at := tokens[i].LastUsedAt; at != nil && (last == nil || at.After(*last)) {
			last = at
		}
	}
	return last
}

// live are the tokens that work now.
func live(tokens []models.Token, now time.Time) []models.Token {
	var out []models.Token
	for i := range tokens {
		if tokens[i].Live(now) {
			out = append(out, tokens[i])
		}
	}
	return out
}

// agentColumns head a list of agents.
func (c *Common) agentColumns() []ui.Column {
	columns := []ui.Column{{Label: "Agent"}}
	if c.Place.Everyone {
		columns = append(columns, ui.Column{Label: "Owner", Width: "large", Wide: true})
	}
	columns = append(columns,
		ui.Column{Label: "State", Width: "large"}, ui.Column{Label: "Last seen", Width: "small"},
		ui.Column{Label: "7 days", Width: "medium"}, ui.Column{Label: "Pending", Width: "num"},
		ui.Column{Label: "Tokens", Width: "num", Wide: true})
	if label := c.spentLabel(); label != "" {
		columns = append(columns, ui.Column{Label: label, Width: "large"})
	}
	return append(columns, ui.Column{Width: "small"})
}

// spentLabel names the column of what agents spent; empty: without a limit.
func (c *Common) spentLabel() string {
	for _, f := range c.Figures.Of {
		if f.Budget != nil {
			return "Energy in " + f.Budget.Window()
		}
	}
	return ""
}
