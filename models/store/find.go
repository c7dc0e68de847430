package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// findAsk looks for the row that a request repeats (I9), else for the
// conversation that it belongs to; both nil: a conversation is to be opened.
func (t *tx) findAsk(actor models.Actor, q *asked) (*models.Approval, *models.Conversation, error) {
	if q.id != "" {
		standing, err := t.existing(q.id)
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
		return a, nil, err // nil: new in the agent's standing conversation
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
			a, err := t.existing(id)
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
			// A person is asked for, beside a call that went ahead for want of a rule.
		}
	}
	if conv == nil {
		return nil, nil, nil
	}
	id, err := t.rowID(t.Row(t.s.hot.byToolUse, conv.ID, q.ToolUseID))
	if err != nil {
		return nil, nil, err
	}
	if id == "" {
		return nil, conv, nil
	}
	a, err := t.existing(id)
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

func (t *tx) rowID(row *sql.Row) (id models.ResponseID, err error) {
	if err := row.Scan(&id); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for a repeat: %w", err)
	}
	return id, nil
}

// existing reads a row whoever it belongs to; nil when there is none.
func (t *tx) existing(id models.ResponseID) (*models.Approval, error) {
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
func (t *tx) repeatedCall(actor models.Actor, q *asked) (*models.Approval, error) {
	id, err := t.rowID(t.Row(t.s.hot.byCallID, actor.ID, q.ToolUseID))
	if err != nil || id == "" {
		return nil, err
	}
	a, err := t.existing(id)
	if err != nil {
		return nil, err
	}
	if a.Digest != q.digestUnder(a.DigestVersion) {
		return nil, &models.Error{
			Code: models.CodeKeyConflict, Text: "A request with this call_id exists with a different " + q.content() + "; nothing was changed.", Approval: requests.At(a, t.Now),
		}
	}
	return a, nil
}

// repeated checks that a request that meets a standing row is that same request.
func (t *tx) repeated(actor models.Actor, q *asked, a *models.Approval) (*models.Approval, *models.Conversation, error) {
	if a.AgentID != actor.AgentID() {
		return nil, nil, idTaken("approvalId")
	}
	if q.usedUp(a) { // by an approvalId, which names one row for good
		return nil, nil, &models.Error{
			Code: models.CodeKeyConflict, Text: "The call of this request has run, so its approvalId is used up: ask under a new one.", Approval: requests.At(a, t.Now),
		}
	}
	conflict := func(what string) (*models.Approval, *models.Conversation, error) {
		return nil, nil, &models.Error{
			Code: models.CodeKeyConflict, Text: "A request with this key exists with a different " + what + "; nothing was changed.",
			Approval: requests.At(a, t.Now),
		}
	}
	if a.Digest == q.digestUnder(a.DigestVersion) && q.losesEdit(a) {
		return nil, nil, &models.Error{
			Code: models.CodeKeyConflict, Text: "A request with this key was asked by a client that takes another input than it sent, and this one does not: send acceptsEdits and run decision.input, or ask under another key.",
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
	return &models.Error{Code: models.CodeIDTaken, Text: "This " + field + " is in use elsewhere; choose another.", Fields: map[string]string{field: "is taken"}}
}

// namedConversation finds the conversation that a request names by id or run, or
// the agent's standing one if it names none. Nil: to be opened. Look-ups stay
// within the asker's own conversations.
func (t *tx) namedConversation(actor models.Actor, q *asked) (*models.Conversation, error) {
	if q.namesNone() {
		return scanConversation(t.Row(t.s.hot.conversationByRest, actor.ID))
	}
	if q.Session != "" {
		return t.sessionConversation(actor, q.Session)
	}
	var byID, byRun *models.Conversation
	var err error
	if q.conversation != "" {
		if byID, err = scanConversation(t.Row(t.s.hot.conversation, q.conversation)); err != nil {
			return nil, err
		}
		if err := ownConversation(actor, byID); err != nil {
			return nil, err
		}
	}
	if q.RunID == "" {
		return byID, nil
	}
	if byRun, err = scanConversation(t.Row(t.s.hot.conversationByRun, actor.OwnerID, q.RunID)); err != nil {
		return nil, err
	}
	if err := ownConversation(actor, byRun); err != nil {
		return nil, err
	}
	if q.conversation == "" {
		return byRun, nil
	}
	if (byID == nil) != (byRun == nil) || (byID != nil && byID.ID != byRun.ID) {
		return nil, models.Invalid("runId", "does not belong to the conversation that conversationId names; send one of the two")
	}
	return byID, nil
}

func ownConversation(actor models.Actor, c *models.Conversation) error {
	switch {
	case c == nil || c.AgentID == actor.AgentID():
		return nil
	case c.OwnerID == actor.OwnerID:
		return models.Errorf(models.CodeOtherAgent, "This conversation belongs to another agent of the same owner.")
	}
	return idTaken("conversationId")
}

// openConversation makes the conversation that a request names, or the agent's
// standing one.
func (t *tx) openConversation(actor models.Actor, q *asked) (*models.Conversation, error) {
	c := &models.Conversation{
		ID: q.conversation, OwnerID: actor.OwnerID, AgentID: actor.AgentID(), RunID: nullable(cmp.Or(q.RunID, q.Session)),
		ParentRunID: nullable(q.parentRunID), Title: q.title, Status: models.ConversationRunning,
		OnReject: cmp.Or(q.onReject, models.OnRejectContinue), OnRejectBy: q.onRejectBy, NextSequence: 1, Standing: q.namesNone(),
	}
	openedAt(c, t.Now)
	if c.ID == "" {
		c.ID = models.NewID[models.ConversationID]()
	}
	if err := t.Gorm().Create(c).Error; err != nil {
		return nil, fmt.Errorf("open conversation: %w", err)
	}
	t.adds("conversations", c.ID)
	return c, t.record(actor, "conversation.opened", ledger.Subject{Owner: c.OwnerID, Conversation: c.ID}, openedData(c))
}

// scanConversation reads a conversation; nil when there is none.
func scanConversation(row *sql.Row) (*models.Conversation, error) {
	var c models.Conversation
	err := row.Scan(requests.ConversationRow.Targets(&c)...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // no row is an answer here
	}
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	return &c, nil
}

// content is what a digest covers, for a sentence.
func (q *asked) content() string {
	if q.Kind == models.KindQuestion {
		return "kind, tool, input, description or options"
	}
	return "kind, tool or input"
}

// FindInvocation finds a request by the agent's own name for the call, among
// what the actor may see, and returns it as it holds now. session, a
// conversation's id or a run id, may be empty where the name stands in one
// session only.
//
// Codes: invalid, not_found, ambiguous_session.
func (s *Store) FindInvocation(ctx context.Context, actor models.Actor, toolUseID, session string) (*models.Approval, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only agents and people look up requests.")
	}
	if err := models.CheckKey("toolUseId", toolUseID); err != nil {
		return nil, err
	}
	if session != "" {
		if err := models.CheckKey("sessionId", session); err != nil {
			return nil, err
		}
	}
	for _, q := range invocationQueries(actor, toolUseID, session) {
		ids, err := s.responseIDs(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case len(ids) > 1 && session == "":
			return nil, models.Errorf(models.CodeAmbiguousSession, "This tool use id exists in more than one session: send session_id.")
		case len(ids) > 1:
			return nil, models.Errorf(models.CodeAmbiguousSession, "More than one owner has a run with this name: send the conversation's id as session_id.")
		case len(ids) == 1:
			return s.Requests.Approval(ctx, actor, ids[0])
		}
	}
	return nil, models.Errorf(models.CodeNotFound, "There is no request with this tool use id.")
}

// invocationQueries give at most two ids each; the first that finds any tells.
// The cost of each follows the number of agents or people, not of requests.
func invocationQueries(actor models.Actor, toolUseID, session string) []db.Part {
	if session == "" {
		return []db.Part{invocationAnywhere(actor, toolUseID)}
	}
	sees := requests.SeenBy(actor, `r`)
	var out []db.Part
	for _, conversations := range sessions(actor, session) {
		args := append(append([]any{}, conversations.Args...), toolUseID)
		out = append(out, db.Say(
			`SELECT r.id FROM (`+conversations.Text+`) k CROSS JOIN responses r`+db.ByResponsesToolUse+`
 ON r.conversation_id = k.id AND r.tool_use_id = ? WHERE `+sees.Text+` AND `+isLatestUse+` LIMIT 2`,
			append(args, sees.Args...)...,
		))
	}
	return out
}

func invocationAnywhere(actor models.Actor, toolUseID string) db.Part {
	const ofAgents = `SELECT r.id FROM agents g CROSS JOIN responses r` + db.ByResponsesAgentToolUse + ` ON r.agent_id = g.id AND r.tool_use_id = ? AND ` + isLatestUse
	switch {
	case actor.IsAgent():
		return db.Say(`SELECT r.id FROM responses r`+db.ByResponsesAgentToolUse+` WHERE r.agent_id = ? AND r.tool_use_id = ? AND `+isLatestUse+` LIMIT 2`, actor.ID, toolUseID)
	case actor.Admin:
		return db.Say(ofAgents+` LIMIT 2`, toolUseID)
	}
	return db.Say(ofAgents+` WHERE g.owner_id = ?
 UNION ALL SELECT r.id FROM reviewers v`+db.ByReviewersToolUse+` JOIN responses r ON r.id = v.response_id WHERE v.user_id = ? AND v.tool_use_id = ? AND `+isLatestUse+` LIMIT 2`, toolUseID, actor.ID, actor.ID, toolUseID)
}

func (s *Store) responseIDs(ctx context.Context, q db.Part) ([]models.ResponseID, error) {
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), q.Text, q.Args...)
	if err != nil {
		return nil, fmt.Errorf("look up a tool use id: %w", err)
	}
	defer rows.Close()
	var ids []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("look up a tool use id: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look up a tool use id: %w", err)
	}
	return ids, nil
}

