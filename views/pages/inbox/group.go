package inbox

import (
	"strings"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
)

// leastFolded is how many rows at least are folded into one group.
const leastFolded = 3

// Entry is a row of the list, or a group of rows.
type Entry struct {
	Row   Row
	Group *Group // nil: it is the row
}

// Group is some calls of one tool by one agent, folded. It only saves room: each row
// has its own tick and is decided on its own.
type Group struct {
	ID          string
	Agent, Tool string
	Count       int // requests in it; the lines of those that left do not count
	Rows        []Row
	Left        views.Moment // of the soonest deadline; zero: none has one
	Same        string       // how the headlines of all begin
	Differ      bool         // they would not all run the same, though their headlines are alike
	Others      bool         // only others may approve them
	StopURL     string       // of as many as are a flood: where the reader may stop the agent; empty: nowhere
	Open        bool
}

// foldsWith says what a call has to have in common with others to be folded with them: its agent, what it looks like, and
// who must approve it. A call of high or critical risk never is.
func (row *Row) foldsWith(a *models.Approval) {
	if a.Kind == models.KindToolCall && !a.Risk.NeedsDigest() {
		row.Fold = strings.Join([]string{string(a.AgentID), headline.Alike(&a.Response), row.Must}, "\n")
	}
}

// foldRows puts the rows that belong together into groups, each in the place of its first row. A row about which something
// is special stays in sight, one that has left goes with those that it was among.
func foldRows(rows []Row) []Entry {
	groups := map[string][]Row{}
	waiting := map[string]int{}
	for _, row := range rows {
		if row.Fold == "" || row.special() {
			continue
		}
		if groups[row.Fold] = append(groups[row.Fold], row); row.Gone == "" {
			waiting[row.Fold]++
		}
	}
	out := make([]Entry, 0, len(rows))
	for _, row := range rows {
		switch {
		case row.Fold == "" || row.special() || waiting[row.Fold] < leastFolded:
			out = append(out, Entry{Row: row})
		case groups[row.Fold] != nil:
			out = append(out, Entry{Group: newInboxGroup(groups[row.Fold], waiting[row.Fold])})
			groups[row.Fold] = nil
		}
	}
	return out
}

// drawn are the rows of entries, in their order.
func drawn(entries []Entry) []Row {
	var out []Row
	for _, e := range entries {
		if e.Group != nil {
			out = append(out, e.Group.Rows...)
		} else {
			out = append(out, e.Row)
		}
	}
	return out
}

func newInboxGroup(rows []Row, count int) *Group {
	g := &Group{ID: "group-" + rows[0].ID, Agent: rows[0].Agent, Tool: rows[0].Tool, Count: count, Rows: rows}
	var says []string
	inputs := map[string]bool{}
	for _, row := range rows {
		g.Open = g.Open || row.Current || row.UndoURL != ""
		if row.Gone != "" {
			continue
		}
		g.Others = row.Others
		if count >= models.FloodAlike {
			g.StopURL = row.stopURL
		}
		says, inputs[row.input] = append(says, row.Summary), true
		if !row.Left.IsZero() && (g.Left.IsZero() || row.Left.At.Before(g.Left.At)) {
			g.Left = row.Left
		}
	}
	g.Same = beginAlike(says)
	g.Differ = g.Same == says[0] && len(inputs) > 1
	return g
}

// beginAlike is how texts begin, in whole words, where all begin alike; a text as a whole if
// all are the same.
func beginAlike(texts []string) string {
	alike := strings.Fields(texts[0])
	whole := true
	for _, text := range texts[1:] {
		words := strings.Fields(text)
		n := 0
		for n < min(len(alike), len(words)) && words[n] == alike[n] {
			n++
		}
		whole = whole && text == texts[0]
		alike = alike[:n]
	}
	switch {
	case whole:
		return texts[0]
	case len(alike) == 0:
		return ""
	}
	return strings.Join(alike, " ") + " …"
}
