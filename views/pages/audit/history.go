package audit

import (
	"cmp"
	"slices"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// HistoryInput is what the history is made of.
type HistoryInput struct {
	Place views.HistoryPlace
	Rows  []models.Brief // newest first
	Next  string         // key of the next page; empty: the last one
	// ScanCount is after how many rows the search ended early, and Back how far back
	// that is; 0: it did not.
	ScanCount int
	Back      time.Time
	// Agents are the reader's own, People all whom the reader may choose among who
	// decided; both besides those on the page.
	Agents []models.Agent
	People []models.User
	// Reader is who looks, and Admin whether as an admin.
	Reader models.UserID
	Admin  bool
	Zone   *time.Location // in which the reader's days begin
	Saved  lists.Saved
	// Errors are the errors of the filters, by field.
	Errors map[string]string
}

// History is the view model of past requests.
type History struct {
	Rows      []HistoryRow
	Filter    HistoryFilter
	Bar       ui.FilterBar
	Empty     *lists.Empty
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
	By           string // the person who decided, or cancelled
	Behalf       string // for whom they decided; empty: in their own right
	How          string // in place of a person
	GrantURL     string
	RuleURL      string // makes a rule of calls like it; admins only
	Edited       bool
	Glass        bool   // the decision broke glass
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
}

// historyColumns head the history.
var historyColumns = []ui.Column{
	ui.TimeColumn("Settled"),
	{Label: "Decided by", Width: "sentence"},
	{Label: "Request"},
	{Label: "Outcome", Width: "end"},
	{Label: "Reason", Width: "reason"},
}

// NewHistory makes the page of past requests as of now.
func NewHistory(in HistoryInput, now time.Time) History {
	v := History{Filter: newHistoryFilter(in)}
	v.Bar = historyBar(v.Filter)
	v.Bar.Shortcuts = lists.SpanLinks(now, in.Zone, v.Filter.Place.URL(), func(s lists.Span) string {
		place := v.Filter.Place
		place.From, place.To, place.Zone = s.From, s.To, lists.ZoneName(in.Zone)
		return place.URL()
	})
	v.Bar.ShortcutZone = in.Zone.String()
	v.Bar.Saved = in.Saved.Bar()
	for i := range in.Rows {
		v.Rows = append(v.Rows, historyRow(in, &in.Rows[i].Approval))
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
	if in.ScanCount > 0 {
		v.NextLabel = "Search further back"
		v.CutNote, v.Back = "Searched "+views.Number(int64(in.ScanCount))+" requests, back to", views.Exact(in.Back)
	}
	if len(in.Errors) == 0 && (len(in.Rows) > 0 || in.Next != "") {
		v.CSVURL, v.JSONLURL = in.Place.ExportURL("csv"), in.Place.ExportURL("jsonl")
	}
	if len(in.Rows) == 0 {
		v.Empty = historyEmpty(in)
	}
	return v
}

func historyEmpty(in HistoryInput) *lists.Empty {
	switch {
	case len(in.Errors) > 0:
		return &lists.Empty{Title: "Not searched", Text: "Correct the marked filters, or clear them."}
	case in.ScanCount > 0:
		return &lists.Empty{
			Title: "Nothing found so far",
			Text:  "None of the requests searched so far match. Search further back, or clear the filters.",
		}
	case in.Place.After != "":
		return &lists.Empty{Title: "Nothing older", Text: "You have reached the end of the history."}
	case in.Place.Filtered():
		return &lists.Empty{
			Title: "Nothing matches", Text: "No past request matches all the filters. Clear some of them to see more.",
		}
	}
	return &lists.Empty{
		Title: "No past requests yet",
		Text:  "Requests appear here when they are decided, expire, or are allowed by a rule or a pre-approval.",
	}
}

func historyRow(in HistoryInput, a *models.Approval) HistoryRow {
	r := &a.Response
	at := r.CreatedAt
	if r.ApprovalTimestamp != nil {
		at = *r.ApprovalTimestamp
	}
	row := HistoryRow{
		ID: string(a.ID), URL: views.ApprovalURL(a.ID), Tool: r.ToolName, Summary: words.Summary(r),
		Risk:    specialRisk(r.Risk),
		Outcome: ui.StatusWord(r.Status(), r.Cause), At: views.Stamp(at), Agent: a.AgentName,
		Conversation: words.ConversationLabel(a),
	}
	if r.Kind != models.KindToolCall {
		row.Kind = r.Kind.Word()
	}
	if r.ApprovalTimestamp != nil && r.ApprovalRequestedAt != nil && r.Cause != models.CausePolicy &&
		r.Cause != models.CauseFallback {
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
	row.decidedBy(r, a.Vote)
	return row
}

// decidedBy says who decided, and in their words why, or how it was settled without a person: each cause has its own
// words (I10).
func (row *HistoryRow) decidedBy(r *models.Response, vote *models.Vote) {
	row.By, _ = r.CancelledBy()
	if row.By == "" {
		row.How = words.Capitalize(r.Cause.Short())
	}
	if r.Cause != models.CauseReviewer || vote == nil {
		return
	}
	_, edited := vote.ApprovedInput()
	row.By, row.Behalf, row.How, row.Reason, row.Edited = vote.UserName, vote.BehalfName, "", vote.Reason, edited
	row.Glass = vote.BrokeGlass()
	if vote.Verdict == models.VerdictAnswer {
		row.Outcome = ui.Word{Text: "answered", Tone: views.ToneGood, Icon: "check"}
	}
}

func newHistoryFilter(in HistoryInput) HistoryFilter {
	place := in.Place
	place.After = ""
	f := HistoryFilter{
		Place: place, Filtered: place.Filtered(), Errors: in.Errors,
		Whose: []ui.Choice{
			{Value: "", Label: "all"}, {Value: "mine", Label: "mine"}, {Value: "routed", Label: "routed to me"},
		},
		Agents:   lists.AgentPicker(in.Rows, in.Agents, place.Agent),
		Risks:    []ui.Choice{{Value: "", Label: "any"}},
		Statuses: []ui.Choice{{Value: "", Label: "any"}},
		Causes:   []ui.Choice{{Value: "", Label: "any"}},
		People:   historyPeople(in),
		Tools:    lists.Tools(in.Rows),
	}
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
		f.Causes = append(f.Causes, ui.Choice{Value: string(cause), Label: cause.Short()})
	}
	if place.Conversation != "" {
		f.Conversation = string(place.Conversation)
		if len(in.Rows) > 0 {
			f.Conversation = cmp.Or(words.ConversationLabel(&in.Rows[0].Approval), f.Conversation)
		}
	}
	return f
}

// specialRisk is the word for a risk that a reader should not overlook, and none for others.
func specialRisk(risk models.Risk) ui.Word {
	if risk != models.RiskHigh && risk != models.RiskCritical {
		return ui.Word{}
	}
	return ui.RiskWord(risk)
}

// historyBar shows what narrows the history.
func historyBar(f HistoryFilter) ui.FilterBar {
	p := f.Place
	b := ui.FilterBar{
		Label: "Filter the history", Action: views.HistoryURL(), Open: len(f.Errors) > 0,
		Zone: lists.ZoneOfDays(p.Zone, p.From, p.To), Search: lists.SearchField("Search the history", p.Text, f.Errors["text"]),
	}
	add := func(name, value, shown string, without func(*views.HistoryPlace)) {
		if value != "" {
			rest := p
			without(&rest)
			b.Chips = append(b.Chips, ui.Chip{Name: name, Value: shown, RemoveURL: rest.URL()})
		}
	}
	add("Whose", p.Whose, lists.LabelOf(f.Whose, p.Whose), func(r *views.HistoryPlace) { r.Whose = "" })
	add("Outcome", string(p.Status), lists.LabelOf(f.Statuses, string(p.Status)),
		func(r *views.HistoryPlace) { r.Status = "" })
	add("Cause", string(p.Cause), lists.LabelOf(f.Causes, string(p.Cause)), func(r *views.HistoryPlace) { r.Cause = "" })
	add("Decided by", string(p.By), lists.LabelOf(f.People, string(p.By)), func(r *views.HistoryPlace) { r.By = "" })
	add("Agent", string(p.Agent), lists.LabelOf(f.Agents, string(p.Agent)), func(r *views.HistoryPlace) { r.Agent = "" })
	add("Risk", string(p.Risk), lists.LabelOf(f.Risks, string(p.Risk)), func(r *views.HistoryPlace) { r.Risk = "" })
	add("Tool", p.Tool, p.Tool, func(r *views.HistoryPlace) { r.Tool = "" })
	add("Text", p.Text, p.Text, func(r *views.HistoryPlace) { r.Text = "" })
	add("Conversation", string(p.Conversation), f.Conversation, func(r *views.HistoryPlace) { r.Conversation = "" })
	add("From", p.From, lists.DayText(p.From, p.Zone),
		func(r *views.HistoryPlace) { r.From, r.Zone = "", lists.ZoneFor(r.To, r.Zone) })
	add("Up to", p.To, lists.DayText(p.To, p.Zone),
		func(r *views.HistoryPlace) { r.To, r.Zone = "", lists.ZoneFor(r.From, r.Zone) })
	if f.Filtered {
		b.ClearURL = b.Action
	}
	return b
}

// historyPeople are those who may have decided: whom the reader may name, those on
// the page, and the one that is chosen.
func historyPeople(in HistoryInput) []ui.Choice {
	var out []ui.Choice
	known := map[models.UserID]bool{"": true}
	add := func(id models.UserID, name string) {
		if !known[id] && len(out) < lists.MostChoices {
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
	out = lists.InOrder(out)
	if !known[in.Place.By] {
		out = append(out, ui.Choice{Value: string(in.Place.By), Label: "another person"})
	}
	return slices.Insert(out, 0, ui.Choice{Label: "anybody"})
}
