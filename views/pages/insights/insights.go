package insights

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/figures"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Input is what the page is made of.
type Input struct {
	Place  views.InsightsPlace
	Zone   *time.Location  // the policy's
	Report *figures.Report // nil: the filters were wrong
	Names  *figures.Names

	Reader   models.UserID
	Oversees bool // the reader looks back on all requests, else on those of their own agents and on their own decisions
	Agents   []models.Agent
	People   []models.User
	Groups   []models.Group

	// Attention is what the latest decisions show of who decided: of Person, or of the reader; nil: it is not shown.
	Attention *figures.Attention

	Errors map[string]string // of the filters, by field
}

// View is the view model of the page.
type View struct {
	Title, Span string
	Place       views.InsightsPlace
	Bar         ui.FilterBar
	About       []ui.Choice
	Errors      map[string]string
	Missing     string // days that are still to be summed
	Empty       *lists.Empty
	ExportURL   string

	Signals []string // in the latest decisions of the reader, or of the person of the filter; empty: it is not shown
	Theirs  bool     // they are another person's

	Facts  []Fact
	Charts []Chart
	Heat   *Heat
	Lists  []Table
}

// Fact is one number with what it is of.
type Fact struct{ Label, Value, Note string }

// Table is numbers by name. The page and its file are made of the same.
type Table struct {
	ID, Title string
	Note      string
	Head      []string // of the first column, and of the numbers
	Rows      []Row
	Left      string // what the list leaves out
}

// Row is a line of a table.
type Row struct {
	Name  string
	Claim bool // the name is what somebody wrote
	URL   string
	Cells []Cell
}

// Cell is a number, as people and as files read it.
type Cell struct{ Text, Raw string }

func number(n int64) Cell { return Cell{views.Number(n), fmt.Sprint(n)} }

// share is a part of a whole in percent; of nothing, nothing.
func share(part, whole int64) Cell {
	if whole == 0 {
		return Cell{"–", ""}
	}
	return Cell{fmt.Sprintf("%d%%", (part*100+whole/2)/whole), fmt.Sprintf("%.4f", float64(part)/float64(whole))}
}

// shownRows is how many rows of a list are in view; the others are behind it.
const shownRows = 10

// New makes the page as of now.
func New(in Input, now time.Time) View {
	v := View{Title: "Insights", Place: in.Place, Errors: in.Errors, About: choices(in)}
	v.Bar = ui.FilterBar{
		Label: "Choose days and requests", Action: views.InsightsURL(), Open: len(in.Errors) > 0, Zone: in.Zone.String(),
		Shortcuts: spans(in, now), ShortcutZone: in.Zone.String(),
	}
	if in.Place.About != "" {
		all := in.Place
		all.About = ""
		v.Bar.Chips = []ui.Chip{{Name: "About", Value: lists.LabelOf(v.About, in.Place.About), RemoveURL: all.URL()}}
	}
	if in.Place != (views.InsightsPlace{}) {
		v.Bar.ClearURL = views.InsightsURL()
	}
	if in.Report == nil {
		return v
	}
	v.Signals, v.Theirs = signals(in), in.person() != in.Reader
	r := in.Report
	day := func(at time.Time) string { return at.In(in.Zone).Format("2 Jan 2006") }
	v.Span = day(r.From)
	if last := day(r.Until.Add(-time.Hour)); last != v.Span {
		v.Span += " to " + last
	}
	if r.Missing > 0 {
		v.Missing = missing(r.Missing)
	}
	if r.Total.Requests() == 0 && r.Total.Waiting == 0 && len(r.Total.EnergyOfAgents) == 0 {
		v.Empty = &lists.Empty{Title: "Nothing in these days", Text: "No request ended, none waited, and no energy was spent. Choose other days, or another filter."}
		return v
	}
	v.ExportURL = in.Place.ExportURL()
	v.Facts = facts(&r.Total, r)
	v.Charts = []Chart{outcomes(r, in.Zone), times(&r.Total), waiting(r, in.Zone)}
	v.Heat = heat(&r.Total)
	v.Lists = tables(&r.Total, in)
	return v
}

func missing(days int) string {
	if days == 1 {
		return "One of these days is still being added up, and left out. Look again in a minute."
	}
	return fmt.Sprintf("%d of these days are still being added up, and left out. Look again in a minute.", days)
}