// openedEntry is what the ledger says of a conversation that was opened.
type openedEntry struct {
	Standing bool           `json:"standing"`
	Agent    models.AgentID `json:"agent"`
	OnReject string         `json:"on_reject"`
	ChosenBy string         `json:"on_reject_by"`
	Run      string         `json:"run_digest,omitempty"`
	Parent   string         `json:"parent_digest,omitempty"`
	Title    string         `json:"title_digest,omitempty"`
}

func openedData(c *models.Conversation) openedEntry {
	return openedEntry{
		Standing: c.Standing, Agent: c.AgentID, OnReject: c.OnReject, ChosenBy: c.OnRejectBy,
		Run: models.DigestOfText(orEmpty(c.RunID)), Parent: models.DigestOfText(orEmpty(c.ParentRunID)), Title: models.DigestOfText(c.Title),
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// approval reads one within a transaction, as it stands, for an actor who may
// see it.
func (t *tx) approval(actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := t.existing(id)
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
func (t *tx) maySee(actor models.Actor, r *models.Response) (bool, error) {
	return requests.MaySee(actor, r, func() (bool, error) { return db.Exists(t.Row(t.s.hot.isReviewer, actor.ID, r.ID)) })
}

// placeOf is the row of a response in the place that it was read in.
func (t *tx) placeOf(r *models.Response) *gorm.DB {
	return t.Gorm().Model(&models.Response{}).Where("id = ? AND conversation_id = ? AND sequence = ?", r.ID, r.ConversationID, r.Sequence)
}

// updateOne is a compare-and-set: row names one row and the state that it leaves.
func (t *tx) updateOne(row *gorm.DB, columns map[string]any) error {
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
