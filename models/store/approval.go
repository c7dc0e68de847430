package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
)

// scanner is a *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// scanApproval reads approvalColumns, in their order.
func scanApproval(row scanner) (*models.Approval, error) {
	var (
		a models.Approval
		v struct {
			id, userID, userName, verdict, reason, digest, seen sql.Null[string]
			input, inputDigest, answer, option                  *string
			at                                                  *time.Time
		}
		n struct {
			id, kind, author, name, content sql.Null[string]
			at                              *time.Time
		}
	)
	err := row.Scan(&a.ID, &a.ConversationID, &a.Sequence, &a.OwnerID, &a.AgentID, &a.Kind, &a.CreatedAt,
		&a.ToolUseID, &a.JobID, &a.Digest, &a.DigestVersion, &a.Risk, &a.RequiresApproval, &a.ApprovalStatus, &a.ApprovalTimestamp, &a.ApprovalFeedback, &a.Cause,
		&a.PolicyVersion, &a.PolicyRule, &a.PolicyReason, &a.ReviewersOnly, &a.SelfApproval, &a.ApproversJSON, &a.ApprovalRequestedAt, &a.ApprovalTimeoutAt, &a.HeldUntil, &a.PausedLeft, &a.GrantID, &a.DecidedBy, &a.VoteID,
		&a.ClaimedAt, &a.IsCompleted, &a.IsError, &a.Closed, &a.Answer, &a.ReportedAt, &a.InputBytes, &a.UpstreamID, &a.CallID, &a.BatchID, &a.Energy, &a.EnergyBudget, &a.ModelUsed, &a.Description, &a.Context, &a.Options, &a.Content, &a.ToolName, &a.ToolInputJSON,
		&a.RunID, &a.ConversationTitle, &a.AgentName, &a.OwnerName,
		&v.id, &v.userID, &v.userName, &v.verdict, &v.reason, &v.digest, &v.seen, &v.input, &v.inputDigest, &v.answer, &v.option, &v.at,
		&n.id, &n.kind, &n.author, &n.name, &n.content, &n.at,
		&a.Removed)
	if err != nil {
		return nil, err
	}
	if v.id.Valid {
		a.Vote = &models.Vote{
			ID: models.VoteID(v.id.V), ResponseID: a.ID, UserID: models.UserID(v.userID.V), UserName: v.userName.V,
			Verdict: models.Verdict(v.verdict.V), Reason: v.reason.V, Digest: v.digest.V, SeenDigest: v.seen.V,
			Input: v.input, InputDigest: v.inputDigest, Answer: v.answer, Option: v.option, At: *v.at,
		}
	}
	if n.id.Valid {
		id := models.NoteID(n.id.V)
		a.OpenNote, a.Note = &id, &models.Note{
			ID: id, ResponseID: a.ID, AuthorKind: models.ActorKind(n.kind.V), AuthorID: n.author.V, AuthorName: n.name.V,
			Asks: true, Content: n.content.V, At: *n.at,
		}
	}
	return &a, nil
}

// at is the approval as it holds at now (I3).
func at(a *models.Approval, now time.Time) *models.Approval {
	if a.PastDeadline(now) {
		a.Expire()
	}
	return a
}

// noSuchApproval names the id that was asked for and no other.
func noSuchApproval(id models.ResponseID) error {
	return models.Errorf(models.CodeNotFound, "No pending approval request for ID: %s", id)
}

// Approval returns one approval as it holds now: CodeNotFound when there is none
// or the actor may not see it. A call that was reported and that nobody has asked
// about is none: it was not let through (I11).
func (s *Store) Approval(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	// The driver starts a goroutine a query for a context that can end; this
	// read is one row by its key.
	ctx = context.WithoutCancel(ctx)
	now := s.now() // before the read: what is decided afterwards is not late by it
	a, err := s.readApproval(ctx, id)
	if err == nil && a.PastDeadline(now) {
		// Nobody is told that it has expired while a verdict that came in time is
		// being committed (I1).
		s.under.wait()
		a, err = s.readApproval(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	sees, err := maySee(actor, &a.Response, func() (bool, error) {
		return exists(s.hot.isReviewer.QueryRowContext(ctx, actor.ID, id))
	})
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, noSuchApproval(id)
	}
	return at(a, now), s.HeldVerdicts(ctx, actor, a)
}

func (s *Store) readApproval(ctx context.Context, id models.ResponseID) (*models.Approval, error) {
	a, err := scanApproval(s.hot.approval.QueryRowContext(ctx, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noSuchApproval(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read approval: %w", err)
	}
	return a, nil
}

// approval reads one within a transaction, as it stands, for an actor who may
// see it.
func (t *tx) approval(actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := scanApproval(t.conn.row(t.hot.approval, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noSuchApproval(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read approval: %w", err)
	}
	sees, err := maySee(actor, &a.Response, func() (bool, error) {
		return exists(t.conn.row(t.hot.isReviewer, actor.ID, id))
	})
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, noSuchApproval(id)
	}
	return a, nil
}

// maySee is the rule of who sees a request: the agent that opened it,
// the owner, whom it was routed to, every admin, the system and the operator.
// For people, who sees it may reject it too, and approve it where the rule does not
// say otherwise (checkApprover).
func maySee(actor models.Actor, r *models.Response, routed func() (bool, error)) (bool, error) {
	switch actor.Kind {
	case models.ActorAgent:
		return r.AgentID == actor.AgentID(), nil
	case models.ActorUser:
		if actor.Admin || r.OwnerID == actor.UserID() {
			return true, nil
		}
		return routed()
	case models.ActorSystem, models.ActorOperator:
		return true, nil
	}
	return false, nil
}

// exists reports whether a one-column query found a row.
func exists(row *sql.Row) (bool, error) {
	var one int
	switch err := row.Scan(&one); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up: %w", err)
	}
	return true, nil
}

// nullable stores an empty string as NULL, for columns with unique indexes.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
