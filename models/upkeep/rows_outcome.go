package upkeep

import (
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// outcomeCheck compares a response and its vote with the entry of its outcome.
func outcomeCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	r, id := with.response, string(e.ResponseID)
	if !r.found {
		c.fault("responses", id, "", e.Seq, "the row is missing")
		return nil
	}
	if !c.marked(with.number) {
		c.name(settledOnly, id) // it was reported, and a rejection of another call rejected it
	}
	a, at := c.compare(e, "responses", id, r), fileTime(e.At)
	a.is("digest", d.Digest)
	a.is("approval_status", d.Status)
	a.is("cause", d.Cause)
	a.is("cascaded_from", orNullOf(d.Cascaded))
	a.is("held_until", null)
	a.is("requires_approval", "1")
	if d.Cause == string(models.CauseTimeout) {
		at = r.text("approval_timeout_at")
	}
	a.is("approval_timestamp", at)
	if d.Reason != "" || d.Verdict != "" {
		a.text("approval_feedback", d.Reason)
	} else if r.text("approval_feedback") != "" {
		c.uncovered(oldOutcome)
	}
	if r.text("approval_status") != d.Status {
		return nil // the rest is another outcome's
	}
	if d.Verdict == "" {
		a.is("decided_by", null)
		a.is("vote_id", null)
		a.is("answer", "")
		return c.withdrawn(e)
	}
	a.is("decided_by", e.ActorID)
	a.text("answer", d.Answer)
	held := c.held[id]
	delete(c.held, id)
	if held != "" {
		a.is("vote_id", held)
	} else {
		a.isSet("vote_id")
	}
	v := with.vote
	if !v.found {
		c.fault("votes", r.text("vote_id"), "", e.Seq, "the row is missing")
		return nil
	}
	if held != "" {
		// All else was compared with the entry that held it.
		b := c.compare(e, "votes", v.text("id"), v)
		b.is("withdrawn_at", null)
		return nil
	}
	c.vote(e, d, v)
	return nil
}

// settledOnly are the responses of which only the outcome has an entry.
const settledOnly = "responses, settled"

// vote compares a vote with the entry that tells of it.
func (c *rowCheck) vote(e *models.Entry, d *entryData, v *rowValues) {
	c.report.Checked["votes"]++
	id := v.text("id")
	c.name("votes", id)
	a := c.compare(e, "votes", id, v)
	a.is("response_id", string(e.ResponseID))
	a.is("user_id", e.ActorID)
	a.is("user_name", e.ActorName)
	a.is("verdict", d.Verdict)
	a.text("reason", d.Reason)
	a.is("digest", d.Digest)
	a.is("at", fileTime(e.At))
	a.is("withdrawn_at", null)
	seen := ""
	if d.Seen {
		seen = d.Digest
	}
	a.is("seen_digest", seen)
	a.is("input_digest", orNullOf(d.Edited))
	a.edited()
	a.text("waits_for", d.WaitsFor)
	a.is("checked", tickedText(d.Ticked))
	a.is("behalf_of", d.Behalf)
	a.is("behalf_name", d.ForName)
	if e.Action == "approval.voted" && d.WaitsFor == "" {
		return
	}
	a.is("undo_until", null)
	a.is("budget_set", null)
	a.is("budget_delta", null)
	answer := v.text("answer")
	if answer == "" {
		answer = v.text("option")
	}
	a.proves("answer", d.Answer, models.DigestOfText(answer))
}

// tickedText is what was ticked, as a vote stores it.
func tickedText(checked []int) string {
	var numbers []string
	for _, n := range checked {
		numbers = append(numbers, strconv.Itoa(n))
	}
	if numbers == nil {
		return ""
	}
	return "[" + strings.Join(numbers, ",") + "]"
}

// edited recomputes the digest of an edited input.
func (a *comparison) edited() {
	input, ok := a.row.get("input")
	digest, edited := a.row.get("input_digest")
	if ok != edited {
		a.claim("input", claim{entry: a.entry, text: "there is an edited input without its digest, or a digest without its input"})
		return
	}
	if !ok {
		a.settled("input")
		return
	}
	r, err := a.lookUp("responses", "id = ?", a.row.text("response_id"))
	if err != nil {
		return
	}
	canonical, err := models.Canonical(models.Kind(r.text("kind")), r.text("tool_name"), []byte(input))
	if err != nil {
		canonical = nil
	}
	a.proves("input", digest, models.Digest(canonical))
}

// votedCheck compares a verdict that was held.
func votedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	r, id := with.response, string(e.ResponseID)
	if !r.found {
		c.fault("responses", id, "", e.Seq, "the row is missing")
		return nil
	}
	where, args := "id = ?", []any{d.Vote}
	if d.Vote == "" {
		where, args = "response_id = ? AND user_id = ? AND at = ?", []any{id, e.ActorID, fileTime(e.At)}
	}
	v, err := c.lookUp("votes", where, args...)
	if err != nil {
		return err
	}
	if !v.found {
		c.fault("votes", id, "", e.Seq, "the vote on this request is missing, or whose it is or its time was changed")
		return nil
	}
	c.vote(e, d, v)
	if d.WaitsFor != "" {
		c.compare(e, "responses", id, r).routedTo(d.Reviewers, with.routed)
		return c.waiting(e, v.text("id"))
	}
	a := c.compare(e, "votes", v.text("id"), v)
	if d.Row == "" {
		c.uncovered(oldHeld)
	} else {
		a.proves("undo_until, budget_set, budget_delta, answer or option", d.Row, heldProof(v))
	}
	c.held[id] = v.text("id")
	b := c.compare(e, "responses", id, r)
	if d.Until == "" {
		b.isSet("held_until")
	} else {
		b.is("held_until", fileTime(d.Until))
	}
	return nil
}

