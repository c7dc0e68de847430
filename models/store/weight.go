package store

import (
	"unicode/utf8"

	"countersign/models"
)

// MaxListBytes is where a list for programs ends, though more was asked for: what
// is listed is never cut, and some inputs are 256 KiB.
const MaxListBytes = 1 << 20

// rowWeight is about what a row takes in JSON beside its texts.
const rowWeight = 1 << 10

// weight is about how many bytes a request takes in JSON.
func weight(a *models.Approval) int {
	n := rowWeight + len(a.ToolInputJSON)
	for _, text := range [...]string{a.Content, a.Context, a.Description, a.Options, a.ApprovalFeedback} {
		n += quoted(text)
	}
	if v := a.Vote; v != nil {
		n += quoted(v.Reason)
		if v.Input != nil {
			n += len(*v.Input)
		}
		if v.Answer != nil {
			n += quoted(*v.Answer)
		}
	}
	return n
}

// entryWeight is about how many bytes an entry of a history takes in JSON.
func entryWeight(e *models.HistoryEntry) int {
	switch {
	case e.Response != nil:
		return weight(e.Response)
	case e.Message != nil:
		return rowWeight + quoted(e.Message.Content)
	}
	return rowWeight
}

// quoted is how long a text is as a string of JSON, at most.
func quoted(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			n++
		case c < ' ' || c == utf8.RuneSelf-1:
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// atMost counts rows until they weigh most. The first is taken whatever it weighs.
type atMost struct{ most, sum int }

// full reports whether enough was read, so that a row more would only tell that
// there is one.
func (w *atMost) full() bool { return w.most > 0 && w.sum > w.most }

// fitting is how many of items, in their order, a page may have.
func fitting[T any](items []T, limit, most int, weight func(*T) int) int {
	n, sum := min(len(items), limit), 0
	if most <= 0 {
		return n
	}
	for i := range items[:n] {
		if sum += weight(&items[i]); sum > most {
			return max(i, 1)
		}
	}
	return n
}
