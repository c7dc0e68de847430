package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// The inbox of the built-in agent: conversations in which it has something to
// do. One that is paused waits, however long it has been ready.
const (
	runColumns = `i.conversation_id, c.owner_id, c.agent_id, i.lease, i.holder, i.turns, i.attempts`
	runsReady  = ` FROM agent_inbox i` + db.ByAgentInboxReady + ` JOIN conversations c ON c.id = i.conversation_id
 WHERE i.ready_at IS NOT NULL AND c.paused_at IS NULL AND c.status <> 'failed'`

	claimQuery = `SELECT ` + runColumns + runsReady + ` AND i.ready_at <= ? AND (i.leased_until IS NULL OR i.leased_until <= ?)
 ORDER BY i.ready_at LIMIT 1`
	// What is ready is few, and under way for the most part: it may be sorted.
	nextRunQuery = `SELECT i.ready_at, i.leased_until` + runsReady + ` ORDER BY max(i.ready_at, coalesce(i.leased_until, i.ready_at)) LIMIT 1`
	leaseQuery   = `SELECT 1 FROM agent_inbox WHERE conversation_id = ? AND lease = ? AND holder = ?`
)

// ClaimRun gives holder the conversation that has been ready longest, until ttl
// is over or the run is given back: a later claim of the same one takes it over.
// Energy that a dead holder had reserved is free again. Nil: nothing is ready.
func (s *Store) ClaimRun(ctx context.Context, holder string, ttl time.Duration) (*models.Run, error) {
	if holder == "" || ttl <= 0 {
		return nil, models.Errorf(models.CodeInvalid, "Only a holder can claim a run, for a limited time.")
	}
	var out *models.Run
	err := s.write(ctx, func(t *tx) error {
		out = nil
		var r models.Run
		err := t.QueryRowContext(context.Background(), claimQuery, t.Now, t.Now).
			Scan(&r.ConversationID, &r.OwnerID, &r.AgentID, &r.Lease, &r.Holder, &r.Turns, &r.Attempts)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for a run: %w", err)
		}
		r.Lease, r.Holder = r.Lease+1, holder
		if err := t.Gorm().Exec(`UPDATE agent_inbox SET lease = ?, holder = ?, leased_until = ? WHERE conversation_id = ?`,
			r.Lease, r.Holder, t.Now.Add(ttl), r.ConversationID).Error; err != nil {
			return fmt.Errorf("claim run: %w", err)
		}
		out = &r
		return t.unreserve(r.ConversationID)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NextRun is when the next run can be claimed: now or earlier for one that is
// ready, the end of its lease for one that somebody holds. False: none.
func (s *Store) NextRun(ctx context.Context) (time.Time, bool, error) {
	var ready time.Time
	var leased *time.Time
	err := s.db.Reads().QueryRowContext(context.WithoutCancel(ctx), nextRunQuery).Scan(&ready, &leased)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("look for the next run: %w", err)
	}
	if leased != nil && leased.After(ready) {
		ready = *leased
	}
	return ready, true, nil
}

// RenewRun holds the run for another ttl. CodeConflict if it was taken over, or
// if the conversation was paused or stopped: then the holder gives up at once.
func (s *Store) RenewRun(ctx context.Context, run *models.Run, ttl time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.held(run); err != nil {
			return err
		}
		if err := t.Gorm().Exec(`UPDATE agent_inbox SET leased_until = ? WHERE conversation_id = ?`, t.Now.Add(ttl), run.ConversationID).Error; err != nil {
			return fmt.Errorf("renew run: %w", err)
		}
		return nil
	})
}

// CheckRun tells whether the holder may go on, as RenewRun does, and changes
// nothing.
func (s *Store) CheckRun(ctx context.Context, run *models.Run) error {
	ctx = context.WithoutCancel(ctx)
	stands, err := db.Exists(s.db.Reads().QueryRowContext(ctx, leaseQuery, run.ConversationID, run.Lease, run.Holder))
	if err != nil {
		return err
	}
	var c models.Conversation
	if err := s.db.Gorm(ctx).Where("id = ?", run.ConversationID).Take(&c).Error; err != nil {
		return fmt.Errorf("read conversation: %w", err)
	}
	return mayRun(stands, &c)
}

// ReleaseRun gives the run back as it is, with the energy that was reserved for
// it: what is ready stays ready. It does nothing where the run was taken over.
func (s *Store) ReleaseRun(ctx context.Context, run *models.Run) error {
	return s.write(ctx, func(t *tx) error {
		stands, err := t.leased(run)
		if err != nil || !stands {
			return err
		}
		t.Publish(events.AgentInbox)
		return t.giveBack(run, ready)
	})
}

