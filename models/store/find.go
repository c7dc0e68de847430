package store

import (
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
	"countersign/models/requests"
)

// findAsk looks for the row that a request repeats (I9), else for the
// conversation that it belongs to; both nil: a conversation is to be opened.
func (t *Tx) findAsk(actor models.Actor, q *asked) (*models.Approval, *models.Conversation, error) {
	if q.id != "" {
		standing, err := t.Request(q.id)
		if err != nil {
			return nil, nil, err
		}
		if standing != nil {
			return t.repeated(actor, q, standing)
		}
	}
	if q.Protocol != "" {
		if standing, err := t.repeatedCall(actor, q); standing != nil || err != nil {
			return standing, nil, err
		}
	}
	if q.ToolUseID == "" && q.namesNone() {
		a, err := t.joined(actor, q)
		return a, nil, err // nil: new in the agent's default conversation
	}
	conv, err := t.namedConversation(actor, q)
	if err != nil {
		return nil, nil, err
	}
	if q.ToolUseID == "" {
		a, err := t.joinedIn(actor, q, conv)
		return a, conv, err
	}
	if q.namesNone() {
		// An agent that names no conversation may repeat what it asked in one.
		id, err := t.rowID(t.Row(t.s.hot.byAgentToolUse, actor.ID, q.ToolUseID, q.digest))
		if err == nil && id == "" && q.digestV1 != "" {
			id, err = t.rowID(t.Row(t.s.hot.byAgentToolUse, actor.ID, q.ToolUseID, q.digestV1))
		}
		if err != nil {
			return nil, nil, err
		}
		if id != "" {
			a, err := t.Request(id)
			if err != nil {
				return nil, nil, err
			}
			another, err := t.another(actor, q, a)
			if err != nil {
				return nil, nil, err
			}
			if !another && (!q.Explicit || !unmatched(a)) {
				return t.repeated(actor, q, a)
			}
			// The agent asks for a person, beside a call that no rule held.
		}
	}
	if conv == nil {
		return nil, nil, nil
	}
	id, err := t.LatestUse(conv.ID, q.ToolUseID)
	if err != nil {
		return nil, nil, err
	}
	if id == "" {
		return nil, conv, nil
	}
	a, err := t.Request(id)
	if err != nil {
		return nil, nil, err
	}
	if another, err := t.another(actor, q, a); another || err != nil {
		return nil, conv, err
	}
	return t.repeated(actor, q, a)
}

// unmatched reports whether a call was let through only because no rule concerns it.
func unmatched(a *models.Approval) bool {
	return a.Status() == models.StatusNone && a.Cause == models.CausePolicy && a.PolicyRule == policy.RuleUnmatched
}

func (t *Tx) rowID(row *sql.Row) (id models.ResponseID, err error) {
	if err := row.Scan(&id); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for a repeat: %w", err)
	}
	return id, nil
}

