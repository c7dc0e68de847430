package pages

import (
	"cmp"
	"slices"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// orderByAge is InboxPlace.Order for the longest waiting first.
const orderByAge = "age"

// maxAgents is how many agents there are to choose from; others are found by
// text.
const maxAgents = 200

func newInboxFilter(in InboxInput) InboxFilter {
	place := in.Place.At("")
	place.After = ""
	f := InboxFilter{
		Place: place, Filtered: place.Filtered(), Errors: in.Errors,
		Whose:  []ui.Choice{{Value: "", Label: "All"}, {Value: "mine", Label: "Mine"}, {Value: "routed", Label: "Routed to me"}},
		Risks:  []ui.Choice{{Value: "", Label: "Any risk"}},
		Agents: inboxAgents(in),
		Orders: []ui.Choice{{Value: "", Label: "By deadline"}, {Value: orderByAge, Label: "By age"}},
		Tools:  inboxTools(in),
	}
	for _, risk := range models.RisksDown() {
		f.Risks = append(f.Risks, ui.Choice{Value: string(risk), Label: ui.RiskWord(risk).Text})
	}
	f.ClearURL = views.InboxPlace{Order: place.Order}.URL()
	if place.Conversation != "" {
		f.Conversation = cmp.Or(in.ConversationTitle, string(place.Conversation))
		place.Conversation = ""
		f.AnyURL = place.URL()
	}
	return f
}

// inboxAgents are the reader's own agents, those on the page, and the one that is
// chosen.
func inboxAgents(in InboxInput) []ui.Choice {
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

// inboxTools are the tools on the page, for the field that takes any.
func inboxTools(in InboxInput) []string {
	var out []string
	for i := range in.Rows {
		if in.Rows[i].Kind == models.KindToolCall {
			out = append(out, in.Rows[i].ToolName)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