func choices(in Input) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "All requests"}}
	if !in.Oversees {
		out = []ui.Choice{{Value: "", Label: "Requests of my agents"}}
		if len(in.Agents) == 0 {
			out = nil
		}
		out = append(out, ui.Choice{Value: "person:" + string(in.Reader), Label: "What I decided"})
	}
	for _, a := range in.Agents {
		out = append(out, ui.Choice{Value: "agent:" + string(a.ID), Label: "Agent " + models.RevealString(a.Name, true)})
	}
	if in.Oversees && in.Report != nil {
		for _, name := range figures.MostOf(in.Report.Offer.Tools) {
			out = append(out, ui.Choice{Value: views.About("tool", name), Label: "Tool " + models.RevealString(name, true)})
		}
		for _, name := range figures.MostOf(in.Report.Offer.Rules) {
			out = append(out, ui.Choice{Value: views.About("rule", name), Label: ruleName(name)})
		}
	}
	for _, g := range in.Groups {
		out = append(out, ui.Choice{Value: views.About("group", g.Name), Label: "Decided by the group " + models.RevealString(g.Name, true)})
	}
	for _, p := range in.People {
		out = append(out, ui.Choice{Value: "person:" + string(p.ID), Label: "Decided by " + models.RevealString(p.Email, true)})
	}
	if !slices.ContainsFunc(out, func(c ui.Choice) bool { return c.Value == in.Place.About }) {
		_, name, _ := views.ReadAbout(in.Place.About)
		out = append(out, ui.Choice{Value: in.Place.About, Label: models.RevealString(cmp.Or(name, in.Place.About), true)})
	}
	return out
}

func ruleName(name string) string {
	if name == "" {
		return "No rule"
	}
	return "Rule " + models.RevealString(name, true)
}

// spans are the days that readers often ask for.
func spans(in Input, now time.Time) []ui.Shortcut {
	year, month, day := now.In(in.Zone).Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 12, 0, 0, 0, in.Zone) }
	today := at(year, month, day)
	var out []ui.Shortcut
	for _, s := range []struct {
		label    string
		from, to time.Time
	}{
		{"Today", today, today},
		{"7 days", at(year, month, day-6), today},
		{"30 days", at(year, month, day-29), today},
		{"This month", at(year, month, 1), today},
		{"Last month", at(year, month-1, 1), at(year, month, 0)},
		{"12 months", at(year-1, month+1, 1), today},
	} {
		place := in.Place
		place.From, place.To = s.from.Format(time.DateOnly), s.to.Format(time.DateOnly)
		here := place == in.Place || s.label == "30 days" && in.Place.From == "" && in.Place.To == ""
		out = append(out, ui.Shortcut{Label: s.label, URL: place.URL(), Here: here})
	}
	return out
}

// facts are the numbers that a reader looks for first.
func facts(s *figures.Sum, r *figures.Report) []Fact {
	approved, rejected, expired, alone := int64(0), int64(0), int64(0), int64(0)
	for key, n := range s.Outcomes {
		status, cause := figures.ReadOutcome(key)
		switch kindOf(status, cause) {
		case approvedByPeople:
			approved += n
		case rejectedByPeople:
			rejected += n
		case expiries:
			expired += n
		case withoutAPerson:
			alone += n
		case otherEnds:
		}
	}
	hours, waited := 0.0, int64(0)
	for i := range r.Points {
		hours += r.Points[i].Until.Sub(r.Points[i].From).Hours()
		waited += r.Points[i].Sum.Waiting
	}
	out := []Fact{
		{"Requests that ended", views.Number(s.Requests()), views.Number(alone) + " ran without a person"},
		{"People approved", share(approved, approved+rejected).Text, views.Number(approved) + " of " + views.Number(approved+rejected) + " decisions"},
		{"Half decided within", within(s.Decided, 0.5), nineOfTen(s.Decided)},
		{"Half waited at most", within(s.Waited, 0.5), nineOfTen(s.Waited)},
		{"Expired", views.Number(expired), views.Number(s.Unseen) + " that no one had opened"},
		{"Questions asked back", views.Number(s.Questions), "before the request ended"},
		{"Votes undone", views.Number(s.Undone), "before or after the request ended"},
	}
	if hours > 0 {
		out = append(out, Fact{"Waiting at a time", fmt.Sprintf("%.1f", float64(waited)/hours), "requests, on average"})
	}
	return out
}

func nineOfTen(s figures.Spread) string {
	if s.Count() == 0 {
		return "there were none"
	}
	return "nine of ten: " + within(s, 0.9)
}

func within(s figures.Spread, part float64) string {
	d := s.Within(part)
	if d == 0 {
		return "–"
	}
	return views.Duration(d)
}

// ends is a kind of outcome, as the chart shows them.
type ends int

const (
	approvedByPeople ends = iota
	rejectedByPeople
	withoutAPerson
	expiries
	otherEnds
)

var endNames = [...]string{"approved by people", "rejected by people", "ran without a person", "expired", "ended otherwise"}

