package requests

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// EarlierCalls says how an agent's last calls of the tool ended.
type EarlierCalls struct {
	Count   string // "This call: approved 3 times, never rejected. Calls of this tool: …"
	By      string // who decided the last one; empty: no one did
	At      views.Moment
	More    bool // there are older ones that were not counted
	Earlier []EarlierCall
}

// EarlierCall is one of them.
type EarlierCall struct {
	URL, Text string
	Word      ui.Word
	By        string
	At        views.Moment
	Result    string // "done", "failed" …
}

// Duplicate is another request that waits for the very same.
type Duplicate struct {
	URL string
	At  views.Moment
}

// duplicatesLabel counts the requests that wait for the very same, as the list does.
func duplicatesLabel(n int) string {
	if n == 1 {
		return "1 duplicate"
	}
	return strconv.Itoa(n) + " duplicates"
}

// Reask says that the very same was rejected before.
type Reask struct {
	URL, By, Reason string
	At              views.Moment
}

// Comparison is the change against an earlier call.
type Comparison struct {
	Label          string
	At             views.Moment
	By             string
	URL            string
	Added, Removed string
	Same           bool
	Gone           string // instead of the change: what it would be against was removed
	Diff           ui.Block
}

// Thread are the notes about a request.
type Thread struct {
	Notes     []ThreadNote
	AnswerURL string // of the owner's form; empty: the reader does not answer
	Waits     string // what the clock does while a question is open
	Left      views.Moment
}

// title says what the thread is about.
func (t Thread) title() string {
	if slices.ContainsFunc(t.Notes, func(n ThreadNote) bool { return n.Asks }) {
		return "Questions"
	}
	return "Notes"
}

// ThreadNote is one of them.
type ThreadNote struct {
	ID, Author, Text string
	Agent            bool // said by the agent
	Asks             bool
	Escalates        bool
	Open             bool // the question that stops the clock
	At               views.Moment
}

// BatchFact is the place of a call among those that were queued with it.
type BatchFact struct{ Text, URL string }

func newBatchFact(in Input) *BatchFact {
	d, ok := in.Calls[in.Approval.ID]
	if !ok || d.Of < 2 {
		return nil
	}
	done, failed := 0, 0
	for _, c := range in.Calls {
		if c.BatchID != d.BatchID || !c.Completed || c.Denial { // what a denial is reported with is no work done
			continue
		}
		if done++; c.IsError {
			failed++
		}
	}
	text := "call " + views.Number(int64(d.Place)) + " of " + views.Number(int64(d.Of)) + " queued together"
	if done > 0 {
		text += " · " + views.Number(int64(done)) + " done"
	}
	if failed > 0 {
		text += ", " + views.Number(int64(failed)) + " of them failed"
	}
	return &BatchFact{Text: text, URL: views.CallURL(in.Approval.ConversationID, in.Approval.ID)}
}

// turnsLabel says how many turns are folded.
func (v Approval) turnsLabel() string {
	if n := len(v.Turns) - 1; n > 1 {
		return "the last " + strconv.Itoa(n) + " messages before this one"
	}
	return "the message before this one"
}

func (v *Approval) around(in Input, now time.Time) {
	around := in.Around
	v.PolicyNow = policyNow(around)
	if around.Twin != nil && v.Pending {
		v.Twin = inputs.NewTwin(&in.Approval, *around.Twin, now)
	}
	for _, d := range around.Duplicates {
		v.Duplicates = append(v.Duplicates, Duplicate{URL: views.ApprovalURL(d.ID), At: views.Ago(d.CreatedAt, now)})
	}
	v.Before = newEarlierCalls(around, now)
	if before := around.ReaskOf; before != nil {
		v.Reask = &Reask{
			URL: views.ApprovalURL(before.ID), At: views.AgoOf(before.ApprovalTimestamp, now), Reason: before.Feedback(),
		}
		if before.Vote != nil {
			v.Reask.By = before.Vote.UserName
		}
	}
	v.Thread = newThread(in, v.Pending && v.Held == "", now)
	if v.Batch = newBatchFact(in); !v.Pending || in.Approval.Kind != models.KindToolCall {
		return
	}
	if last := around.LastApproved; last != nil {
		v.Compared = append(v.Compared,
			newComparison("compared-approved", "last allowed call", &in.Approval, last, releasedWith(last), now))
	}
	if last := around.LastRejected; last != nil && v.Reask == nil {
		v.Compared = append(v.Compared,
			newComparison("compared-rejected", "last rejected call", &in.Approval, last, last.InputThatRuns(), now))
	}
	for i := range v.Compared {
		v.Compared[i].Diff.ID = v.Anchor(v.Compared[i].Diff.ID)
	}
}

// policyNow says what would become of the request if it were made now (I12: it
// stays as it was judged).
func policyNow(around *models.Around) string {
	if !around.PolicyChange {
		return ""
	}
	now := around.Now
	text := "The policy is now v" + views.Number(now.Version) + "; it would "
	if !now.Differs {
		return text + "decide the same."
	}
	switch now.Effect {
	case "allow":
		text += "allow it"
	case "deny":
		text += "reject it"
	default:
		text += "still require approval"
		if now.Risk != "" {
			text += ", at " + ui.RiskWord(now.Risk).Text
		}
	}
	if now.Rule != "" {
		text += " (rule “" + models.RevealString(now.Rule, false) + "”)"
	}
	if now.Reason != "" {
		return text + ": " + words.OneLine(models.RevealString(now.Reason, false))
	}
	return text + "."
}

