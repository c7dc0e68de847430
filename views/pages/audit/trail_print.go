package audit

import (
	"cmp"
	"strings"
	"time"

	"countersign/views"
	"countersign/views/pages/lists"
)

// TrailPrint is the view model of a trail on one page, for paper.
type TrailPrint struct {
	Name, Email string
	Facts       []Detail // the chosen entries, in words
	Rows        []Row
	More        string // how many entries are not on the page; empty: all are there
	At          views.Moment
	Head        string
	BackURL     string
	NextURL     string // the page that goes on; empty: none
}

// NewTrailPrint makes the page as of now.
func NewTrailPrint(in TrailInput, now time.Time) TrailPrint {
	v := TrailPrint{Rows: trailRows(in), At: views.Exact(now), Head: in.Head.String(), BackURL: in.Place.URL()}
	if in.Person != nil {
		v.Name, v.Email = in.Person.Name, in.Person.Email
	}
	p := in.Place
	fact := func(name, value string) {
		if value != "" {
			v.Facts = append(v.Facts, Detail{Name: name, Value: value})
		}
	}
	fact("Shown", lists.LabelOf(trailWhat, p.Part))
	fact("Days ("+cmp.Or(p.Zone, "UTC")+")", period(p.From, p.To))
	if p.Outcome != "" {
		fact("Outcome", lists.LabelOf(trailOutcomes(), p.Outcome))
	}
	if p.Agent != "" {
		name := string(p.Agent)
		for i := range in.Entries {
			if a := in.Entries[i].Request; a != nil && a.AgentID == p.Agent {
				name = a.AgentName
			}
		}
		fact("Agent", name)
	}
	fact("Text", p.Text)
	fact("Conversation", string(p.Conversation))
	count := views.Number(int64(len(in.Entries)))
	if p.Before > 0 {
		count += ", before entry " + views.Number(p.Before)
	}
	fact("Entries", count)
	if in.Next > 0 {
		v.More = "There are more entries before number " + views.Number(in.Next) + ". They are not on this page."
		p.Before = in.Next
		v.NextURL = p.PrintURL()
	}
	return v
}

// period says from which day to which.
func period(from, to string) string {
	switch {
	case from == "" && to == "":
		return "all"
	case from == "":
		return "up to " + to
	case to == "":
		return "from " + from
	}
	return strings.Join([]string{from, to}, " to ")
}
