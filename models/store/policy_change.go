package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// CheckPolicy reads a document as ApplyPolicy would save it now, and refuses the same, except for rules that no person
// could satisfy.
func (s *Store) CheckPolicy(ctx context.Context, raw []byte) (policy.Document, error) {
	active, err := s.CurrentPolicy(ctx)
	if err != nil {
		return policy.Document{}, err
	}
	p, err := policy.ParseChanged(raw, active.Program.Document())
	if err != nil {
		return policy.Document{}, err
	}
	return p.Document().Timely(active.Program.Document(), s.Now())
}

// ApplyPolicy makes a new version from a document. It refuses an invalid one with the path of each fault and changes
// nothing; base names the version that was edited (0: any), and another active one is CodeConflict. A document equal
// to the active one makes no version; one with a rule that no person could satisfy is CodeInvalid. Admins and the
// operator only.
func (s *Store) ApplyPolicy(
	ctx context.Context, actor models.Actor, raw []byte, note string, base int64,
) (PolicyVersion, error) {
	return s.ApplyPolicyAnd(ctx, actor, raw, note, base, func(*db.Tx) error { return nil })
}

// ApplyPolicyAnd is ApplyPolicy, and does something else in the same transaction, whether or
// not the document makes a version.
func (s *Store) ApplyPolicyAnd(
	ctx context.Context, actor models.Actor, raw []byte, note string, base int64, also func(*db.Tx) error,
) (PolicyVersion, error) {
	if !actor.MayAdminister() {
		return PolicyVersion{}, models.AdminsOnly()
	}
	if err := models.CheckText("note", note, models.MaxReason); err != nil {
		return PolicyVersion{}, err
	}
	before, err := s.CurrentPolicy(ctx)
	if err != nil {
		return PolicyVersion{}, err
	}
	p, err := policy.ParseChanged(raw, before.Program.Document())
	if err != nil {
		return PolicyVersion{}, err
	}
	var row models.Policy
	err = s.write(ctx, func(t *Tx) error {
		version, standing, err := t.Policy()
		if err != nil {
			return err
		}
		if base != 0 && base != version {
			return models.Errorf(models.CodeConflict,
				"The policy was changed in the meantime: version %d is active, your change was made to version %d.", version, base)
		}
		doc, err := p.Document().Timely(standing.Document(), t.Now)
		if err != nil {
			return err
		}
		if err := also(t.Tx); err != nil {
			return err
		}
		active, err := t.endSwitches()
		if err != nil {
			return err
		}
		if row, err = t.nextVersion(actor, active, doc, note, t.checkMeetable); err != nil {
			return err
		}
		return t.agentLimitChanged(standing.BudgetPerAgent(), p.BudgetPerAgent())
	})
	if err != nil {
		return PolicyVersion{}, err
	}
	return s.compile(row)
}

// ChangePolicy makes a new version out of the active one, by a change to its document; members that change does not
// touch stay unchanged, also when two change at the same time. It checks the result as ApplyPolicy does. change may
// run twice. Admins and the operator only.
func (s *Store) ChangePolicy(
	ctx context.Context, actor models.Actor, note string, change func(*policy.Document),
) (PolicyVersion, error) {
	if !actor.MayAdminister() {
		return PolicyVersion{}, models.AdminsOnly()
	}
	if err := models.CheckText("note", note, models.MaxReason); err != nil {
		return PolicyVersion{}, err
	}
	var row models.Policy
	err := s.write(ctx, func(t *Tx) error {
		active, err := t.endSwitches()
		if err != nil {
			return err
		}
		doc := active.policy.Document()
		change(&doc)
		if doc, err = checkedChange(doc, active.policy.Document(), t.Now); err != nil {
			return err
		}
		row, err = t.nextVersion(actor, active, doc, note, func(policy.Document) error { return nil })
		return err
	})
	if err != nil {
		return PolicyVersion{}, err
	}
	return s.compile(row)
}

// checkedChange is a document that is valid behind the one before, as it is stored.
func checkedChange(doc, before policy.Document, now time.Time) (policy.Document, error) {
	raw, err := doc.Marshal()
	if err != nil {
		return policy.Document{}, err
	}
	p, err := policy.ParseChanged(raw, before)
	if err != nil {
		return policy.Document{}, err
	}
	return p.Document().Timely(before, now)
}

// nextVersion stores a document as the version behind the active one, if check allows it. A
// document that says what the active one says makes no version: then row is that one.
func (t *Tx) nextVersion(
	actor models.Actor, active activeVersion, doc policy.Document, note string, check func(policy.Document) error,
) (row models.Policy, err error) {
	old, err := active.policy.Document().Marshal()
	if err != nil {
		return row, fmt.Errorf("write policy: %w", err)
	}
	text, err := doc.Marshal()
	if err != nil {
		return row, err
	}
	if string(old) == string(text) {
		return row, t.Gorm().Where("version = ?", active.version).Take(&row).Error
	}
	if err := check(doc); err != nil {
		return row, err
	}
	row = models.Policy{
		Version: active.version + 1, Document: string(text), AuthorID: actor.ID, AuthorName: actor.Name, Note: note,
		CreatedAt: t.Now,
	}
	t.watchEnds(doc)
	return row, t.addPolicy(actor, row)
}

func (t *Tx) addPolicy(actor models.Actor, row models.Policy) error {
	if err := t.Gorm().Create(&row).Error; err != nil {
		return fmt.Errorf("store policy: %w", err)
	}
	t.Adds("policies", row.Version)
	t.s.known.policy = row.Version
	t.Publish(events.Policy)
	return t.Record(actor, "policy.changed", ledger.Subject{},
		map[string]any{
			"version": row.Version, "digest": models.Digest([]byte(row.Document)), "note_digest": models.DigestOfText(row.Note),
		})
}
