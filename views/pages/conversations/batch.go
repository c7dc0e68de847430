package conversations

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/requests"
	"countersign/views/ui"
)

const (
	// stuckAfter is how long a call may be under way before the page says that
	// nothing came of it and offers to close it.
	stuckAfter = 10 * time.Minute
	// longBatch is from how many calls on a batch collapses its ended ones.
	longBatch = 8
	// foldLeast is how many calls that are done, one after another, make a fold.
	foldLeast = 3
)

// Batch is a block of tool calls that an agent queued together, in order. One that
// was queued alone is a block of one.
type Batch struct {
	ID       string // of the element
	Title    string // empty for a block of one
	Tally    string // how far it is, in words
	Segments []BatchSegment
	URL      string // where the block refetches itself
	Topic    string
	State    string // changes when who fills in a form must look again
	Kept     bool   // holds a sent decision and its result
	IsActive bool   // something is under way, and may become stuck
	At       views.Moment
	Who      string
}

// BatchSegment are calls in a row, collapsed or not.
type BatchSegment struct {
	Fold  string // the label of collapsed calls; empty: the calls are open
	Calls []BatchCall
}

// BatchCall is one call of a batch.
type BatchCall struct {
	ID       string // of the element
	Number   string // in its batch, with #; empty for one that was queued alone
	Tool     string
	Summary  string
	URL      string // the page with all of it
	Pill     ui.Word
	Current  bool // waits for a person
	Duration string
	Since    views.Moment // of one that is under way
	Stuck    string       // in words
	CloseURL string       // where the stuck one is closed; empty: it is not offered
	Result   *CallResult
	Notes    []inputs.Note
	Linked   *inputs.Linked // nil where the request it waits with says it
	Outcome  *outcomes.Outcome
	Ask      *requests.Approval // set while it waits: what a decider reads, and the forms
	SubAgent bool
}

// askName is what its forms call it.
func (c BatchCall) askName() string {
	if c.Number != "" {
		return strings.TrimPrefix(c.Number, "#")
	}
	return strings.TrimPrefix(c.ID, "entry-")
}

// CallResult is the beginning of what a call gave.
type CallResult struct {
	ID    string
	Label string // with the true length
	Text  string
	Error bool
	More  bool // there is more of it at the call's own address
	URL   string
}

// batchMaker makes the blocks of one page.
type batchMaker struct {
	conversation *models.ConversationView
	around       HistoryAround
	now          time.Time
}

// RunAround has the facts about the calls of a page beside their approvals.
type RunAround struct {
	Calls   map[models.ResponseID]models.CallDetail
	Origins map[models.ResponseID]models.Origin
	// Opened are the folded parts that the reader has opened of requests that wait.
	Opened map[models.ResponseID][]string
	Rights map[models.ResponseID]models.Right // what the reader may do, of those that wait
}

// batchOf is the batch that shows a call; empty: it is no part of one, but a separate entry, as it was asked about and
// not reported.
func batchOf(a *models.Approval, d models.CallDetail) (key string, ok bool) {
	switch {
	case a.Kind != models.KindToolCall || d.ID == "":
		return "", false
	case d.BatchID != "":
		return "batch " + d.BatchID, true
	case d.ReportedAt != nil || d.Completed:
		return "call " + string(a.ID), true
	}
	return "", false
}

// block makes one batch of calls that are in order.
func (m batchMaker) block(calls []*models.Approval) Batch {
	first, last := calls[0], calls[len(calls)-1]
	d, end := m.around.Run.Calls[first.ID], m.around.Run.Calls[last.ID]
	v := Batch{
		ID: "batch-" + strconv.FormatInt(first.Sequence, 10), At: views.Ago(startOf(first, d), m.now), Who: first.AgentName,
		URL: views.ConversationBatchURL(m.conversation.ID, first.ID), Topic: views.ConversationTopic(m.conversation.ID),
	}
	if d.Of > 1 {
		v.Title = views.Number(int64(d.Of)) + " calls queued together"
		if len(calls) < d.Of {
			v.Title += ", #" + strconv.Itoa(d.Place) + " to #" + strconv.Itoa(end.Place) + " here"
		}
	}
	rows := make([]BatchCall, 0, len(calls))
	earlierOpen := false
	var before time.Time // when the one before ended
	for _, a := range calls {
		row := m.call(a, earlierOpen, before)
		rows = append(rows, row)
		d := m.around.Run.Calls[a.ID]
		if openCall(a.At(m.now), d) {
			earlierOpen = true
		} else if d.CompletedAt != nil {
			before = *d.CompletedAt
		}
		v.IsActive = v.IsActive || !row.Since.IsZero()
		if row.Ask != nil {
			v.State += row.Ask.State + "\n"
			v.Kept = v.Kept || row.Ask.Kept
		}
	}
	v.Tally, v.Segments = tally(rows), segments(rows)
	return v
}

