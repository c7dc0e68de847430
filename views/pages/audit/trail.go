package audit

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// TrailInput is what a person's audit trail is made of.
type TrailInput struct {
	Place        views.TrailPlace
	Person       *models.User        // whose trail
	Reader       models.Actor        // who looks
	Entries      []models.TrailEntry // one page, newest first
	Next         int64               // the key of the next page; 0: that was all
	StoppedEarly bool                // reading stopped early: few entries match the filters
	Agents       []models.Agent      // to choose from, besides those on the page
	Errors       map[string]string   // of the filters, by field
	Head         models.Head         // of the ledger, for the printed form
	Zone         *time.Location      // in which the reader's days begin
	Saved        lists.Saved
	Broken       BrokenInput // on the reader's own
}

// Trail is the view model of a person's audit trail.
type Trail struct {
	Title       string
	Own         bool
	Broken      Broken
	Name, Email string // whose it is
	Rows        []Row
	Filter      TrailFilter
	Bar         ui.FilterBar
	Empty       *lists.Empty
	Note        string
	Head        string // number and hash of the newest entry shown

	FirstURL, NextURL, NextLabel string
	PrintURL, CSVURL, JSONLURL   string // empty: there is nothing
}

// TrailTitle is the heading of a trail.
func TrailTitle(in TrailInput) string {
	if in.Place.Person == "" || in.Person == nil {
		return "Audit"
	}
	return "Audit trail of " + models.RevealString(in.Person.Name, false)
}

// NewTrail makes the page as of now.
func NewTrail(in TrailInput, now time.Time) Trail {
	v := Trail{
		Title: TrailTitle(in), Own: in.Place.Person == "", Filter: newTrailFilter(in), NextLabel: "Older entries",
		Rows: foldStops(trailRows(in), in.Agents), Broken: NewBroken(in.Broken, now),
	}
	v.Bar = trailBar(in, v.Filter)
	v.Bar.Shortcuts = lists.SpanLinks(now, in.Zone, v.Filter.Place.URL(), func(s lists.Span) string {
		place := v.Filter.Place
		place.From, place.To, place.Zone = s.From, s.To, lists.ZoneName(in.Zone)
		return place.URL()
	})
	v.Bar.ShortcutZone = in.Zone.String()
	v.Bar.Saved = in.Saved.Bar()
	if in.Person != nil {
		v.Name, v.Email = in.Person.Name, in.Person.Email
	}
	if len(in.Entries) > 0 {
		v.Head = models.Head{Seq: in.Entries[0].Seq, Hash: in.Entries[0].Hash}.String()
	}
	place := in.Place
	if place.Before > 0 {
		place.Before = 0
		v.FirstURL = place.URL()
	}
	if in.Next > 0 {
		place.Before = in.Next
		v.NextURL = place.URL()
	}
	if in.StoppedEarly {
		v.Note = "Searched back to entry " + views.Number(in.Next) +
			". Few entries match the filters; there may be more before it."
		v.NextLabel = "Search further back"
	}
	if len(in.Errors) == 0 && (len(in.Entries) > 0 || in.Next > 0) {
		v.PrintURL, v.CSVURL, v.JSONLURL = in.Place.PrintURL(), in.Place.ExportURL("csv"), in.Place.ExportURL("jsonl")
	}
	if len(v.Rows) == 0 {
		v.Empty = trailEmpty(in)
	}
	return v
}

func trailRows(in TrailInput) []Row {
	rows := make([]Row, 0, len(in.Entries))
	for i := range in.Entries {
		e := &in.Entries[i]
		row := NewRow(e, in.Reader)
		if e.ConversationID != "" {
			only := in.Place
			only.Conversation, only.Before = e.ConversationID, 0
			row.ConversationURL, row.Conversation = only.URL(), "conversation "+words.Tail(string(e.ConversationID))
		}
		rows = append(rows, row)
	}
	return rows
}