// heldProof is heldDigest of a stored vote.
func heldProof(v *rowValues) string {
	until := v.ptr("undo_until")
	if until != nil {
		if at, err := db.StoredTime(*until); err == nil {
			until = new(at.Format(db.TimeFormat))
		}
	}
	return ledger.RowDigest(until, v.ptr("budget_set"), v.ptr("budget_delta"), v.ptr("answer"), v.ptr("option"))
}

// waiting: an edit that waits for others takes the place of what the same person
// proposed before; an empty id takes that back.
func (c *rowCheck) waiting(e *models.Entry, id string) error {
	key := [2]string{string(e.ResponseID), e.ActorID}
	before := c.waits[key]
	if c.waits[key] = id; id == "" {
		delete(c.waits, key)
	}
	if before == "" {
		return nil
	}
	v, err := c.lookUp("votes", "id = ?", before)
	if err != nil || !v.found {
		return err
	}
	c.compare(e, "votes", before, v).is("withdrawn_at", fileTime(e.At))
	return nil
}

// withdrawn: the verdict that held a response is not its outcome.
func (c *rowCheck) withdrawn(e *models.Entry) error {
	id := c.held[string(e.ResponseID)]
	if id == "" {
		return nil
	}
	delete(c.held, string(e.ResponseID))
	v, err := c.lookUp("votes", "id = ?", id)
	if err != nil || !v.found {
		return err
	}
	a := c.compare(e, "votes", id, v)
	a.is("withdrawn_at", fileTime(e.At))
	return nil
}

func undoneCheck(c *rowCheck, e *models.Entry, _ *entryData, with *entryRows) error {
	if !with.response.found {
		return nil
	}
	if c.held[string(e.ResponseID)] == "" && c.waits[[2]string{string(e.ResponseID), e.ActorID}] != "" {
		return c.waiting(e, "")
	}
	c.compare(e, "responses", string(e.ResponseID), with.response).is("held_until", null)
	return c.withdrawn(e)
}

func extendedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	if with.response.found {
		c.compare(e, "responses", string(e.ResponseID), with.response).clock(d)
	}
	return nil
}

// clock compares the deadline with the entry that moved it.
func (a *comparison) clock(d *entryData) {
	if d.Moved != "" {
		a.is("approval_timeout_at", fileTime(d.Moved))
	}
	if d.Left != nil {
		a.is("paused_left", strconv.FormatInt(*d.Left, 10))
	}
}

// noteCheck compares what was said about a request, and the clock that it stopped
// or let run again.
func noteCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	asks := e.Action == "approval.asked_back"
	if found, err := c.note(e, d); err != nil || !found || !with.response.found {
		return err
	}
	b := c.compare(e, "responses", string(e.ResponseID), with.response)
	b.clock(d)
	if asks {
		b.is("open_note", d.Note)
		if d.Left == nil {
			if b.row.text("open_note") == d.Note && b.row.ptr("paused_left") != nil {
				c.uncovered(oldPause)
			}
			b.settled("paused_left")
		}
		return nil
	}
	b.is("open_note", null)
	b.is("paused_left", null)
	return nil
}

const oldPause = "stopped clocks: what was left"

// adoptedCheck compares the place that a request got in a run.
func adoptedCheck(c *rowCheck, e *models.Entry, d *entryData, with *entryRows) error {
	if !with.response.found {
		return nil
	}
	a := c.compare(e, "responses", string(e.ResponseID), with.response)
	a.is("conversation_id", string(e.ConversationID))
	a.is("energy", strconv.FormatInt(d.Energy, 10))
	if d.Sequence != nil {
		a.is("sequence", strconv.FormatInt(*d.Sequence, 10))
	}
	if d.Row != "" { // it became another agent's, and got an id of its call
		a.is("agent_id", d.Agent)
		a.proves(askProven, d.Row, askProof(with.response))
	}
	return nil
}

// escalatedCheck compares how an agent asked for more attention; the mark on the request is
// a copy of it.
func escalatedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	_, err := c.note(e, d)
	return err
}

// note compares the note that an entry names; false: the row is missing.
func (c *rowCheck) note(e *models.Entry, d *entryData) (found bool, err error) {
	n, err := c.lookUp("notes", "id = ?", d.Note)
	if err != nil {
		return false, err
	}
	c.name("notes", d.Note)
	if !n.found {
		c.fault("notes", d.Note, "", e.Seq, "the row is missing")
		return false, nil
	}
	c.report.Checked["notes"]++
	a := c.compare(e, "notes", d.Note, n)
	a.is("response_id", string(e.ResponseID))
	a.is("number", strconv.FormatInt(d.Number, 10))
	a.is("author_kind", string(e.ActorKind))
	a.is("author_id", e.ActorID)
	a.is("author_name", e.ActorName)
	a.is("asks", boolText(e.Action == "approval.asked_back"))
	a.is("escalates", boolText(e.Action == "approval.escalated"))
	a.is("at", fileTime(e.At))
	a.text("content", d.Text)
	return true, nil
}