// RestRun ends a run that cannot go on by itself: text tells people why, in the
// conversation, which waits for them. A model that failed is counted.
func (s *Store) RestRun(ctx context.Context, run *models.Run, text string, failed bool) error {
	return s.write(ctx, func(t *tx) error {
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		if failed {
			if err := t.Gorm().Exec(`UPDATE agent_inbox SET attempts = attempts + 1 WHERE conversation_id = ?`, conv.ID).Error; err != nil {
				return fmt.Errorf("count attempt: %w", err)
			}
		}
		if err := t.notice(conv, text); err != nil {
			return err
		}
		if err := t.setStatus(run.Actor(), conv, models.ConversationWaitingInput, ""); err != nil {
			return err
		}
		return t.giveBack(run, waits)
	})
}

// IdleRun ends a run in which nothing is left to do: nobody has said anything
// that the model has not answered.
func (s *Store) IdleRun(ctx context.Context, run *models.Run, seen *models.RunContext) error {
	return s.write(ctx, func(t *tx) error {
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		return t.goOn(run, conv, seen, nil)
	})
}

// held checks that the run is still its holder's and may go on.
func (t *tx) held(run *models.Run) (*models.Conversation, error) {
	stands, err := t.leased(run)
	if err != nil {
		return nil, err
	}
	conv, err := t.fullConversation(run.ConversationID)
	if err != nil {
		return nil, err
	}
	return conv, mayRun(stands, conv)
}

func (t *tx) leased(run *models.Run) (bool, error) {
	return db.Exists(t.QueryRowContext(context.Background(), leaseQuery, run.ConversationID, run.Lease, run.Holder))
}

func mayRun(leased bool, conv *models.Conversation) error {
	switch {
	case !leased || conv == nil:
		return models.Errorf(models.CodeConflict, "The run was taken over.")
	case conv.PausedAt != nil:
		return models.Errorf(models.CodeConflict, "The conversation is paused.")
	case conv.Status == models.ConversationFailed:
		return models.Errorf(models.CodeConflict, "The conversation was stopped.")
	}
	return nil
}

// How a run is given back.
const (
	waits = false // until somebody does something
	ready = true
)

// giveBack ends the lease and frees what was reserved.
func (t *tx) giveBack(run *models.Run, stays bool) error {
	set := `UPDATE agent_inbox SET holder = '', leased_until = NULL`
	if !stays {
		set += `, ready_at = NULL`
	}
	if err := t.Gorm().Exec(set+` WHERE conversation_id = ?`, run.ConversationID).Error; err != nil {
		return fmt.Errorf("give run back: %w", err)
	}
	return t.unreserve(run.ConversationID)
}

