package inbox

import (
	"strings"

	"countersign/models"
	"countersign/views"
)

// leastFolded is how many rows at least are folded into one group.
const leastFolded = 3

// Entry is a row of the list, or a group of rows that follow one another.
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
	Same        string       // how the headlines of all begin; empty: they do not begin alike
	Differ      bool         // they would not all run the same, though their headlines are alike
	Open        bool
}

// foldsWith says what a call has to have in common with its neighbours to be folded with
// them. A call of high or critical risk never is.
func (row *Row) foldsWith(a *models.Approval) {
	if a.Kind == models.KindToolCall && !a.Risk.NeedsDigest() {
		row.Fold = string(a.AgentID) + " " + a.ToolName
	}
}

// folds reports whether the row may be out of sight: nothing about it is special.
func (row Row) folds() bool { return row.Fold != "" && row.Gone == "" && !row.special() }

// foldRows puts rows into groups that follow one another and belong together. The line of a
// request that left stays between its neighbours.
func foldRows(rows []Row) []Entry {
	out := make([]Entry, 0, len(rows))
	for i := 0; i < len(rows); {
		end, count := groupAt(rows[i:])
		if count < leastFolded {
			out, i = append(out, Entry{Row: rows[i]}), i+1
			continue
		}
		out, i = append(out, Entry{Group: newInboxGroup(rows[i:i+end], count)}), i+end
	}
	return out
}

// groupAt is how many rows, from the first, could be one group, and how many of them still
// wait.
func groupAt(rows []Row) (end, count int) {
	for i, row := range rows {
		switch {
		case row.Gone != "" && i > 0: // it belongs to the group if another of its rows follows
			continue
		case !row.folds() || row.Fold != rows[0].Fold:
			return end, count
		}
		end, count = i+1, count+1
	}
	return end, count
}

func newInboxGroup(rows []Row, count int) *Group {
	g := &Group{ID: "group-" + rows[0].ID, Agent: rows[0].Agent, Tool: rows[0].Tool, Count: count, Rows: rows}
	var says []string
	inputs := map[string]bool{}
	for _, row := range rows {
		g.Open = g.Open || row.Current
		if row.Gone != "" {
			continue
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
