package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// approvalScan holds the targets of one row of approvalColumns. It is reused, so that the targets are not built again
// for each row.
type approvalScan struct {
	a          models.Approval
	vote, note *db.Optional
	into       []any
}

var approvalScans = sync.Pool{New: func() any {
	s := &approvalScan{vote: VoteRow.Optional(), note: noteRow.Optional()}
	s.into = slices.Concat(ResponseRow.Targets(&s.a.Response),
		[]any{&s.a.RunID, &s.a.ConversationTitle, &s.a.AgentName, &s.a.OwnerName, &s.a.Stopped}, s.vote.Targets(),
		s.note.Targets())
	return s
}}

// ScanApproval reads approvalColumns, in their order.
func ScanApproval(row db.Scanner) (*models.Approval, error) {
	s := approvalScans.Get().(*approvalScan) //nolint:forcetypeassert // New makes no other
	if err := row.Scan(s.into...); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			approvalScans.Put(s)
		}
		return nil, err // a partly scanned row is not reused
	}
	a := s.a
	s.a = models.Approval{}
	if a.VoteID != nil {
		a.Vote = &models.Vote{}
		s.vote.Take(a.Vote)
	}
	if a.OpenNote != nil {
		a.Note = &models.Note{}
		s.note.Take(a.Note)
	}
	approvalScans.Put(s)
	return &a, nil
}

// At is the approval as it holds at now (I3).
func At(a *models.Approval, now time.Time) *models.Approval {
	if a.PastDeadline(now) {
		a.Expire()
	}
	return a
}

// NoSuchApproval names the id that was asked for and no other.
func NoSuchApproval(id models.ResponseID) error {
	return models.Errorf(models.CodeNotFound, "No pending approval request for ID: %s", id)
}

// Approval returns the current state of one approval: CodeNotFound if there is none or the actor may not see it. A
// call that was reported without a request is not found either: nothing allowed it (I11).
func (rs *Requests) Approval(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	// The driver starts a goroutine a query for a context that can end; this
	// read is one row by its key.
	ctx = context.WithoutCancel(ctx)
	now := rs.db.Now() // before the read: a decision after it is not late
	a, err := rs.ReadApproval(ctx, id)
	if err == nil && a.PastDeadline(now) {
		// A verdict in time may be being committed: wait for it, so that no caller sees the request as expired (I1).
		if err = rs.db.AwaitCurrentTx(ctx); err == nil {
			a, err = rs.ReadApproval(ctx, id)
		}
	}
	if err != nil {
		return nil, err
	}
	return rs.approvalFor(ctx, actor, a, now)
}

// approvalFor is an approval that was read, as it holds at now, for an actor who may
// see it.
func (rs *Requests) approvalFor(
	ctx context.Context, actor models.Actor, a *models.Approval, now time.Time,
) (*models.Approval, error) {
	sees, err := rs.MaySee(ctx, actor, &a.Response)
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, NoSuchApproval(a.ID)
	}
	return At(a, now), rs.HeldVerdicts(ctx, actor, a)
}

// ReadApproval reads a request as it is stored, for any caller. Codes: not_found.
func (rs *Requests) ReadApproval(ctx context.Context, id models.ResponseID) (*models.Approval, error) {
	a, err := ScanApproval(rs.db.Row(ctx, rs.reads.approval, ApprovalByID, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, NoSuchApproval(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read approval: %w", err)
	}
	return a, nil
}

// OpenedPartsQuery reads the parts that a person has unfolded.
const OpenedPartsQuery = `SELECT part FROM opened_parts WHERE user_id = ? AND response_id = ? ORDER BY part`

// OpenedParts are the parts of a request that the person has unfolded, in order
// of their names.
func (rs *Requests) OpenedParts(ctx context.Context, actor models.Actor, id models.ResponseID) ([]string, error) {
	var opened []string
	if err := rs.db.Gorm(ctx).Raw(OpenedPartsQuery, actor.ID, id).Scan(&opened).Error; err != nil {
		return nil, fmt.Errorf("read opened parts: %w", err)
	}
	return opened, nil
}
