package conversations

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/budgets"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// ListInput is what the list of conversations is made of.
type ListInput struct {
	Rows   []models.ConversationView // most recently active first
	After  string                    // key that this page began behind; empty: the first
	Next   string                    // key of the next page; empty: this is the last
	Filter views.ConversationFilter
	Errors map[string]string // by filter
	Agents []models.Agent    // the reader's own, to choose from
	People []models.User     // to choose an owner from, for admins
	Admin  bool
	// BaseURL is the server's public address, for the example of an empty list.
	BaseURL string
}

// ListView is the view model of the list.
type ListView struct {
	Rows      []ListRow
	Filter    views.ConversationFilter
	Errors    map[string]string
	Statuses  []ui.Choice
	Agents    []ui.Choice
	Owners    []ui.Choice // for admins; empty: too many to choose from
	Chips     []ui.Chip
	Admin     bool
	ListURL   string // where the list refetches itself
	NextURL   string
	NextLabel string
	FirstURL  string
	Command   string // how an agent opens one, where there is none yet
}

// ListRow is one conversation in the list.
type ListRow struct {
	ID       string
	URL      string
	Title    string
	Agent    string
	AgentURL string // those of this agent
	BuiltIn  bool
	Owner    string // for admins
	Status   ui.Word
	Marks    []ui.Word
	Pending  string // how many requests wait; empty: none
	WaitURL  string // the inbox of this conversation
	Gauge    budgets.Gauge
	Active   views.Moment
}

// NewList makes the list as of now.
func NewList(in ListInput, now time.Time) ListView {
	v := ListView{
		Filter: in.Filter, Errors: in.Errors, Admin: in.Admin, ListURL: views.ConversationListURL(in.Filter, in.After),
		Statuses: []ui.Choice{{Value: "", Label: "Any status"}}, Agents: agentChoices(in), Owners: ownerChoices(in),
	}
	for _, status := range [...]models.ConversationStatus{
		models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted, models.ConversationFailed,
	} {
		v.Statuses = append(v.Statuses, ui.Choice{Value: string(status), Label: ui.ConversationWord(status).Text})
	}
	v.chips()
	for i := range in.Rows {
		v.Rows = append(v.Rows, conversationRow(&in.Rows[i], in, now))
	}
	if in.Next != "" {
		v.NextURL = views.ConversationListURL(in.Filter, in.Next)
		v.NextLabel = "Less recently active"
	}
	if in.After != "" {
		v.FirstURL = views.ConversationListURL(in.Filter, "")
	}
	if len(in.Rows) == 0 && in.After == "" && !in.Filter.Any() {
		v.Command = `curl -sS "` + in.BaseURL + `/conversations/$(uuidgen)/responses" \
  -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"kind": "reply", "content": "Good morning."}'`
	}
	return v
}

func conversationRow(c *models.ConversationView, in ListInput, now time.Time) ListRow {
	of := in.Filter
	of.Agent = string(c.AgentID)
	row := ListRow{
		ID: string(c.ID), URL: views.ConversationURL(c.ID), Title: words.ConversationName(c),
		Agent: c.AgentName, AgentURL: views.ConversationListURL(of, ""), BuiltIn: c.BuiltIn,
		Status: ui.ConversationWord(c.Status), Gauge: budgets.NewGauge(c.Budget()), Active: views.Ago(c.UpdatedAt, now),
	}
	if words.ConversationTitle(c) == "" && !c.Standing {
		row.Title += " " + words.Tail(string(c.ID)) // or one looked like the other
	}
	if in.Admin {
		row.Owner = c.OwnerName
	}
	if c.Pending > 0 {
		row.Pending, row.WaitURL = views.Count(c.Pending)+" to decide", views.InboxPageURL(c.ID, "")
	}
	if c.PausedAt != nil {
		row.Marks = append(row.Marks, ui.Word{Text: "paused", Tone: views.ToneWarn})
	}
	if c.ArchivedAt != nil && !in.Filter.Archived {
		row.Marks = append(row.Marks, ui.Word{Text: "archived", Tone: views.ToneNeutral})
	}
	return row
}

// chips are the filters that are set, each with the way to the list without it.
func (v *ListView) chips() {
	add := func(label, value string, choices []ui.Choice, without views.ConversationFilter) {
		if value == "" {
			return
		}
		chip := ui.Chip{Name: label, Value: value, RemoveURL: views.ConversationListURL(without, "")}
		for _, c := range choices {
			if c.Value == value {
				chip.Value = c.Label
			}
		}
		v.Chips = append(v.Chips, chip)
	}
	without := func(change func(*views.ConversationFilter)) views.ConversationFilter {
		f := v.Filter
		change(&f)
		return f
	}
	add("Status", v.Filter.Status, v.Statuses, without(func(f *views.ConversationFilter) { f.Status = "" }))
	add("Agent", v.Filter.Agent, v.Agents, without(func(f *views.ConversationFilter) { f.Agent = "" }))
	add("Owner", v.Filter.Owner, v.Owners, without(func(f *views.ConversationFilter) { f.Owner = "" }))
	if v.Filter.Archived {
		add("Archived", "yes", nil, without(func(f *views.ConversationFilter) { f.Archived = false }))
	}
}

// ownersMost is how many people there are to choose from; where there are more, an
// owner is typed.
const ownersMost = 200

// ownerChoices are the people of the server, and what the address says where it names
// none of them.
func ownerChoices(in ListInput) []ui.Choice {
	if !in.Admin || len(in.People) > ownersMost {
		return nil
	}
	out := []ui.Choice{{Value: "", Label: "Anybody"}}
	known := in.Filter.Owner == ""
	for i := range in.People {
		u := &in.People[i]
		c := ui.Choice{
			Value: string(u.ID), Label: models.RevealString(u.Name, false) + " · " + models.RevealString(u.Email, false),
		}
		if in.Filter.Owner == string(u.ID) || strings.EqualFold(in.Filter.Owner, u.Email) {
			c.Value, known = in.Filter.Owner, true // as the address has it
		}
		out = append(out, c)
	}
	if !known {
		out = append(out, ui.Choice{Value: in.Filter.Owner, Label: models.RevealString(in.Filter.Owner, false)})
	}
	return out
}

// agentChoices are the reader's own agents, and the one that is chosen.
func agentChoices(in ListInput) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "Any agent"}}
	known := in.Filter.Agent == ""
	for _, a := range in.Agents {
		known = known || string(a.ID) == in.Filter.Agent
		out = append(out, ui.Choice{Value: string(a.ID), Label: models.RevealString(a.Name, false)})
	}
	if known {
		return out
	}
	name := "another agent"
	for i := range in.Rows {
		if string(in.Rows[i].AgentID) == in.Filter.Agent {
			name = models.RevealString(in.Rows[i].AgentName, false)
			break
		}
	}
	return append(out, ui.Choice{Value: in.Filter.Agent, Label: name})
}