// unreserve frees what is reserved in a conversation of the built-in agent,
// where there is one reservation at most.
func (t *tx) unreserve(id models.ConversationID) error {
	res := t.Gorm().Exec(`UPDATE conversations SET energy_reserved = 0 WHERE id = ? AND energy_reserved > 0`, id)
	if res.Error != nil {
		return fmt.Errorf("free reserved energy: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		t.changed(id)
	}
	return nil
}

// notice is a line of the loop itself, for the people who read the conversation.
func (t *tx) notice(conv *models.Conversation, text string) error {
	_, err := t.addMessage(models.System("agent"), conv, text, nil)
	return err
}

// OpenRun opens a run of the agent's as a conversation, or finds the one that
// stands; opened tells which. One that stands, perhaps opened by a request, is
// given the parent, the title and the budget that it did not have, and another
// onReject if one is named; another parent is a conflict, and a title or budget
// that stands stays.
//
// Codes: forbidden (agents only), invalid, other_agent, id_taken, key_conflict.
func (s *Store) OpenRun(ctx context.Context, actor models.Actor, in models.RunInput) (conv *models.Conversation, opened bool, err error) {
	if !actor.IsAgent() {
		return nil, false, models.Errorf(models.CodeForbidden, "Only an agent's token may open a run.")
	}
	q, err := checkRun(in)
	if err != nil {
		return nil, false, err
	}
	err = s.write(ctx, func(t *tx) error {
		conv, opened = nil, false
		found, err := t.namedConversation(actor, q)
		if err != nil {
			return err
		}
		if found != nil {
			if conv, err = t.foundRun(actor, found.ID, in); err != nil {
				return err
			}
			return t.showStatus(conv)
		}
		if err := t.s.quota.admitRun(t.Now, actor); err != nil {
			return err
		}
		opened = true
		conv, err = t.newRun(actor, q, in)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return conv, opened, nil
}

// checkRun does everything that needs no database.
func checkRun(in models.RunInput) (*asked, error) {
	q := &asked{AskInput: models.AskInput{ConversationID: in.ID, RunID: in.RunID}}
	if in.RunID == "" {
		return nil, models.Invalid("runId", "is required")
	}
	if in.ID != "" {
		if _, err := models.ParseID[models.ConversationID]("id", in.ID); err != nil {
			return nil, err
		}
	}
	if err := q.checkKeys(); err != nil {
		return nil, err
	}
	if in.ParentRunID != "" {
		if err := models.CheckKey("parentRunId", in.ParentRunID); err != nil {
			return nil, err
		}
		if in.ParentRunID == in.RunID {
			return nil, models.Invalid("parentRunId", "must be another run than runId")
		}
	}
	if err := checkTitle(in.Title); err != nil {
		return nil, err
	}
	if b := in.EnergyBudget; b != nil && (*b < 0 || *b > models.MaxBudget) {
		return nil, models.Invalid("energyBudget", "must be from 0 to %d", int64(models.MaxBudget))
	}
	for field, choice := range map[string]string{"onReject": in.OnReject, "onRejectDefault": in.OnRejectDefault} {
		switch choice {
		case "", models.OnRejectCascade, models.OnRejectContinue:
		default:
			return nil, models.Invalid(field, "must be cascade or continue")
		}
	}
	return q, nil
}

func checkTitle(title string) error {
	if err := models.CheckText("title", title, models.MaxTitle*utf8.UTFMax); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(title); n > models.MaxTitle {
		return models.Invalid("title", "is %d characters long; at most %d are allowed", n, models.MaxTitle)
	}
	return nil
}

// foundRun is a run that stands already. Another parent would be another run.
func (t *tx) foundRun(actor models.Actor, id models.ConversationID, in models.RunInput) (*models.Conversation, error) {
	conv, err := t.fullConversation(id)
	if err != nil {
		return nil, err
	}
	columns := map[string]any{}
	if in.ParentRunID != "" {
		switch {
		case conv.ParentRunID == nil:
			// It was opened by an ask, which names no parent.
			conv.ParentRunID, columns["parent_run_id"] = &in.ParentRunID, in.ParentRunID
		case *conv.ParentRunID != in.ParentRunID:
			return nil, &models.Error{Code: models.CodeKeyConflict, Text: "This run exists with a different parent; nothing was changed.", Fields: map[string]string{"parentRunId": "differs"}}
		}
	}
	if conv.Title == "" && in.Title != "" {
		conv.Title, columns["title"] = in.Title, in.Title
	}
	chooseOnReject(conv, in, columns)
	if len(columns) > 0 {
		if err := t.setColumns(actor, conv, columns, "conversation.described", described(conv)); err != nil {
			return nil, err
		}
	}
	if in.EnergyBudget == nil || conv.EnergyBudget != nil {
		return conv, nil
	}
	return conv, t.changeBudget(actor, conv, *in.EnergyBudget, "", nil)
}

// chooseOnReject takes what the agent says of rejections. What a person chose
// stays, and what nobody chose is the default that the agent names.
func chooseOnReject(conv *models.Conversation, in models.RunInput, columns map[string]any) {
	choice, by := in.OnReject, models.OnRejectByAgent
	if choice == "" && conv.OnRejectBy == "" {
		choice, by = in.OnRejectDefault, ""
	}
	if choice == "" || conv.OnRejectBy == models.OnRejectByPerson || choice == conv.OnReject && by == conv.OnRejectBy {
		return
	}
	conv.OnReject, conv.OnRejectBy = choice, by
	columns["on_reject"], columns["on_reject_by"] = choice, by
}

// described is what the ledger says of a conversation that was described anew.
func described(c *models.Conversation) map[string]any {
	return map[string]any{
		"on_reject": c.OnReject, "on_reject_by": c.OnRejectBy, "title_digest": models.DigestOfText(c.Title), "parent_digest": models.DigestOfText(orEmpty(c.ParentRunID)),
	}
}

func (t *tx) newRun(actor models.Actor, q *asked, in models.RunInput) (*models.Conversation, error) {
	q.title, q.parentRunID, q.onReject = in.Title, in.ParentRunID, cmp.Or(in.OnReject, in.OnRejectDefault)
	if in.OnReject != "" {
		q.onRejectBy = models.OnRejectByAgent
	}
	found, err := t.openConversation(actor, q)
	if err != nil || in.EnergyBudget == nil {
		return found, err
	}
	return found, t.changeBudget(actor, found, *in.EnergyBudget, "", nil)
}
