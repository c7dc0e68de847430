package lists

import (
	"time"

	"countersign/views/ui"
)

// Span is some days that readers often ask for, from the first to the last.
type Span struct {
	Label, From, To string
	After           string // the day after the last
}

// Spans are today, this week and last week in a zone; a week begins on Monday.
func Spans(now time.Time, zone *time.Location) []Span {
	year, month, day := now.In(zone).Date()
	today := time.Date(year, month, day, 12, 0, 0, 0, zone) // at noon, for a day may have no midnight
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	span := func(label string, from, to time.Time) Span {
		return Span{label, from.Format(time.DateOnly), to.Format(time.DateOnly), to.AddDate(0, 0, 1).Format(time.DateOnly)}
	}
	return []Span{
		span("Today", today, today),
		span("This week", monday, monday.AddDate(0, 0, 6)),
		span("Last week", monday.AddDate(0, 0, -7), monday.AddDate(0, 0, -1)),
	}
}

// SpanLinks are links to a list's places for the spans; the one that the reader is at is marked.
func SpanLinks(now time.Time, zone *time.Location, here string, at func(Span) string) []ui.Shortcut {
	var out []ui.Shortcut
	for _, span := range Spans(now, zone) {
		url := at(span)
		out = append(out, ui.Shortcut{Label: span.Label, URL: url, Here: url == here})
	}
	return out
}

// ZoneName is a zone as addresses name it: UTC by nothing.
func ZoneName(zone *time.Location) string {
	if zone == time.UTC {
		return ""
	}
	return zone.String()
}

// SearchField is the field in which a list's text is typed, in view beside its other filters.
func SearchField(label, value, wrong string) ui.Field {
	return ui.Field{
		ID: "filter-q", Name: "q", Label: label, Value: value, Error: wrong, Type: "search", Autocomplete: "off", Form: "filters",
	}
}
