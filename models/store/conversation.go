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
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// Conversation reads a conversation of any owner; nil: there is none. It checks no rights.
func (t *Tx) Conversation(id models.ConversationID) (*models.Conversation, error) {
	var c models.Conversation
	err := t.Gorm().Where("id = ?", id).Take(&c).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil //nolint:nilnil // no row is an answer here
	}
	if err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	return &c, nil
}

type statusEntry struct {
	Old   models.ConversationStatus `json:"old"`
	New   models.ConversationStatus `json:"new"`
	Cause models.Cause              `json:"cause,omitempty"`
	Waits bool                      `json:"waits,omitempty"` // for a request: running is shown as waiting_input
}

// SetStatus moves a conversation to a status, and records it if it is another
// than is stored: an outcome may have moved it since c was read. It is what the
// conversation is apart from requests that are pending (Shown).
func (t *Tx) SetStatus(
	actor models.Actor, c *models.Conversation, status models.ConversationStatus, cause models.Cause,
) error {
	var waits bool
	if err := t.QueryRowContext(context.Background(), statusQuery, c.ID).Scan(&c.Status, &waits); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	if c.Status == status {
		return nil
	}
	entry := statusEntry{Old: c.Status, New: status, Cause: cause, Waits: waits}
	c.Status, c.WaitsForRequest = status, false
	if err := t.Changes("conversations", c.ID); err != nil {
		return err
	}
	err := t.updateOne(t.Gorm().Model(&models.Conversation{}).Where("id = ? AND status = ?", c.ID, entry.Old),
		map[string]any{"status": status, "waits_for_request": false})
	if err != nil {
		return fmt.Errorf("store status: %w", err)
	}
	t.Publish(events.Agent(string(c.AgentID)), events.RecordOf(string(c.OwnerID)), events.RecordOfAdmins)
	t.changed(c.ID)
	return t.Record(actor, "conversation.status", ledger.Subject{Owner: c.OwnerID, Conversation: c.ID}, entry)
}

// changed tells those who look at a conversation.
func (t *Tx) changed(id models.ConversationID) { t.Publish(events.Conversation(string(id))) }

// WaitsForPerson reports whether a proposal, a budget request or an outside
// approval is pending in a conversation.
func (t *Tx) WaitsForPerson(id models.ConversationID) (bool, error) {
	latest, err := t.LatestPending(id)
	if latest != "" || err != nil {
		return latest != "", err
	}
	return db.Exists(t.Row(t.s.hot.pendingOutside, id))
}

// LatestPending is the most recent pending proposal or budget request of a
// conversation; empty when there is none.
func (t *Tx) LatestPending(id models.ConversationID) (models.ResponseID, error) {
	return t.rowID(t.Row(t.s.hot.latestSpoken, id, t.Now))
}

// outcomeReached is what an outcome means for its conversation: when no proposal,
// budget request or outside approval is pending any more, the built-in agent goes
// on, whatever else it rested for. An agent outside says itself when it goes on.
func (t *Tx) outcomeReached(actor models.Actor, a *models.Approval) error {
	if !a.Kind.Spoken() && a.UpstreamID == nil {
		return nil
	}
	waits, err := t.WaitsForPerson(a.ConversationID)
	if err != nil || waits {
		return err
	}
	c, err := t.Conversation(a.ConversationID)
	if err != nil {
		return err
	}
	if c.Status == models.ConversationCompleted || c.Status == models.ConversationFailed {
		return nil
	}
	goesOn := c.WaitsForRequest
	if c.Status == models.ConversationWaitingInput && !goesOn {
		if goesOn, err = db.Exists(t.QueryRowContext(context.Background(), builtInQuery, c.ID)); err != nil {
			return err
		}
	}
	if goesOn {
		if err := t.SetStatus(actor, c, models.ConversationRunning, ""); err != nil {
			return err
		}
	}
	return t.Wake(actor, c.ID)
}

const builtInQuery = `SELECT 1 FROM agent_inbox WHERE conversation_id = ?`

