package pages

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

const (
	// stuckAfter is how long a call may be under way before the page says that
	// nothing came of it and offers to close it.
	stuckAfter = 10 * time.Minute
	// longBatch is from how many calls on a batch folds what is done.
	longBatch = 8
	// foldLeast is how many calls that are done, one after another, make a fold.
	foldLeast = 3
)

// Batch is a block of tool calls that an agent queued at once, in order. One that
// was queued alone is a block of one.
type Batch struct {
	ID       string // of the element
	Title    string // empty for a block of one
	Tally    string // how far it is, in words
	Segments []BatchSegment
	URL      string // where the block refetches itself
	Topic    string
	State    string // changes when who fills in a form must look again
	Kept     bool   // holds what was sent and what became of it
	Moving   bool   // something is under way, and may become stuck
	At       views.Moment
	Who      string
}

// BatchSegment are calls that stand one after another, folded or not.
type BatchSegment struct {
	Fold  string // what is folded; empty: the calls stand open
	Calls []BatchCall
}

// BatchCall is one call of a batch.
type BatchCall struct {
	ID       string // of the element
	Number   string // in its batch, with #; empty for one that was queued alone
	Tool     string
	Summary  string
	URL      string // where all of it stands
	Pill     ui.Word
	Current  bool // waits for a person
	Duration string
	Since    views.Moment // of one that is under way
	Stuck    string       // in words
	CloseURL string       // where the stuck one is closed; empty: it is not offered
	Result   *CallResult
	Notes    []CallNote
	Outcome  *Outcome
	Ask      *Approval // set while it waits: what a decider reads, and the forms
	SubAgent bool
}

// askName is what its forms call it.
func (c BatchCall) askName() string {
	if c.Number != "" {
		return strings.TrimPrefix(c.Number, "#")
	}
	return strings.TrimPrefix(c.ID, "entry-")
}

// CallNote is something to know about a call, in words of ours: what of others is
// in them has been revealed.
type CallNote struct {
	Tone views.Tone
	Text string
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

// RunAround is what is known of the calls of a page beside their approvals.
type RunAround struct {
	Calls   map[models.ResponseID]models.CallDetail
	Origins map[models.ResponseID]models.Origin
}

// batchOf is the batch that a call is shown in; empty: it is no part of one, but
// an entry by itself, as it was asked about and not reported.
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
		v.Title = views.Number(int64(d.Of)) + " calls queued at once"
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
		v.Moving = v.Moving || !row.Since.IsZero()
		if row.Ask != nil {
			v.State += row.Ask.State + "\n"
			v.Kept = v.Kept || row.Ask.Kept
		}
	}
	v.Tally, v.Segments = tally(rows), segments(rows)
	return v
}

// NewHistoryEntries makes the entries of a page. Calls that were queued at once
// are one of them, where the first stands.
func NewHistoryEntries(c *models.ConversationView, entries []models.HistoryEntry, around HistoryAround, now time.Time) []HistoryEntry {
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
		out[place] = HistoryEntry{ID: block.ID, What: "batch", Batch: &block}
	}
	return out
}

