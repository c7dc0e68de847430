package requests

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// StandingVote is the verdict that holds a request.
const StandingVote = `SELECT * FROM votes WHERE response_id = ? AND withdrawn_at IS NULL AND waits_for = '' ORDER BY at DESC LIMIT 1`

// HeldVerdicts gives a person the verdicts that hold requests which were read, as
// their Vote; UndoUntil is set while that may still be taken back. An agent is not
// to know that there is one. Settled requests get the signatures of several people.
func (rs *Requests) HeldVerdicts(ctx context.Context, actor models.Actor, read ...*models.Approval) error {
	if !actor.IsPerson() {
		return nil
	}
	now := rs.db.Now()
	for _, a := range read {
		if a.HeldUntil == nil || a.Status() != models.StatusPending {
			continue
		}
		var votes []models.Vote
		if err := rs.db.Gorm(ctx).Raw(StandingVote, a.ID).Scan(&votes).Error; err != nil {
			return fmt.Errorf("read decision: %w", err)
		}
		a.Vote = WindowAt(FirstVote(votes), now)
	}
	return rs.signatures(ctx, read)
}

// WindowAt is the state of a verdict at now: an undo window that is over is removed.
func WindowAt(v *models.Vote, now time.Time) *models.Vote {
	if v != nil && v.UndoUntil != nil && !now.Before(*v.UndoUntil) {
		v.UndoUntil = nil
	}
	return v
}

// FirstVote is the one that a query found; nil: none.
func FirstVote(votes []models.Vote) *models.Vote {
	if len(votes) == 0 {
		return nil
	}
	return &votes[0]
}

var signaturesEach = `SELECT v.* FROM ` + db.Each(`?`) + ` CROSS JOIN votes v ON v.response_id = j.value
 WHERE v.withdrawn_at IS NULL ORDER BY v.at, v.id`

// signatures gives settled requests that several people signed their signatures.
func (rs *Requests) signatures(ctx context.Context, rows []*models.Approval) error {
	var ids []models.ResponseID
	settled := map[models.ResponseID]*models.Approval{}
	for _, a := range rows {
		if a.QuorumJSON != "" && a.Status().Final() {
			ids, settled[a.ID], a.Signatures = append(ids, a.ID), a, nil
		}
	}
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	var votes []models.Vote
	if err := rs.db.Gorm(ctx).Raw(signaturesEach, string(list)).Scan(&votes).Error; err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	for i := range votes {
		a := settled[votes[i].ResponseID]
		a.Signatures = append(a.Signatures, votes[i])
	}
	return nil
}
