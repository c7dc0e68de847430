package inbox

import (
	"cmp"
	"slices"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/lists"
	"countersign/views/ui"
)

// InboxPlace.Order for the longest waiting first, and for the highest risk first.
const (
	orderByAge  = "age"
	orderByRisk = "risk"
)

// maxAgents is how many agents there are to choose from; others are found by
// text.
const maxAgents = 200

// Filter is the form that narrows the list.
type Filter struct {
	Place    views.InboxPlace
	Whose    []WhoseLink
	Risks    []ui.Choice
	Agents   []ui.Choice
	Orders   []ui.Choice
	Tools    []string // to choose from
	Chips    []ui.Chip
	ClearURL string
	Errors   map[string]string
}

// WhoseLink leads to the requests of one sort: those that the reader may approve, all, those that they have signed,
// pending or decided, those that wait together, or those that they only see.
type WhoseLink struct {
	Label, URL string
	Current    bool
}

func newWhoseLinks(in Input, place views.InboxPlace) []WhoseLink {
	link := func(label, whose string) WhoseLink {
		place.Whose = whose
		return WhoseLink{Label: label, URL: place.URL(), Current: in.Place.Whose == whose}
	}
	out := []WhoseLink{
		link("For me", views.WhoseForMe), link("All", ""), link("Waits for others", views.WhoseWaits),
		{Label: "Signed by me", URL: views.HistoryPlace{By: in.Reader.ID}.URL()},
	}
	if in.Aside.Together > 0 || in.Place.Whose == views.WhoseTogether {
		out = append(out, link("Together", views.WhoseTogether))
	}
	if in.Reads || in.Place.Whose == views.WhoseReads {
		out = append(out, link("To read", views.WhoseReads))
	}
	return out
}

func newInboxFilter(in Input) Filter {
	place := in.Place.At("")
	place.After = ""
	f := Filter{
		Place: place, Errors: in.Errors,
		Whose:  newWhoseLinks(in, place),
		Risks:  []ui.Choice{{Value: "", Label: "Any risk"}},
		Agents: inboxAgents(in),
		Orders: []ui.Choice{
			{Value: "", Label: "By deadline"}, {Value: orderByRisk, Label: "By risk"}, {Value: orderByAge, Label: "By age"},
		},
		Tools: lists.Tools(in.Rows),
	}
	for _, risk := range models.RisksDown() {
		f.Risks = append(f.Risks, ui.Choice{Value: string(risk), Label: ui.RiskWord(risk).Text})
	}
	f.ClearURL = views.InboxPlace{Order: place.Order}.URL()
	f.chips(in.ConversationTitle)
	return f
}

// wrong reports whether a field of the menu has to be corrected.
func (f Filter) wrong() bool {
	for name := range f.Errors {
		if name != "text" {
			return true
		}
	}
	return false
}

// chips are the filters that are set.
func (f *Filter) chips(conversation string) {
	chip := func(name, value string, claim bool, without func(*views.InboxPlace)) {
		place := f.Place
		without(&place)
		f.Chips = append(f.Chips, ui.Chip{Name: name, Value: value, RemoveURL: place.URL(), Claim: claim})
	}
	p := f.Place
	if label := map[string]string{"mine": "Mine", "routed": "Routed to me"}[p.Whose]; label != "" {
		chip("Requests", label, false, func(p *views.InboxPlace) { p.Whose = "" })
	}
	if p.Agent != "" {
		chip("Agent", lists.LabelOf(f.Agents, string(p.Agent)), false, func(p *views.InboxPlace) { p.Agent = "" })
	}
	if p.Risk != "" {
		chip("Risk", string(p.Risk), false, func(p *views.InboxPlace) { p.Risk = "" })
	}
	if p.Tool != "" {
		chip("Tool", p.Tool, false, func(p *views.InboxPlace) { p.Tool = "" })
	}
	if p.Text != "" {
		chip("Search", p.Text, true, func(p *views.InboxPlace) { p.Text = "" })
	}
	if p.Conversation != "" {
		chip("Conversation", cmp.Or(conversation, string(p.Conversation)), true,
			func(p *views.InboxPlace) { p.Conversation = "" })
	}
}

// inboxAgents are the reader's own agents, those on the page, and the one that is
// chosen.
func inboxAgents(in Input) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "All agents"}}
	known := map[models.AgentID]bool{"": true}
	add := func(id models.AgentID, name string) {
		if !known[id] && len(out) < maxAgents {
			known[id] = true
			out = append(out, ui.Choice{Value: string(id), Label: models.RevealString(name, false)})
		}
	}
	for i := range in.Rows {
		add(in.Rows[i].AgentID, in.Rows[i].AgentName)
	}
	for _, a := range in.Agents {
		if a.DisabledAt == nil || a.ID == in.Place.Agent {
			add(a.ID, a.Name)
		}
	}
	slices.SortStableFunc(out[1:], func(a, b ui.Choice) int { return cmp.Compare(a.Label, b.Label) })
	if !known[in.Place.Agent] {
		out = append(out, ui.Choice{Value: string(in.Place.Agent), Label: "Another agent"})
	}
	return out
}
