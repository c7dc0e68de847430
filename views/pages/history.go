package pages

import (
	"cmp"
	"slices"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// HistoryInput is what the history is made of.
type HistoryInput struct {
	Place views.HistoryPlace
	Rows  []models.Brief // newest first
	Next  string         // key of the next page; empty: the last one
	// Searched is after how many rows the search ended early, and Back how far back
	// that is; 0: it did not.
	Searched int
	Back     time.Time
	// Agents are the reader's own, People all whom the reader may choose among who
	// decided; both besides those on the page.
	Agents []models.Agent
	People []models.User
	// Reader is who looks, and Admin whether as an admin.
	Reader models.UserID
	Admin  bool
	// Errors are what is wrong with the filters, by field.
	Errors map[string]string
}

// History is the view model of past requests.
type History struct {
	Rows      []HistoryRow
	Filter    HistoryFilter
	Empty     *InboxEmpty
	CutNote   string // before the time that was come to
	Back      views.Moment
	NextURL   string
	NextLabel string
	FirstURL  string
	CSVURL    string // empty: there is nothing to export
	JSONLURL  string
}

// HistoryRow is one request that was settled, or went through.
type HistoryRow struct {
	ID           string
	URL          string
	Tool         string
	Kind         string // in place of a tool
	Summary      string
	Risk         ui.Word
	Outcome      ui.Word
	By           string // the person who decided
	How          string // in place of a person
	GrantURL     string
	RuleURL      string // makes a rule of calls like it; admins only
	Edited       bool
	Reason       string // what the decider said
	At           views.Moment
	Took         string
	Agent        string
	Owner        string
	Conversation string
	FilterURL    string // this conversation's
}

// HistoryFilter is the form that narrows the history.
type HistoryFilter struct {
	Place    views.HistoryPlace
	Filtered bool
	Errors   map[string]string

	Whose, Agents, Risks, Statuses, Causes, People []ui.Choice
	Tools                                          []string // to choose from

	Conversation string // what it is called, a claim; empty: not filtered by one
	AnyURL       string
}

// NewHistory makes the history as of now.
func NewHistory(in HistoryInput, now time.Time) History {
	v := History{Filter: newHistoryFilter(in)}
	for i := range in.Rows {
		v.Rows = append(v.Rows, historyRow(in, &in.Rows[i].Approval, now))
	}
	place := in.Place
	if place.After != "" {
		place.After = ""
		v.FirstURL = place.URL()
	}
	if in.Next != "" {
		place.After = in.Next
		v.NextURL, v.NextLabel = place.URL(), "Older"
	}
	if in.Searched > 0 {
		v.NextLabel = "Search further back"
		v.CutNote, v.Back = "Searched "+views.Number(int64(in.Searched))+" requests, back to", views.Exact(in.Back)
	}
	if len(in.Errors) == 0 && (len(in.Rows) > 0 || in.Next != "") {
		v.CSVURL, v.JSONLURL = in.Place.ExportURL("csv"), in.Place.ExportURL("jsonl")
	}
	if len(in.Rows) == 0 {
		v.Empty = historyEmpty(in)
	}
	return v
}

func historyEmpty(in HistoryInput) *InboxEmpty {
	switch {
	case len(in.Errors) > 0:
		return &InboxEmpty{"Not searched", "Correct the marked filters, or clear them."}
	case in.Searched > 0:
		return &InboxEmpty{"Nothing found so far", "None of the requests searched so far match. Search further back, or clear the filters."}
	case in.Place.After != "":
		return &InboxEmpty{"Nothing older", "You have reached the end of the history."}
	case in.Place.Filtered():
		return &InboxEmpty{"Nothing matches", "No past request matches all the filters. Clear some of them to see more."}
	}
	return &InboxEmpty{"No past requests yet", "Requests appear here when they are decided, expire, or are allowed by a rule or a pre-approval."}
}

func historyRow(in HistoryInput, a *models.Approval, now time.Time) HistoryRow {
	r := &a.Response
	at := r.CreatedAt
	if r.ApprovalTimestamp != nil {
		at = *r.ApprovalTimestamp
	}
	row := HistoryRow{
		ID: string(a.ID), URL: views.ApprovalURL(a.ID), Tool: r.ToolName, Summary: summary(r), Risk: ui.RiskWord(r.Risk),
		Outcome: ui.StatusWord(r.Status(), r.Cause), How: causeInShort(r), At: views.Ago(at, now), Agent: a.AgentName,
		Conversation: ConversationLabel(a),
	}
	if r.Kind != models.KindToolCall {
		row.Kind = r.Kind.Word()
	}
	if r.ApprovalTimestamp != nil && r.ApprovalRequestedAt != nil && r.Cause != models.CausePolicy {
		row.Took = views.Duration(r.ApprovalTimestamp.Sub(*r.ApprovalRequestedAt))
	}
	if in.Admin && r.ToolName != "" {
		row.RuleURL = views.NewPolicyRuleURL(r.ID)
	}
	if r.GrantID != nil {
		row.GrantURL = views.GrantURL(*r.GrantID)
	}
	if a.OwnerID != in.Reader {
		row.Owner = a.OwnerName
	}
	if row.Conversation != "" {
		of := in.Place
		of.Conversation, of.After = a.ConversationID, ""
		row.FilterURL = of.URL()
	}
	if r.Cause == models.CauseReviewer && a.Vote != nil {
		row.By, row.How, row.Reason, row.Edited = a.Vote.UserName, "", a.Vote.Reason, a.Vote.Input != nil
		if a.Vote.Verdict == models.VerdictAnswer {
			row.Outcome = ui.Word{Text: "answered", Tone: views.ToneGood, Icon: "check"}
		}
	}
	return row
}

// causeInShort is ui.CauseText for where a line of each is shown: each cause has its
// own words (I10).
func causeInShort(r *models.Response) string {
	if name, ok := r.CancelledBy(); ok && name != "" {
		return "by " + models.RevealString(name, false)
	}
	return ui.CauseInShort(r.Cause)
}

func newHistoryFilter(in HistoryInput) HistoryFilter {
	place := in.Place
	place.After = ""
	f := HistoryFilter{
		Place: place, Filtered: place.Filtered(), Errors: in.Errors,
		Whose:    []ui.Choice{{Value: "", Label: "all"}, {Value: "mine", Label: "mine"}, {Value: "routed", Label: "routed to me"}},
		Agents:   inboxAgents(InboxInput{Rows: in.Rows, Agents: in.Agents, Place: views.InboxPlace{Agent: place.Agent}}),
		Risks:    []ui.Choice{{Value: "", Label: "any"}},
		Statuses: []ui.Choice{{Value: "", Label: "any"}},
		Causes:   []ui.Choice{{Value: "", Label: "any"}},
		People:   historyPeople(in),
		Tools:    inboxTools(InboxInput{Rows: in.Rows}),
	}
	f.Agents[0].Label = "any"
	for _, risk := range models.RisksDown() {
		f.Risks = append(f.Risks, ui.Choice{Value: string(risk), Label: string(risk)})
	}
	for _, status := range models.FinalStatuses() {
		label := ui.StatusWord(status, models.CauseReviewer).Text
		if status == models.StatusApproved {
			label += " or allowed"
		}
		f.Statuses = append(f.Statuses, ui.Choice{Value: string(status), Label: label})
	}
	for _, cause := range models.Causes() {
		f.Causes = append(f.Causes, ui.Choice{Value: string(cause), Label: ui.CauseInShort(cause)})
	}
	if place.Conversation != "" {
		f.Conversation = string(place.Conversation)
		if len(in.Rows) > 0 {
			f.Conversation = cmp.Or(ConversationLabel(&in.Rows[0].Approval), f.Conversation)
		}
		place.Conversation = ""
		f.AnyURL = place.URL()
	}
	return f
}

// maxPeople is how many people there are to choose from.
const maxPeople = 200

// historyPeople are those who may have decided: whom the reader may name, those on
// the page, and the one that is chosen.
func historyPeople(in HistoryInput) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "anybody"}}
	known := map[models.UserID]bool{"": true}
	add := func(id models.UserID, name string) {
		if !known[id] && len(out) < maxPeople {
			known[id] = true
			out = append(out, ui.Choice{Value: string(id), Label: models.RevealString(name, false)})
		}
	}
	for i := range in.Rows {
		if vote := in.Rows[i].Vote; vote != nil {
			add(vote.UserID, vote.UserName)
		}
	}
	for i := range in.People {
		add(in.People[i].ID, in.People[i].Name)
	}
	slices.SortStableFunc(out[1:], func(a, b ui.Choice) int { return cmp.Compare(a.Label, b.Label) })
	if !known[in.Place.By] {
		out = append(out, ui.Choice{Value: string(in.Place.By), Label: "another person"})
	}
	return out
}

func (f HistoryFilter) day(name, label, value string) ui.Field {
	return dayField(f.Errors, name, label, value)
}

// dayField is where a day is typed. A date field would drop text that is no day, so that is shown in a text field.
func dayField(errors map[string]string, name, label, value string) ui.Field {
	field := ui.Field{ID: "filter-" + name, Name: name, Label: label, Value: value, Error: errors[name], Type: "date"}
	if _, err := time.Parse(time.DateOnly, value); err != nil && value != "" {
		field.Type = ""
	}
	return field
}
