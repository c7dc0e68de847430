package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/requests"
)

const (
	maxOpenedParts = 64 // of one request, by one person
	maxPartName    = 40 // bytes

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
	return s.write(ctx, func(t *Tx) error {
		if _, err := t.Approval(actor, id); err != nil {
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
		if err := t.Gorm().Exec(`INSERT INTO opened_parts (user_id, response_id, part, at) VALUES (?, ?, ?, ?)`, actor.ID, id,
			part, t.Now).Error; err != nil {
			return fmt.Errorf("store opened part: %w", err)
		}
		return nil
	})
}

func (t *Tx) openedParts(actor models.Actor, id models.ResponseID) ([]string, error) {
	var opened []string
	if err := t.Gorm().Raw(requests.OpenedPartsQuery, actor.ID, id).Scan(&opened).Error; err != nil {
		return nil, fmt.Errorf("read opened parts: %w", err)
	}
	return opened, nil
}

// ActorNow is the person of a session with their current rights: roles change while a stream is open. It does not
// count as a use of the session, which may go idle meanwhile. It returns an actor without a session unchanged.
// CodeUnauthenticated when the session has ended.
func (s *Store) ActorNow(ctx context.Context, actor models.Actor) (models.Actor, error) {
	if actor.SessionID == "" {
		return actor, nil
	}
	return s.People.SessionActor(ctx, actor.SessionID)
}
