package lists

import (
	"cmp"
	"slices"
	"time"

	"countersign/models"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// MostChoices is how many agents or people there are to choose from; others are found by
// text.
const MostChoices = 500

// AgentPicker are the agents that a list can be narrowed to: those on the page, those that
// the reader may choose, and the one that is chosen. Agents of the same name are told apart
// by the end of their ids.
func AgentPicker(rows []models.Brief, agents []models.Agent, chosen models.AgentID) []ui.Choice {
	var out []ui.Choice
	known := map[models.AgentID]bool{"": true}
	add := func(id models.AgentID, name string) {
		if !known[id] && len(out) < MostChoices {
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
	out = InOrder(out)
	if !known[chosen] {
		out = append(out, ui.Choice{Value: string(chosen), Label: "another agent"})
	}
	return slices.Insert(out, 0, ui.Choice{Label: "any"})
}

// InOrder sorts choices by their labels, and distinguishes equal labels.
func InOrder(choices []ui.Choice) []ui.Choice {
	slices.SortStableFunc(choices, func(a, b ui.Choice) int { return cmp.Compare(a.Label, b.Label) })
	alike := make(map[string]int, len(choices))
	for _, c := range choices {
		alike[c.Label]++
	}
	for i := range choices {
		if alike[choices[i].Label] > 1 {
			choices[i].Label += " (" + words.Tail(choices[i].Value) + ")"
		}
	}
	return choices
}

// ZoneOfDays is the zone that goes with the days of an address, empty where there are none.
func ZoneOfDays(zone string, days ...string) string {
	if cmp.Or(days...) == "" {
		return ""
	}
	return cmp.Or(zone, "UTC")
}

// ZoneFor is the zone of an address that has one day left, or none.
func ZoneFor(day, zone string) string {
	if day == "" {
		return ""
	}
	return zone
}

// DayText is a day and its zone.
func DayText(day, zone string) string { return day + " " + cmp.Or(zone, "UTC") }

// DayField is where a day is typed. A date field would drop text that is no day, so that is shown in a text field.
func DayField(errors map[string]string, name, label, value string) ui.Field {
	field := ui.Field{ID: "filter-" + name, Name: name, Label: label, Value: value, Error: errors[name], Type: "date"}
	if _, err := time.Parse(time.DateOnly, value); err != nil && value != "" {
		field.Type = ""
	}
	return field
}

// LabelOf is how the choice of a value reads; where it is none of them, the value revealed.
func LabelOf(choices []ui.Choice, value string) string {
	for _, c := range choices {
		if c.Value == value {
			return c.Label
		}
	}
	return models.RevealString(value, false)
}

// Tools are the tools of requests, for the field that takes any.
func Tools(rows []models.Brief) []string {
	var out []string
	for i := range rows {
		if rows[i].Kind == models.KindToolCall {
			out = append(out, rows[i].ToolName)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
