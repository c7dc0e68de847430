package conversations

import (
	"cmp"
	"strconv"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// openCall reports whether something may still come of a call.
func openCall(r *models.Response, d models.CallDetail) bool {
	if d.Completed {
		return false
	}
	switch r.Status() {
	case models.StatusNone, models.StatusPending, models.StatusApproved, models.StatusRan:
		return true
	case models.StatusRejected, models.StatusExpired, models.StatusCancelled, models.StatusResolved:
	}
	return false
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
		ID: entryID(a.Sequence), Tool: a.ToolName, Summary: words.Summary(r), URL: views.CallURL(a.ConversationID, a.ID),
		SubAgent: d.ParentToolUseID != "",
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
	origin := m.around.Run.Origins[a.ID]
	if pill, ok := linkedPill(r, origin.Linked); ok && (!d.Completed || pill != pillWait) {
		v.Pill = pill
	}
	v.time(r, d, since, m.now)
	v.Result = m.result(a, d)
	v.Notes = notes(r, d, origin)
	if !v.Current {
		v.Linked = inputs.NewLinked(origin, "-"+v.ID)
	}
	if v.Stuck != "" {
		v.CloseURL = views.CloseCallURL(a.ConversationID, a.ID)
	}
	if d := m.around.Decided; d != nil && d.ID == a.ID && !v.Current {
		v.Notes = append([]inputs.Note{{Tone: views.ToneWarn, Text: lateNotice(a, d.Late, m.now)}}, v.Notes...)
	}
	if v.Current {
		e := HistoryEntry{ID: v.ID}
		e.ask(m.conversation, a, m.around, m.now)
		v.Ask = e.Ask
	} else if r.Status().Final() && r.Cause != models.CauseCascade {
		v.Outcome = outcomes.New(a, r, m.now)
	}
	return v
}

// time says how long the call took, or since when it is under way.
func (c *BatchCall) time(r *models.Response, d models.CallDetail, since, now time.Time) {
	switch {
	case d.Completed && d.Closed == "" && d.CompletedAt != nil && !d.CompletedAt.Before(since):
		c.Duration = durationText(d.CompletedAt.Sub(since))
	case c.Pill == pillStuck:
		c.Since = views.Ago(since, now)
		c.Stuck = "No result for " + views.Duration(now.Sub(since)) + "."
	case openCall(r, d) && r.Status() != models.StatusPending && c.Pill != pillQueue:
		c.Since = views.Ago(since, now)
	}
}

func durationText(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return views.Duration(d)
}

// The words for the state of a call.
var (
	pillQueue    = ui.Word{Text: "queued", Tone: views.ToneNeutral}
	pillRun      = ui.Word{Text: "running", Tone: views.ToneNeutral, Icon: "play"}
	pillWait     = ui.Word{Text: "waiting for approval", Tone: views.ToneAccent, Icon: "clock"}
	pillSend     = ui.Word{Text: "sending", Tone: views.ToneWarn, Icon: "clock"}
	pillDone     = ui.Word{Text: "done", Tone: views.ToneGood, Icon: "check"}
	pillFailure  = ui.Word{Text: "failed", Tone: views.ToneBad, Icon: "x"}
	pillStuck    = ui.Word{Text: "stuck", Tone: views.ToneWarn, Icon: "triangle-alert"}
	pillClose    = ui.Word{Text: "closed", Tone: views.ToneNeutral}
	pillNoResult = ui.Word{Text: "no result", Tone: views.ToneNeutral}
)

// callPill is the state of a call, in a word, and whether it waits for a person.
// behind says that an earlier call of its batch is open: then it has not begun.
// since is from when on a result is waited for.
func callPill(r *models.Response, d models.CallDetail, behind bool, since, now time.Time) (pill ui.Word, current bool) {
	late := now.Sub(since) >= stuckAfter
	switch status := r.Status(); {
	case status == models.StatusPending && r.HeldUntil != nil:
		return pillSend, false
	case status == models.StatusPending:
		return pillWait, true
	case status == models.StatusRejected && r.Cause == models.CauseCascade && d.CascadedFrom != nil:
		word := ui.StatusWord(status, r.Cause)
		word.Text = "rejected with #" + placeOf(d.CascadedFrom)
		return word, false
	case status == models.StatusRejected, status == models.StatusExpired, status == models.StatusCancelled,
		status == models.StatusRan:
		return ui.StatusWord(status, r.Cause), false
	case d.Closed == models.ClosedByOwner:
		return pillClose, false
	case d.Closed == models.ClosedByRun:
		return pillNoResult, false
	case d.Completed && d.IsError:
		return pillFailure, false
	case d.Completed:
		return pillDone, false
	case status == models.StatusResolved:
		return ui.StatusWord(status, r.Cause), false
	case status == models.StatusNone && r.Cause == models.CauseNone && behind:
		return pillQueue, false
	case late:
		return pillStuck, false
	case status == models.StatusApproved:
		return ui.StatusWord(status, r.Cause), false
	}
	return pillRun, false
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
	out := &CallResult{
		ID: entryID(a.Sequence) + "-result", Label: "Result", Error: d.IsError && !outcomes.Denied(&a.Response),
		Text: d.Result, URL: views.CallURL(a.ConversationID, a.ID),
	}
	if out.Error {
		out.Label = "Error"
	}
	out.Label += ", " + views.Number(d.ResultBytes) + " bytes"
	out.More = d.ResultBytes > int64(len(d.Result))
	return out
}

// notes are what a reader must know beside the pill.
func notes(r *models.Response, d models.CallDetail, o models.Origin) []inputs.Note {
	var out []inputs.Note
	if text := cmp.Or(d.Contradiction, o.Contradiction); text != "" {
		out = append(out, inputs.Note{Tone: views.ToneBad, Text: models.RevealString(text, false)})
	}
	o.MatchedBy, o.Contradiction = d.MatchedBy, ""
	out = append(out, inputs.OriginNotes(o)...)
	if r.InputBytes != nil {
		out = append(out,
			inputs.Note{
				Tone: views.ToneWarn,
				Text: "Its input has " + views.Number(*r.InputBytes) + " bytes and was cut: it can be rejected but not approved.",
			})
	}
	if d.Closed == models.ClosedByRun {
		out = append(out, inputs.Note{Tone: views.ToneNeutral, Text: "The run continued or ended without a result."})
	}
	if d.Closed == models.ClosedByOwner {
		out = append(out,
			inputs.Note{Tone: views.ToneNeutral, Text: "A person closed this call without waiting for a result."})
	}
	return out
}

// linkedPill is the state of a reported call whose approval is another row; false: the call's own state says more.
func linkedPill(r *models.Response, l *models.LinkedResponse) (ui.Word, bool) {
	if l == nil || l.IsCall || r.Status() != models.StatusNone || r.Cause != models.CauseNone {
		return ui.Word{}, false
	}
	switch l.Status {
	case models.StatusPending:
		return pillWait, true
	case models.StatusRejected, models.StatusExpired, models.StatusCancelled:
		return ui.StatusWord(l.Status, l.Cause), true
	case models.StatusNone, models.StatusApproved, models.StatusResolved, models.StatusRan:
	}
	return ui.Word{}, false
}
