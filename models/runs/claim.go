package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

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

	claimQuery = `SELECT ` + runColumns + runsReady +
		` AND i.ready_at <= ? AND (i.leased_until IS NULL OR i.leased_until <= ?)
 ORDER BY i.ready_at LIMIT 1`
	// Ready runs are few, and mostly under way: they may be sorted.
	nextRunQuery = `SELECT i.ready_at, i.leased_until` + runsReady +
		` ORDER BY max(i.ready_at, coalesce(i.leased_until, i.ready_at)) LIMIT 1`
	leaseQuery = `SELECT 1 FROM agent_inbox WHERE conversation_id = ? AND lease = ? AND holder = ?`
)

// ClaimRun gives holder the conversation that has been ready longest, until ttl
// is over or the run is given back: a later claim of the same one takes it over.
// Energy that a dead holder had reserved is free again. Nil: nothing is ready.
func (r *Runs) ClaimRun(ctx context.Context, holder string, ttl time.Duration) (*models.Run, error) {
	if holder == "" || ttl <= 0 {
		return nil, models.Errorf(models.CodeInvalid, "Only a holder can claim a run, for a limited time.")
	}
	var out *models.Run
	err := r.write(ctx, func(t *tx) error {
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
		return t.FreeEnergy(r.ConversationID)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// NextRun is when the next run can be claimed: now or earlier for one that is
// ready, the end of its lease for one that somebody holds. False: none.
func (r *Runs) NextRun(ctx context.Context) (time.Time, bool, error) {
	var ready time.Time
	var leaseUntil *time.Time
	err := r.db.Reads().QueryRowContext(context.WithoutCancel(ctx), nextRunQuery).Scan(&ready, &leaseUntil)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("look for the next run: %w", err)
	}
	if leaseUntil != nil && leaseUntil.After(ready) {
		ready = *leaseUntil
	}
	return ready, true, nil
}

// RenewRun holds the run for another ttl. CodeConflict if it was taken over, or
// if the conversation was paused or stopped: then the holder gives up at once.
func (r *Runs) RenewRun(ctx context.Context, run *models.Run, ttl time.Duration) error {
	return r.write(ctx, func(t *tx) error {
		if _, err := t.held(run); err != nil {
			return err
		}
		if err := t.Gorm().Exec(`UPDATE agent_inbox SET leased_until = ? WHERE conversation_id = ?`, t.Now.Add(ttl),
			run.ConversationID).Error; err != nil {
			return fmt.Errorf("renew run: %w", err)
		}
		return nil
	})
}

// CheckRun tells whether the holder may go on, as RenewRun does, and changes
// nothing.
func (r *Runs) CheckRun(ctx context.Context, run *models.Run) error {
	ctx = context.WithoutCancel(ctx)
	valid, err := db.Exists(r.db.Reads().QueryRowContext(ctx, leaseQuery, run.ConversationID, run.Lease, run.Holder))
	if err != nil {
		return err
	}
	var c models.Conversation
	if err := r.db.Gorm(ctx).Where("id = ?", run.ConversationID).Take(&c).Error; err != nil {
		return fmt.Errorf("read conversation: %w", err)
	}
	return mayRun(valid, &c)
}

// ReleaseRun gives the run back unchanged, with the energy that was reserved for it: a ready run stays ready. It does
// nothing if another caller has taken the run over.
func (r *Runs) ReleaseRun(ctx context.Context, run *models.Run) error {
	return r.write(ctx, func(t *tx) error {
		valid, err := t.leased(run)
		if err != nil || !valid {
			return err
		}
		t.Publish(events.AgentInbox)
		return t.giveBack(run, ready)
	})
}

// RestRun ends a run that can't go on without help: text tells people why, in the conversation, which waits for them.
// A model that failed is counted.
func (r *Runs) RestRun(ctx context.Context, run *models.Run, text string, failed bool) error {
	return r.write(ctx, func(t *tx) error {
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		if failed {
			if err := t.Gorm().Exec(`UPDATE agent_inbox SET attempts = attempts + 1 WHERE conversation_id = ?`,
				conv.ID).Error; err != nil {
				return fmt.Errorf("count attempt: %w", err)
			}
		}
		if err := t.notice(conv, text); err != nil {
			return err
		}
		if err := t.SetStatus(run.Actor(), conv, models.ConversationWaitingInput, ""); err != nil {
			return err
		}
		return t.giveBack(run, waits)
	})
}

// IdleRun ends a run with nothing left to do: the model has answered every message.
func (r *Runs) IdleRun(ctx context.Context, run *models.Run, seen *models.RunContext) error {
	return r.write(ctx, func(t *tx) error {
		conv, err := t.held(run)
		if err != nil {
			return err
		}
		return t.goOn(run, conv, seen, nil)
	})
}

// held checks that the run is still its holder's and may go on.
func (t *tx) held(run *models.Run) (*models.Conversation, error) {
	valid, err := t.leased(run)
	if err != nil {
		return nil, err
	}
	conv, err := t.Conversation(run.ConversationID)
	if err != nil {
		return nil, err
	}
	return conv, mayRun(valid, conv)
}

func (t *tx) leased(run *models.Run) (bool, error) {
	return db.Exists(t.QueryRowContext(context.Background(), leaseQuery, run.ConversationID, run.Lease, run.Holder))
}

func mayRun(hasLease bool, conv *models.Conversation) error {
	switch {
	case !hasLease || conv == nil:
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

// giveBack ends the lease and frees the reserved energy.
func (t *tx) giveBack(run *models.Run, stays bool) error {
	set := `UPDATE agent_inbox SET holder = '', leased_until = NULL`
	if !stays {
		set += `, ready_at = NULL`
	}
	if err := t.Gorm().Exec(set+` WHERE conversation_id = ?`, run.ConversationID).Error; err != nil {
		return fmt.Errorf("give run back: %w", err)
	}
	return t.FreeEnergy(run.ConversationID)
}

// notice is a line of the loop itself, for the people who read the conversation.
func (t *tx) notice(conv *models.Conversation, text string) error {
	_, err := t.addMessage(models.System("agent"), conv, text, nil)
	return err
}
