package pages

import (
	"cmp"
	"slices"
	"time"

	"countersign/models"
	"countersign/views/ui"
)

// mostChoices is how many agents or people there are to choose from; others are found by
// text.
const mostChoices = 500

// agentPicker are the agents that a list can be narrowed to: those on the page, those that
// the reader may choose, and the one that is chosen. Agents of the same name are told apart
// by the end of their ids.
func agentPicker(rows []models.Brief, agents []models.Agent, chosen models.AgentID) []ui.Choice {
	var out []ui.Choice
	known := map[models.AgentID]bool{"": true}
	add := func(id models.AgentID, name string) {
		if !known[id] && len(out) < mostChoices {
			known[id] = true
			out = append(out, ui.Choice{Value: string(id), Label: models.RevealString(name, false)})
		}
	}
	for i := range rows {
		add(rows[i].AgentID, rows[i].AgentName)
	}
	for i := range agents {
		if agents[i].DisabledAt == nil || agents[i].ID == chosen {
			add(agents[i].ID, agents[i].Name)
		}
	}
	out = inOrder(out)
	if !known[chosen] {
		out = append(out, ui.Choice{Value: string(chosen), Label: "another agent"})
	}
	return slices.Insert(out, 0, ui.Choice{Label: "any"})
}

// inOrder sorts choices by what is read, and tells those apart that read alike.
func inOrder(choices []ui.Choice) []ui.Choice {
	slices.SortStableFunc(choices, func(a, b ui.Choice) int { return cmp.Compare(a.Label, b.Label) })
	alike := make(map[string]int, len(choices))
	for _, c := range choices {
		alike[c.Label]++
	}
	for i := range choices {
		if alike[choices[i].Label] > 1 {
			choices[i].Label += " (" + tail(choices[i].Value) + ")"
		}
	}
	return choices
}

// zoneOfDays is the zone that goes with the days of an address, empty where there are none.
func zoneOfDays(zone string, days ...string) string {
	if cmp.Or(days...) == "" {
		return ""
	}
	return cmp.Or(zone, "UTC")
}

// zoneFor is the zone of an address that has one day left, or none.
func zoneFor(day, zone string) string {
	if day == "" {
		return ""
	}
	return zone
}

// dayText is a day and its zone.
func dayText(day, zone string) string { return day + " " + cmp.Or(zone, "UTC") }

// dayField is where a day is typed. A date field would drop text that is no day, so that is shown in a text field.
func dayField(errors map[string]string, name, label, value string) ui.Field {
	field := ui.Field{ID: "filter-" + name, Name: name, Label: label, Value: value, Error: errors[name], Type: "date"}
	if _, err := time.Parse(time.DateOnly, value); err != nil && value != "" {
		field.Type = ""
	}
	return field
}

func labelOf(choices []ui.Choice, value string) string {
	for _, c := range choices {
		if c.Value == value {
			return c.Label
		}
	}
	return models.RevealString(value, false)
}

// toolsOf are the tools of requests, for the field that takes any.
func toolsOf(rows []models.Brief) []string {
	var out []string
	for i := range rows {
		if rows[i].Kind == models.KindToolCall {
			out = append(out, rows[i].ToolName)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