func trailEmpty(in TrailInput) *lists.Empty {
	switch {
	case len(in.Errors) > 0:
		return &lists.Empty{Title: "Not searched", Text: "Correct the marked filters, or clear them."}
	case in.StoppedEarly:
		return &lists.Empty{Title: "Nothing found so far", Text: "Search further back, or clear the filters."}
	case in.Place.Filtered():
		return &lists.Empty{
			Title: "Nothing matches", Text: "No entry matches all the filters. Clear some of them to see more.",
		}
	case in.Place.Before > 0:
		return &lists.Empty{Title: "Nothing older", Text: "You have reached the end of the audit trail."}
	}
	return &lists.Empty{
		Title: "Nothing yet",
		Text:  "Every decision, token and change is recorded here, in a chain that can be verified offline.",
	}
}

// TrailFilter is the form that narrows a trail.
type TrailFilter struct {
	Place                   views.TrailPlace
	Filtered                bool
	Errors                  map[string]string
	Parts, Outcomes, Agents []ui.Choice
}

func newTrailFilter(in TrailInput) TrailFilter {
	var rows []models.Brief
	for i := range in.Entries {
		if a := in.Entries[i].Request; a != nil {
			rows = append(rows, *a)
		}
	}
	f := TrailFilter{
		Place: in.Place, Filtered: in.Place.Filtered(), Errors: in.Errors, Parts: trailWhat, Outcomes: trailOutcomes(),
		Agents: lists.AgentPicker(rows, in.Agents, in.Place.Agent),
	}
	f.Place.Before = 0
	return f
}

// trailBar shows what narrows a trail.
func trailBar(in TrailInput, f TrailFilter) ui.FilterBar {
	p := f.Place
	b := ui.FilterBar{
		Label: "Filter the audit trail", Action: p.All().URL(), Open: len(in.Errors) > 0,
		Zone: lists.ZoneOfDays(p.Zone, p.From, p.To), Search: lists.SearchField("Search the audit", p.Text, in.Errors["text"]),
	}
	add := func(name, value, shown string, without func(*views.TrailPlace)) {
		if value != "" {
			rest := p
			without(&rest)
			b.Chips = append(b.Chips, ui.Chip{Name: name, Value: shown, RemoveURL: rest.URL()})
		}
	}
	add("Show", p.Part, lists.LabelOf(trailWhat, p.Part), func(r *views.TrailPlace) { r.Part = "" })
	add("Outcome", p.Outcome, lists.LabelOf(f.Outcomes, p.Outcome), func(r *views.TrailPlace) { r.Outcome = "" })
	add("Agent", string(p.Agent), lists.LabelOf(f.Agents, string(p.Agent)), func(r *views.TrailPlace) { r.Agent = "" })
	add("Conversation", string(p.Conversation), words.Tail(string(p.Conversation)),
		func(r *views.TrailPlace) { r.Conversation = "" })
	add("Text", p.Text, p.Text, func(r *views.TrailPlace) { r.Text = "" })
	add("From", p.From, lists.DayText(p.From, p.Zone),
		func(r *views.TrailPlace) { r.From, r.Zone = "", lists.ZoneFor(r.To, r.Zone) })
	add("Up to", p.To, lists.DayText(p.To, p.Zone),
		func(r *views.TrailPlace) { r.To, r.Zone = "", lists.ZoneFor(r.From, r.Zone) })
	if f.Filtered {
		b.ClearURL = p.All().URL()
	}
	return b
}

// What a trail can be narrowed to, as the store names it.
var (
	trailWhat = []ui.Choice{
		{Value: "", Label: "everything"},
		{Value: "decisions", Label: "decisions"},
		{Value: "requests", Label: "requests"},
		{Value: "conversations", Label: "conversations"},
		{Value: "rules", Label: "rules and pre-approvals"},
		{Value: "access", Label: "sign-ins, people and tokens"},
	}
)

// trailOutcomes are the outcomes that a trail can be narrowed to: the final statuses,
// and what ran without a person.
func trailOutcomes() []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "any"}}
	for _, status := range models.FinalStatuses() {
		out = append(out, ui.Choice{Value: string(status), Label: ui.StatusWord(status, models.CauseReviewer).Text})
	}
	return append(out, ui.Choice{Value: "let_through", Label: ui.StatusWord(models.StatusNone, models.CausePolicy).Text})
}