func kindOf(status models.Status, cause models.Cause) ends {
	switch {
	case cause == models.CauseReviewer && status == models.StatusApproved:
		return approvedByPeople
	case cause == models.CauseReviewer && status == models.StatusRejected:
		return rejectedByPeople
	case status == models.StatusExpired:
		return expiries
	case cause.LetsThrough():
		return withoutAPerson
	}
	return otherEnds
}

// tables are the lists below the charts.
func tables(s *figures.Sum, in Input) (out []Table) {
	add := func(t Table, kind string) {
		if n := s.Left[kind]; n > 0 {
			t.Left = views.Number(n) + " more in others, which this list leaves out."
		}
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	causes := Table{ID: "causes", Title: "How requests ended", Head: []string{"Outcome", "Requests", "Share"}}
	for _, key := range figures.Most(s.Outcomes) {
		status, cause := figures.ReadOutcome(key)
		causes.Rows = append(causes.Rows, Row{Name: outcomeName(status, cause), Cells: []Cell{number(s.Outcomes[key]), share(s.Outcomes[key], s.Requests())}})
	}
	add(causes, "outcomes")
	about := func(kind, name string) string {
		place := in.Place
		place.About = views.About(kind, name)
		return place.URL()
	}
	rates := func(id, title, head string, list map[string]figures.Rate, row func(name string) Row) Table {
		t := Table{ID: id, Title: title, Head: []string{head, "Requests", "Approved", "Rejected", "Otherwise", "Approval rate"}}
		for _, name := range figures.MostOf(list) {
			r, line := list[name], row(name)
			line.Cells = []Cell{number(r.Total()), number(r.Approved), number(r.Rejected), number(r.Other), share(r.Approved, r.Approved+r.Rejected)}
			t.Rows = append(t.Rows, line)
		}
		return t
	}
	tool := func(name string) Row {
		row := Row{Name: cmp.Or(name, "the built-in agent's model"), Claim: name != "" && !strings.HasPrefix(name, "(")}
		if in.Oversees && name != "" {
			row.URL = about("tool", name)
		}
		return row
	}
	agent := func(id string) Row {
		return Row{Name: cmp.Or(in.Names.Agents[id], "an agent that is gone"), Claim: true, URL: about("agent", id)}
	}
	add(rates("tools", "By tool", "Tool", s.Tools, tool), "tools")
	add(rates("rules", "By rule", "Rule", s.Rules, func(name string) Row {
		row := Row{Name: cmp.Or(name, "no rule"), Claim: name != ""}
		if in.Oversees {
			row.URL = about("rule", name)
		}
		return row
	}), "rules")
	add(rates("agents", "By agent", "Agent", s.Agents, agent), "agents")
	if in.Oversees {
		add(rates("people", "Who decided", "Person", s.People, func(id string) Row {
			return Row{Name: cmp.Or(in.Names.People[id], "somebody who is gone"), Claim: true, URL: about("person", id)}
		}), "people")
	}
	counts := func(id, title, note string, head []string, list map[string]int64, row func(name string) Row) Table {
		t := Table{ID: id, Title: title, Note: note, Head: head}
		for _, name := range figures.Most(list) {
			line := row(name)
			line.Cells = []Cell{number(list[name])}
			t.Rows = append(t.Rows, line)
		}
		return t
	}
	claim := func(name string) Row { return Row{Name: name, Claim: true} }
	add(counts("reasons", "Reasons to reject", "Those of rules, and the first lines of people's.", []string{"Reason", "Rejections"}, s.Reasons, claim), "reasons")
	add(counts("edits", "What people changed before they approved", "", []string{"Member of the input", "Approvals"}, s.Edits, claim), "edits")
	add(counts("energy-agents", "Energy by agent", "", []string{"Agent", "Energy"}, s.EnergyOfAgents, agent), "energy_agents")
	add(counts("energy-tools", "Energy by tool", "", []string{"Tool", "Energy"}, s.EnergyOfTools, tool), "energy_tools")
	add(counts("energy-conversations", "Energy by conversation", "Of each day, the 200 conversations that spent most.", []string{"Conversation", "Energy"}, s.EnergyOfConversations, func(id string) Row {
		return Row{Name: cmp.Or(in.Names.Conversations[id], "Untitled conversation"), Claim: in.Names.Conversations[id] != "", URL: views.ConversationURL(models.ConversationID(id))}
	}), "energy_conversations")
	return out
}

// outcomeName says an outcome with its cause.
func outcomeName(status models.Status, cause models.Cause) string {
	return words.Capitalize(string(cmp.Or(status, "ran"))) + ", " + cmp.Or(cause.Short(), "no cause")
}

// Tables are all tables of the page, those behind charts too, for its file.
func (v *View) Tables() (out []Table) {
	for _, c := range v.Charts {
		out = append(out, c.Table)
	}
	if v.Heat != nil {
		out = append(out, v.Heat.Table)
	}
	return append(out, v.Lists...)
}