// Request reads a request or a reported call of any owner; nil: there is none. It checks no rights.
func (t *Tx) Request(id models.ResponseID) (*models.Approval, error) {
	a, err := requests.ScanApproval(t.Row(t.s.hot.approval, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // no row is an answer here
	}
	if err != nil {
		return nil, fmt.Errorf("read approval: %w", err)
	}
	return a, nil
}

// repeatedCall finds the request that a client's id of a call names among all of the agent,
// whatever run it is sent with: the run and all else that the digest does not cover are those
// of the first. nil: there is none, or only the row of another way in, see findAsk.
func (t *Tx) repeatedCall(actor models.Actor, q *asked) (*models.Approval, error) {
	id, err := t.rowID(t.Row(t.s.hot.byCallID, actor.ID, q.ToolUseID))
	if err != nil || id == "" {
		return nil, err
	}
	a, err := t.Request(id)
	if err != nil {
		return nil, err
	}
	if a.Digest != q.digestUnder(a.DigestVersion) {
		return nil, &models.Error{
			Code:     models.CodeKeyConflict,
			Text:     "A request with this call_id exists with a different " + q.content() + "; nothing was changed.",
			Approval: requests.At(a, t.Now),
		}
	}
	return a, nil
}

// repeated checks that a request with the key of an existing row is that same request.
func (t *Tx) repeated(
	actor models.Actor, q *asked, a *models.Approval,
) (*models.Approval, *models.Conversation, error) {
	if a.AgentID != actor.AgentID() {
		return nil, nil, idTaken("approvalId")
	}
	if q.usedUp(a) { // by an approvalId, which names one row for good
		return nil, nil, &models.Error{
			Code:     models.CodeKeyConflict,
			Text:     "The call of this request has run, so its approvalId is used up: ask under a new one.",
			Approval: requests.At(a, t.Now),
		}
	}
	conflict := func(what string) (*models.Approval, *models.Conversation, error) {
		return nil, nil, &models.Error{
			Code:     models.CodeKeyConflict,
			Text:     "A request with this key exists with a different " + what + "; nothing was changed.",
			Approval: requests.At(a, t.Now),
		}
	}
	if a.Digest == q.digestUnder(a.DigestVersion) && q.losesEdit(a) {
		return nil, nil, &models.Error{
			Code:     models.CodeKeyConflict,
			Text:     "A request with this key was asked by a client that takes another input than it sent, and this one does not: send acceptsEdits and run decision.input, or ask under another key.",
			Approval: requests.At(a, t.Now),
		}
	}
	switch {
	case q.id != "" && a.ID != q.id && a.ReportedAt == nil: // a reported call has an id of its own
		return conflict("approvalId")
	case a.Digest != q.digestUnder(a.DigestVersion):
		return conflict(q.content())
	case q.ToolUseID != "" && (a.ToolUseID == nil || *a.ToolUseID != q.ToolUseID):
		return conflict("toolUseId")
	case q.conversation != "" && a.ConversationID != q.conversation:
		return conflict("conversation")
	case q.RunID != "" && (a.RunID == nil || *a.RunID != q.RunID):
		return conflict("run")
	case q.Session != "" && !inSession(a, q.Session):
		return conflict("session")
	case q.JobID != "" && orEmpty(a.JobID) != q.JobID && !a.Unasked(): // one only reported takes it
		return conflict("job")
	}
	return a, nil, nil
}

func idTaken(field string) error {
	return &models.Error{
		Code: models.CodeIDTaken, Text: "This " + field + " is in use elsewhere; choose another.",
		Fields: map[string]string{field: "is taken"},
	}
}

// content is what a digest covers, for a sentence.
func (q *asked) content() string {
	if q.Kind == models.KindQuestion {
		return "kind, tool, input, description or options"
	}
	return "kind, tool or input"
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Approval reads the current row of a request, for an actor who may see it. CodeNotFound for all others.
func (t *Tx) Approval(actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := t.Request(id)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, requests.NoSuchApproval(id)
	}
	sees, err := t.maySee(actor, &a.Response)
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, requests.NoSuchApproval(id)
	}
	return a, nil
}

// maySee is the same within a transaction.
func (t *Tx) maySee(actor models.Actor, r *models.Response) (bool, error) {
	return requests.MaySee(actor, r, func() (bool, error) { return db.Exists(t.Row(t.s.hot.isReviewer, actor.ID, r.ID)) })
}

// placeOf is the row of a response in the place that it was read in.
func (t *Tx) placeOf(r *models.Response) *gorm.DB {
	return t.Gorm().Model(&models.Response{}).Where("id = ? AND conversation_id = ? AND sequence = ?", r.ID,
		r.ConversationID, r.Sequence)
}

// updateOne is a compare-and-set: row names one row and the state that it leaves.
func (t *Tx) updateOne(row *gorm.DB, columns map[string]any) error {
	res := row.UpdateColumns(columns)
	if res.Error != nil {
		return res.Error
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return errors.New("it has left the state that it was read in")
	}
	return nil
}

// nullable stores an empty string as NULL, for columns with unique indexes.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