// WithoutKnownBatches leaves out what has come to batches whose blocks are on the
// page already: those look again by themselves.
func WithoutKnownBatches(entries []models.HistoryEntry, calls map[models.ResponseID]models.CallDetail) []models.HistoryEntry {
	begun := map[string]bool{} // among these entries; false: before them
	out := make([]models.HistoryEntry, 0, len(entries))
	for _, e := range entries {
		if e.Response != nil {
			d := calls[e.Response.ID]
			if _, seen := begun[d.BatchID]; d.BatchID != "" && !seen {
				begun[d.BatchID] = d.Place == 1
			}
			if d.BatchID != "" && !begun[d.BatchID] {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// trigger is when the block looks again: when something happened, and as time
// goes by over what is under way.
func (b Batch) trigger() string {
	if b.Moving {
		return views.On(b.Topic) + ", every 30s"
	}
	return views.On(b.Topic)
}

// openCall reports whether something may still come of a call.
func openCall(r *models.Response, d models.CallDetail) bool {
	if d.Completed {
		return false
	}
	return r.Status() == models.StatusNone || r.Status() == models.StatusPending || r.Status() == models.StatusApproved
}

// startOf is when a call began to wait or run, as far as it is known.
func startOf(a *models.Approval, d models.CallDetail) time.Time {
	if d.ReportedAt != nil {
		return *d.ReportedAt
	}
	return a.CreatedAt
}

// call makes one row. behind says that an earlier call of the batch is open, and
// before is when the last one ended.
func (m batchMaker) call(a *models.Approval, behind bool, before time.Time) BatchCall {
	r, d := a.At(m.now), m.around.Run.Calls[a.ID]
	v := BatchCall{
		ID: EntryID(a.Sequence), Tool: a.ToolName, Summary: summary(r), URL: views.CallURL(a.ConversationID, a.ID), SubAgent: d.ParentToolUseID != "",
	}
	if d.Of > 1 {
		v.Number = "#" + strconv.Itoa(d.Place)
	}
	if r.Status() != models.StatusNone || r.Cause != models.CauseNone {
		v.URL = views.ApprovalURL(a.ID)
	}
	since := startOf(a, d)
	if r.Status() == models.StatusApproved && r.ApprovalTimestamp != nil && r.ApprovalTimestamp.After(since) {
		since = *r.ApprovalTimestamp
	}
	if before.After(since) {
		since = before
	}
	v.Pill, v.Current = callPill(r, d, behind, since, m.now)
	v.time(r, d, since, m.now)
	v.Result = m.result(a, d)
	v.Notes = notes(r, d, m.around.Run.Origins[a.ID])
	if v.Stuck != "" {
		v.CloseURL = views.CloseCallURL(a.ConversationID, a.ID)
	}
	if d := m.around.Decided; d != nil && d.ID == a.ID && !v.Current {
		v.Notes = append([]CallNote{{views.ToneWarn, LateNotice(a, d.Late, m.now)}}, v.Notes...)
	}
	if v.Current {
		e := HistoryEntry{ID: v.ID}
		e.ask(m.conversation, a, m.around, m.now)
		v.Ask = e.Ask
	} else if r.Status().Final() && r.Cause != models.CauseCascade {
		v.Outcome = newOutcome(a, r, m.now)
	}
	return v
}

// time says how long the call took, or since when it is under way.
func (c *BatchCall) time(r *models.Response, d models.CallDetail, since, now time.Time) {
	switch {
	case d.Completed && d.Closed == "" && d.CompletedAt != nil && !d.CompletedAt.Before(since):
		c.Duration = took(d.CompletedAt.Sub(since))
	case c.Pill == pillStuck:
		c.Since = views.Ago(since, now)
		c.Stuck = "No result for " + views.Duration(now.Sub(since)) + "."
	case openCall(r, d) && r.Status() != models.StatusPending && c.Pill != pillQueued:
		c.Since = views.Ago(since, now)
	}
}

func took(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return views.Duration(d)
}

// The words for where a call stands.
var (
	pillQueued   = ui.Word{Text: "queued", Tone: views.ToneNeutral}
	pillRunning  = ui.Word{Text: "running", Tone: views.ToneNeutral, Icon: "play"}
	pillWaiting  = ui.Word{Text: "waiting for approval", Tone: views.ToneAccent, Icon: "clock"}
	pillTold     = ui.Word{Text: "not yet told", Tone: views.ToneWarn, Icon: "clock"}
	pillDone     = ui.Word{Text: "done", Tone: views.ToneGood, Icon: "check"}
	pillFailed   = ui.Word{Text: "failed", Tone: views.ToneBad, Icon: "x"}
	pillStuck    = ui.Word{Text: "stuck", Tone: views.ToneWarn, Icon: "triangle-alert"}
	pillClosed   = ui.Word{Text: "closed", Tone: views.ToneNeutral}
	pillNoResult = ui.Word{Text: "no result", Tone: views.ToneNeutral}
)

// callPill is where a call stands, in a word, and whether it waits for a person.
// behind says that an earlier call of its batch is open: then it has not begun.
// since is from when on a result is waited for.
func callPill(r *models.Response, d models.CallDetail, behind bool, since, now time.Time) (pill ui.Word, current bool) {
	late := now.Sub(since) >= stuckAfter
	switch status := r.Status(); {
	case status == models.StatusPending && r.HeldUntil != nil:
		return pillTold, false
	case status == models.StatusPending:
		return pillWaiting, true
	case status == models.StatusRejected && r.Cause == models.CauseCascade && d.CascadedFrom != nil:
		word := ui.StatusWord(status, r.Cause)
		word.Text = "rejected with #" + placeOf(d.CascadedFrom)
		return word, false
	case status == models.StatusRejected, status == models.StatusExpired, status == models.StatusCancelled:
		return ui.StatusWord(status, r.Cause), false
	case d.Closed == models.ClosedByOwner:
		return pillClosed, false
	case d.Closed == models.ClosedByRun:
		return pillNoResult, false
	case d.Completed && d.IsError:
		return pillFailed, false
	case d.Completed:
		return pillDone, false
	case status == models.StatusResolved:
		return ui.StatusWord(status, r.Cause), false
	case status == models.StatusNone && r.Cause == models.CauseNone && behind:
		return pillQueued, false
	case late:
		return pillStuck, false
	case status == models.StatusApproved:
		return ui.StatusWord(status, r.Cause), false
	}
	return pillRunning, false
}

func placeOf(p *models.CallPlace) string {
	if p.Place > 0 {
		return strconv.Itoa(p.Place)
	}
	return strconv.FormatInt(p.Sequence, 10)
}

// result is the beginning of what a call gave, folded, with its true length.
func (m batchMaker) result(a *models.Approval, d models.CallDetail) *CallResult {
	if !d.Completed || d.Closed != "" {
		return nil
	}
	out := &CallResult{ID: EntryID(a.Sequence) + "-result", Label: "Result", Error: d.IsError, Text: d.Result, URL: views.CallURL(a.ConversationID, a.ID)}
	if d.IsError {
		out.Label = "Error"
	}
	out.Label += ", " + views.Number(d.ResultBytes) + " bytes"
	out.More = d.ResultBytes > int64(len(d.Result))
	return out
}

// notes are what a reader must know beside the pill.
func notes(r *models.Response, d models.CallDetail, o models.Origin) []CallNote {
	var out []CallNote
	if text := d.Contradiction; text != "" {
		out = append(out, CallNote{views.ToneBad, models.RevealString(text, false)})
	}
	o.MatchedBy, o.Contradiction = d.MatchedBy, ""
	out = append(out, originNotes(o)...)
	if r.InputBytes != nil {
		out = append(out, CallNote{views.ToneWarn, "Its input has " + views.Number(*r.InputBytes) + " bytes and is kept cut: it can be rejected, not approved."})
	}
	if d.Closed == models.ClosedByRun {
		out = append(out, CallNote{views.ToneNeutral, "The run went on, or ended, without a result."})
	}
	if d.Closed == models.ClosedByOwner {
		out = append(out, CallNote{views.ToneNeutral, "A person closed it; no result is waited for."})
	}
	return out
}

// originNotes are what a reader must know about where a request came from.
func originNotes(o models.Origin) []CallNote {
	var out []CallNote
	if o.Contradiction != "" {
		out = append(out, CallNote{views.ToneBad, models.RevealString(o.Contradiction, false)})
	}
	if n, ok := matchedNote(o); ok {
		out = append(out, n)
	}
	if o.Told != nil {
		out = append(out, CallNote{views.ToneWarn, tellingText(o)})
	}
	return out
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
	out := strconv.Itoa(done) + " of " + strconv.Itoa(len(rows)) + " done"
	if waiting > 0 {
		out += ", " + strconv.Itoa(waiting) + " waiting for approval"
	}
	return out
}

// segments folds what is done of a long batch and says nothing else.
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
			segment.Fold = strconv.Itoa(n) + " done, " + rows[i].Number + " to " + rows[end-1].Number
		}
		out = append(out, segment)
		i = end
	}
	return out
}

// quiet reports whether a call is done and there is nothing to say about it.
func quiet(c BatchCall) bool { return c.Pill == pillDone && len(c.Notes) == 0 }