// NewHistoryEntries makes the entries of a page. Calls that were queued together are one of them, in the place of the
// first.
func NewHistoryEntries(
	c *models.ConversationView, entries []models.HistoryEntry, around HistoryAround, now time.Time,
) []HistoryEntry {
	m := batchMaker{conversation: c, around: around, now: now}
	out := make([]HistoryEntry, 0, len(entries))
	calls := map[string][]*models.Approval{}
	places := map[string]int{}
	for i := range entries {
		e := &entries[i]
		if e.Response == nil {
			out = append(out, NewHistoryEntry(c, e, around, now))
			continue
		}
		key, ok := batchOf(e.Response, around.Run.Calls[e.Response.ID])
		if !ok {
			out = append(out, NewHistoryEntry(c, e, around, now))
			continue
		}
		if len(calls[key]) == 0 {
			places[key] = len(out)
			out = append(out, HistoryEntry{})
		}
		calls[key] = append(calls[key], e.Response)
	}
	for key, place := range places {
		block := m.block(calls[key])
		out[place] = HistoryEntry{ID: block.ID, Kind: "batch", Batch: &block}
	}
	return out
}

// WithoutKnownBatches leaves out new calls of batches whose blocks are on the page already: those refetch themselves.
func WithoutKnownBatches(
	entries []models.HistoryEntry, calls map[models.ResponseID]models.CallDetail,
) []models.HistoryEntry {
	start := map[string]bool{} // among these entries; false: before them
	out := make([]models.HistoryEntry, 0, len(entries))
	for _, e := range entries {
		if e.Response != nil {
			d := calls[e.Response.ID]
			if _, seen := start[d.BatchID]; d.BatchID != "" && !seen {
				start[d.BatchID] = d.Place == 1
			}
			if d.BatchID != "" && !start[d.BatchID] {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// trigger is when the block looks again: when something happened, and as time goes by over calls under way.
func (b Batch) trigger() string {
	if b.IsActive {
		return views.On(b.Topic) + ", every 30s"
	}
	return views.On(b.Topic)
}

// tally says how far a batch is.
func tally(rows []BatchCall) string {
	done, waiting := 0, 0
	for _, row := range rows {
		if row.Pill == pillDone {
			done++
		}
		if row.Current {
			waiting++
		}
	}
	if len(rows) < 2 {
		return ""
	}
	out := views.Number(int64(done)) + " of " + views.Number(int64(len(rows))) + " done"
	if waiting > 0 {
		out += ", " + views.Number(int64(waiting)) + " waiting for approval"
	}
	return out
}

// segments collapses the ended calls of a long batch.
func segments(rows []BatchCall) []BatchSegment {
	if len(rows) < longBatch {
		return []BatchSegment{{Calls: rows}}
	}
	var out []BatchSegment
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && quiet(rows[end]) == quiet(rows[i]) {
			end++
		}
		segment := BatchSegment{Calls: rows[i:end]}
		if n := end - i; quiet(rows[i]) && n >= foldLeast {
			segment.Fold = views.Number(int64(n)) + " done, " + rows[i].Number + " to " + rows[end-1].Number
		}
		out = append(out, segment)
		i = end
	}
	return out
}

// quiet reports whether a call is done and there is nothing to say about it.
func quiet(c BatchCall) bool { return c.Pill == pillDone && len(c.Notes) == 0 && c.Linked == nil }
