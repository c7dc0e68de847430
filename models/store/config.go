package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/policy"
)

// ChangePolicy makes a new version out of the one that stands, by a change to its
// document; what change leaves alone stays as it is, also when two change at the
// same time. The result is checked as ApplyPolicy checks it. change may run
// twice. Admins and the operator only.
func (s *Store) ChangePolicy(ctx context.Context, actor models.Actor, note string, change func(*policy.Document)) (PolicyVersion, error) {
	if !actor.MayAdminister() {
		return PolicyVersion{}, models.AdminsOnly()
	}
	if err := models.CheckText("note", note, models.MaxReason); err != nil {
		return PolicyVersion{}, err
	}
	var row policyRow
	err := s.write(ctx, func(t *tx) error {
		version, standing, err := t.policy()
		if err != nil {
			return err
		}
		doc := standing.Document()
		old, err := doc.Marshal()
		if err != nil {
			return fmt.Errorf("write policy: %w", err)
		}
		change(&doc)
		text, err := checkedDocument(doc, standing.Document())
		if err != nil {
			return err
		}
		if string(old) == text {
			return t.Gorm().Where("version = ?", version).Take(&row).Error
		}
		row = policyRow{Version: version + 1, Document: text, AuthorID: actor.ID, AuthorName: actor.Name, Note: note, CreatedAt: t.Now}
		return t.addPolicy(actor, row)
	})
	if err != nil {
		return PolicyVersion{}, err
	}
	return s.compiled(row)
}

// checkedDocument is a valid document as it is stored.
func checkedDocument(doc, before policy.Document) (string, error) {
	raw, err := doc.Marshal()
	if err != nil {
		return "", err
	}
	p, err := policy.ParseChanged(raw, before)
	if err != nil {
		return "", err
	}
	text, err := p.Document().Marshal()
	if err != nil {
		return "", fmt.Errorf("write policy: %w", err)
	}
	return string(text), nil
}

// expireAtOnce is how many expiries Cleanup writes down in one transaction.
const expireAtOnce = 256

// Cleanup writes down what is past its deadline now and says how many it found
// that nobody had written down yet (I3: they had expired already). Admins and
// the operator only.
func (s *Store) Cleanup(ctx context.Context, actor models.Actor) (int, error) {
	if !actor.MayAdminister() {
		return 0, models.AdminsOnly()
	}
	for total := 0; ; {
		n, err := s.ExpireDue(ctx, expireAtOnce)
		if total += n; err != nil || n < expireAtOnce {
			return total, err
		}
	}
}
