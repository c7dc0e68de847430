package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// approvalScan is where one row of approvalColumns is scanned into. It is used again
// for the next, so that no row has to find its places anew.
type approvalScan struct {
	a          models.Approval
	vote, note *db.Optional
	into       []any
}

var approvalScans = sync.Pool{New: func() any {
	s := &approvalScan{vote: voteRow.Optional(), note: noteRow.Optional()}
	s.into = slices.Concat(responseRow.Targets(&s.a.Response), []any{&s.a.RunID, &s.a.ConversationTitle, &s.a.AgentName, &s.a.OwnerName, &s.a.Stopped}, s.vote.Targets(), s.note.Targets())
	return s
}}

// scanApproval reads approvalColumns, in their order.
func scanApproval(row db.Scanner) (*models.Approval, error) {
	s := approvalScans.Get().(*approvalScan) //nolint:forcetypeassert // New makes no other
	if err := row.Scan(s.into...); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			approvalScans.Put(s)
		}
		return nil, err // what was scanned in part is not used again
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
	now := s.db.Now() // before the read: what is decided afterwards is not late by it
	a, err := s.readApproval(ctx, id)
	if err == nil && a.PastDeadline(now) {
		// Nobody is told that it has expired while a verdict that came in time is
		// being committed (I1).
		s.db.AwaitCurrentTx()
		a, err = s.readApproval(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return s.approvalFor(ctx, actor, a, now)
}

// approvalFor is an approval that was read, as it holds at now, for an actor who may
// see it.
func (s *Store) approvalFor(ctx context.Context, actor models.Actor, a *models.Approval, now time.Time) (*models.Approval, error) {
	sees, err := s.maySee(ctx, actor, &a.Response)
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, noSuchApproval(a.ID)
	}
	return at(a, now), s.HeldVerdicts(ctx, actor, a)
}

func (s *Store) readApproval(ctx context.Context, id models.ResponseID) (*models.Approval, error) {
	a, err := scanApproval(s.db.Row(ctx, s.reads.approval, approvalByID, id))
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
	a, err := t.existing(id)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, noSuchApproval(id)
	}
	sees, err := t.maySee(actor, &a.Response)
	if err != nil {
		return nil, err
	}
	if !sees || a.Unasked() {
		return nil, noSuchApproval(id)
	}
	return a, nil
}

// nullable stores an empty string as NULL, for columns with unique indexes.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ActorNow is who stands behind a session with the rights of now: roles change
// while a stream is open. It is no use of the session, which may go idle
// meanwhile. An actor without a session stays who it is. CodeUnauthenticated when
// the session has ended.
func (s *Store) ActorNow(ctx context.Context, actor models.Actor) (models.Actor, error) {
	if actor.SessionID == "" {
		return actor, nil
	}
	return s.People.SessionActor(ctx, actor.SessionID)
}

const (
	maxOpenedParts = 64 // of one request, by one person
	maxPartName    = 40 // bytes

	openedParts = `SELECT part FROM opened_parts WHERE user_id = ? AND response_id = ? ORDER BY part`
	partLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"
)

// OpenPart notes that a person has unfolded a part of a request that may be
// decided by them: approving what can do much harm wants all of them. It is
// bookkeeping, and a repeat changes nothing.
//
// Codes: forbidden, not_found, invalid.
func (s *Store) OpenPart(ctx context.Context, actor models.Actor, id models.ResponseID, part string) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person can open the sections of a request.")
	}
	if part == "" || len(part) > maxPartName || strings.Trim(part, partLetters) != "" {
		return models.Invalid("part", "must be 1 to %d lower-case letters, digits and hyphens", maxPartName)
	}
	return s.write(ctx, func(t *tx) error {
		if _, err := t.approval(actor, id); err != nil {
			return err
		}
		opened, err := t.openedParts(actor, id)
		if err != nil {
			return err
		}
		if slices.Contains(opened, part) {
			return nil
		}
		if len(opened) >= maxOpenedParts {
			return models.Invalid("part", "is one too many: a request has at most %d", maxOpenedParts)
		}
		if err := t.Gorm().Exec(`INSERT INTO opened_parts (user_id, response_id, part, at) VALUES (?, ?, ?, ?)`, actor.ID, id, part, t.Now).Error; err != nil {
			return fmt.Errorf("store opened part: %w", err)
		}
		return nil
	})
}

// OpenedParts are the parts of a request that the person has unfolded, in order
// of their names.
func (s *Store) OpenedParts(ctx context.Context, actor models.Actor, id models.ResponseID) ([]string, error) {
	var opened []string
	if err := s.db.Gorm(ctx).Raw(openedParts, actor.ID, id).Scan(&opened).Error; err != nil {
		return nil, fmt.Errorf("read opened parts: %w", err)
	}
	return opened, nil
}

func (t *tx) openedParts(actor models.Actor, id models.ResponseID) ([]string, error) {
	var opened []string
	if err := t.Gorm().Raw(openedParts, actor.ID, id).Scan(&opened).Error; err != nil {
		return nil, fmt.Errorf("read opened parts: %w", err)
	}
	return opened, nil
}