func newEarlierCalls(around *models.Around, now time.Time) *EarlierCalls {
	if len(around.Earlier) == 0 {
		return nil
	}
	b := &EarlierCalls{Count: countsRead(around), More: around.EarlierCap}
	for i := range around.Earlier {
		a := &around.Earlier[i]
		r := a.At(now)
		e := EarlierCall{
			URL: views.ApprovalURL(a.ID), Text: words.Summary(r), Word: ui.StatusWord(r.Status(), r.Cause),
			At: views.Ago(a.CreatedAt, now), Result: outcomes.ResultText(r),
		}
		if r.ApprovalTimestamp != nil {
			e.At = views.Ago(*r.ApprovalTimestamp, now)
		}
		if a.Vote != nil && r.Cause == models.CauseReviewer {
			e.By = a.Vote.UserName
		}
		b.Earlier = append(b.Earlier, e)
	}
	b.By, b.At = b.Earlier[0].By, b.Earlier[0].At
	return b
}

// countsRead says how calls with the same input ended, then all of the tool.
func countsRead(around *models.Around) string {
	same, all := countsOf(around.SameCounts), countsOf(around.Counts)
	none := models.CallCounts{}
	switch {
	case around.Counts == none:
		return all
	case around.SameCounts == around.Counts:
		return "This call: " + strings.ToLower(same)
	case around.SameCounts == none:
		return "This call: never before. Calls of this tool: " + strings.ToLower(all)
	}
	return "This call: " + strings.ToLower(same) + ". Calls of this tool: " + strings.ToLower(all)
}

// countsOf says how the agent's earlier calls of the tool ended. Only people approve: calls that a rule or a
// pre-approval allowed are counted separately (I10).
func countsOf(c models.CallCounts) string {
	var parts []string
	for _, p := range [...]struct {
		n     int
		words string
	}{
		{c.Approved, "approved"},
		{c.ByRule, "allowed by rules"},
		{c.PreApproved, "pre-approved"},
		{c.Unapproved, "ran without approval"},
		{c.Rejected, "rejected"},
		{c.AutoRejected, "rejected automatically"},
	} {
		if p.n > 0 {
			parts = append(parts, p.words+" "+timesShort(p.n))
		}
	}
	switch {
	case len(parts) == 0:
		return "Never decided"
	case c.Rejected+c.AutoRejected == 0:
		parts = append(parts, "never rejected")
	case c == (models.CallCounts{Rejected: c.Rejected, AutoRejected: c.AutoRejected}):
		parts = append(parts, "never approved")
	}
	return words.Capitalize(strings.Join(parts, ", "))
}

func timesShort(n int) string {
	if n == 1 {
		return "once"
	}
	return views.Number(int64(n)) + " times"
}

// releasedWith is the input that a call was let through with.
func releasedWith(a *models.Approval) string {
	if other, ok := a.OtherInput(); ok {
		return other
	}
	return a.Released()
}

func newComparison(id, label string, a, with *models.Approval, before string, now time.Time) Comparison {
	c := Comparison{
		Label: "Compared with the " + label, URL: views.ApprovalURL(with.ID), At: views.AgoOf(with.ApprovalTimestamp, now),
	}
	if c.At.IsZero() {
		c.At = views.Ago(with.CreatedAt, now)
	}
	if with.Vote != nil {
		c.By = with.Vote.UserName
	}
	same := "Same input as the " + label
	if with.IsRemoved() {
		_, edited := with.Vote.ApprovedInput()
		if c.Same = with.Digest == a.Digest && !edited; !c.Same {
			c.Gone = "Its input was " + models.RevealString(with.RemovedText(), false) + ". It differed from this one."
			return c
		}
		c.Label = same
		return c
	}
	was, is := inputs.IndentJSON(before), inputs.IndentJSON(a.InputThatRuns())
	if c.Same = was == is; c.Same {
		c.Label = same
		return c
	}
	c.Diff = ui.DiffOf("Differences in this call", was, is)
	c.Diff.ID, c.Diff.WholeURL = id, views.InputURL(a.ID)
	if c.Diff.Diff != nil {
		c.Added, c.Removed = "+"+views.Number(int64(c.Diff.Diff.Added)), "−"+views.Number(int64(c.Diff.Diff.Removed))
	}
	return c
}

func newThread(in Input, open bool, now time.Time) Thread {
	a := &in.Approval
	var t Thread
	for i := range in.Around.Notes {
		n := &in.Around.Notes[i]
		t.Notes = append(t.Notes, ThreadNote{
			ID: "note-" + strconv.FormatInt(n.Number, 10), Author: n.AuthorName, Text: n.Content,
			Agent: n.AuthorKind == models.ActorAgent,
			Asks:  n.Asks, Escalates: n.Escalates, Open: open && a.OpenNote != nil && n.ID == *a.OpenNote,
			At: views.Ago(n.At, now),
		})
	}
	if !open || a.OpenNote == nil {
		return t
	}
	if in.Reader.ID == a.OwnerID {
		t.AnswerURL = views.NotesURL(a.ID)
	}
	if !a.HasDeadline() {
		return t
	}
	t.Waits = "The timer is paused until there is an answer."
	if a.PausedLeft != nil {
		t.Waits = "The timer is paused until there is an answer. After that, " +
			views.Duration(time.Duration(*a.PausedLeft)*time.Second) + " will be left."
	}
	return t
}