// Wake tells the built-in agent that something happened in a conversation that
// it runs. In any other, and in one that was stopped, it does nothing. What a
// person did lets it make as many turns as ever.
func (t *Tx) Wake(actor models.Actor, id models.ConversationID) error {
	res := t.Gorm().Exec(`UPDATE agent_inbox SET ready_at = ?, attempts = 0, turns = CASE WHEN ? THEN 0 ELSE turns END
 WHERE conversation_id = ? AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id AND c.status <> 'failed')`,
		t.Now, actor.IsPerson(), id)
	if res.Error != nil {
		return fmt.Errorf("wake the built-in agent: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		t.Publish(events.AgentInbox)
	}
	return nil
}

// namedConversation finds the conversation that a request names by id or run, or the agent's default one if it names
// none. Nil: to be opened. Look-ups stay within the asker's own conversations.
func (t *Tx) namedConversation(actor models.Actor, q *asked) (*models.Conversation, error) {
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
		return nil, models.Invalid("runId",
			"does not belong to the conversation that conversationId names; send one of the two")
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

// openConversation makes the conversation that a request names, or the agent's default one.
func (t *Tx) openConversation(actor models.Actor, q *asked) (*models.Conversation, error) {
	c := &models.Conversation{
		ID: q.conversation, OwnerID: actor.OwnerID, AgentID: actor.AgentID(),
		RunID: nullable(cmp.Or(q.RunID, q.Session)), Standing: q.namesNone(),
	}
	return c, t.OpenConversation(actor, c)
}

// OpenConversation stores a conversation that begins now: it runs, and gets its times, an id if it
// has none, and goes on after a rejection if nothing else is chosen.
func (t *Tx) OpenConversation(actor models.Actor, c *models.Conversation) error {
	if c.ID == "" {
		c.ID = models.NewID[models.ConversationID]()
	}
	c.Status, c.OnReject, c.NextSequence = models.ConversationRunning, cmp.Or(c.OnReject, models.OnRejectContinue), 1
	c.CreatedAt, c.UpdatedAt, c.ActiveAt = t.Now, t.Now, t.Now.Truncate(minute)
	if err := t.Gorm().Create(c).Error; err != nil {
		return fmt.Errorf("open conversation: %w", err)
	}
	t.Adds("conversations", c.ID)
	return t.Record(actor, "conversation.opened", ledger.Subject{Owner: c.OwnerID, Conversation: c.ID}, openedData(c))
}

// StandingConversation is an agent's own, to which belongs what names no conversation. It is opened
// if there is none, and then does after a rejection what onReject says.
func (t *Tx) StandingConversation(agent models.Actor, onReject string) (*models.Conversation, error) {
	c, err := scanConversation(t.Row(t.s.hot.conversationByRest, agent.ID))
	if c != nil || err != nil {
		return c, err
	}
	c = &models.Conversation{OwnerID: agent.OwnerID, AgentID: agent.AgentID(), OnReject: onReject, Standing: true}
	return c, t.OpenConversation(agent, c)
}

// FindRun finds a run of an agent's by the id of its conversation, by its own, or by both; nil: there
// is none. Codes: other_agent, id_taken, invalid.
func (t *Tx) FindRun(actor models.Actor, id models.ConversationID, run string) (*models.Conversation, error) {
	return t.namedConversation(actor, &asked{AskInput: models.AskInput{RunID: run}, conversation: id})
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
		Run: models.DigestOfText(orEmpty(c.RunID)), Parent: models.DigestOfText(orEmpty(c.ParentRunID)),
		Title: models.DigestOfText(c.Title),
	}
}

// A conversation with an undecided request is shown as waiting_input. That is read from the index of pending requests
// and never stored: the entry of the ask or outcome with which the waiting begins or ends records the change (I7).
const (
	undecided = `EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
 WHERE p.conversation_id = conversations.id AND p.approval_status = 'pending')`
	// shownRunning is true of a conversation that is shown as running: the next ask
	// makes it wait, or the last outcome has just made it go on.
	shownRunning = `(status = 'running' AND NOT ` + undecided + `)`
	statusQuery  = `SELECT status, ` + undecided + ` FROM conversations WHERE id = ?`
)

// isRunning reports whether a conversation is shown as running now.
func (t *Tx) isRunning(id models.ConversationID) (runs bool, err error) {
	if err := t.Row(t.s.hot.runs, id).Scan(&runs); err != nil {
		return false, fmt.Errorf("read status: %w", err)
	}
	return runs, nil
}

// waitBegins is the change of status that a request brings as the first in its
// conversation; nil: there is none. running is from before it was stored.
func waitBegins(a *models.Approval, runs bool) *models.StatusChange {
	if !runs || a.Status() != models.StatusPending {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationRunning, New: models.ConversationWaitingInput}
}

// waitEnds is the change of status that the last outcome of a conversation brings;
// nil: there is none. running is from after it.
func waitEnds(runs bool) *models.StatusChange {
	if !runs {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationWaitingInput, New: models.ConversationRunning}
}

// waitEndsFor is waitEnds where a row has left its conversation for another.
func waitEndsFor(a *models.Approval, runs bool) *models.StatusChange {
	return waitEnds(runs && a.Status() == models.StatusPending)
}

// ShowStatus turns the stored status of a conversation into the one that readers
// are told.
func (t *Tx) ShowStatus(c *models.Conversation) error {
	if c == nil {
		return nil
	}
	var waits bool
	if err := t.QueryRowContext(context.Background(), statusQuery, c.ID).Scan(&c.Status, &waits); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	c.Status = c.Status.Shown(waits)
	return nil
}
