package store

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
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
// operator only, and CodeForbidden where the policy wants several admins to agree.
func (s *Store) ApplyPolicy(
	ctx context.Context, actor models.Actor, raw []byte, note string, base int64,
) (PolicyVersion, error) {
	return s.ApplyPolicyAnd(ctx, actor, PolicyChange{Document: raw, Note: note, Base: base})
}

// PolicyChange is a change of the whole policy.
type PolicyChange struct {
	Document []byte
	Note     string
	Base     int64               // the version that was changed; 0: any
	Author   models.PersonRef    // who wrote it; zero: the actor
	Signed   models.PolicySigned // the admins who agree; none: the actor alone does
	Also     func(*db.Tx) error  // in the same transaction, whether or not the document makes a version
}

// ApplyPolicyAnd is ApplyPolicy for a change that others wrote or agreed to as well.
func (s *Store) ApplyPolicyAnd(ctx context.Context, actor models.Actor, in PolicyChange) (PolicyVersion, error) {
	if err := actor.NeedAdmin(); err != nil {
		return PolicyVersion{}, err
	}
	if err := models.CheckText("note", in.Note, models.MaxReason); err != nil {
		return PolicyVersion{}, err
	}
	before, err := s.CurrentPolicy(ctx)
	if err != nil {
		return PolicyVersion{}, err
	}
	p, err := policy.ParseChanged(in.Document, before.Program.Document())
	if err != nil {
		return PolicyVersion{}, err
	}
	var row models.Policy
	err = s.write(ctx, func(t *Tx) error {
		version, standing, err := t.Policy()
		if err != nil {
			return err
		}
		if in.Base != 0 && in.Base != version {
			return models.Errorf(models.CodeConflict,
				"The policy was changed in the meantime: version %d is active, your change was made to version %d.", version, in.Base)
		}
		doc, err := p.Document().Timely(standing.Document(), t.Now)
		if err != nil {
			return err
		}
		if in.Also != nil {
			if err := in.Also(t.Tx); err != nil {
				return err
			}
		}
		active, err := t.endSwitches()
		if err != nil {
			return err
		}
		if row, err = t.nextVersion(actor, active, doc, in, t.checkMeetable); err != nil {
			return err
		}
		return t.agentLimitChanged(standing.BudgetPerAgent(), p.BudgetPerAgent())
	})
	if err != nil {
		return PolicyVersion{}, err
	}
	return s.compile(row)
}

// checkSigned refuses a new version unless as many admins agree to it as the active one wants: the only judge of that.
// They count as they are now: enabled, and admins.
func (t *Tx) checkSigned(actor models.Actor, standing policy.Document, signed models.PolicySigned) error {
	need := standing.SavedBy()
	if need < 2 || signed.Alone != "" {
		return nil
	}
	ids := []models.UserID{actor.UserID()}
	for _, one := range signed.Admins {
		ids = append(ids, one.ID)
	}
	var able []models.UserID
	if err := t.Gorm().Raw(adminsOf, ids).Scan(&able).Error; err != nil {
		return fmt.Errorf("count the admins who agree: %w", err)
	}
	if len(able) >= need {
		return nil
	}
	return models.Errorf(models.CodeForbidden,
		"A change of the policy takes %d admins. Draft it on the page Policy and propose it there, for others to confirm.", need)
}

const adminsOf = `SELECT id FROM users WHERE id IN ? AND role = 'admin' AND disabled_at IS NULL`

// ChangePolicy makes a new version out of the active one, by a change to its document; members that change does not
// touch stay unchanged, also when two change at the same time. It checks the result as ApplyPolicy does. change may
// run twice. Admins and the operator only.
func (s *Store) ChangePolicy(
	ctx context.Context, actor models.Actor, note string, change func(*policy.Document),
) (PolicyVersion, error) {
	if err := actor.NeedAdmin(); err != nil {
		return PolicyVersion{}, err
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
		row, err = t.nextVersion(actor, active, doc, PolicyChange{Note: note}, func(policy.Document) error { return nil })
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
	actor models.Actor, active activeVersion, doc policy.Document, in PolicyChange, check func(policy.Document) error,
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
	if err := t.checkSigned(actor, active.policy.Document(), in.Signed); err != nil {
		return row, err
	}
	if err := check(doc); err != nil {
		return row, err
	}
	row = models.Policy{
		Version: active.version + 1, Document: string(text), AuthorID: cmp.Or(string(in.Author.ID), actor.ID),
		AuthorName: cmp.Or(in.Author.Name, actor.Name), Note: in.Note, CreatedAt: t.Now, SignedJSON: in.Signed.JSON(),
	}
	t.watchEnds(doc)
	return row, t.addPolicy(actor, row)
}

// policyEntry is what the ledger says of a new version.
type policyEntry struct {
	Version int64              `json:"version"`
	Digest  string             `json:"digest"`
	Note    string             `json:"note_digest"`
	Signed  []models.PersonRef `json:"signed,omitzero"`
	Alone   string             `json:"alone_digest,omitzero"` // of why one admin sufficed where several agree
}

func (t *Tx) addPolicy(actor models.Actor, row models.Policy) error {
	if err := t.Gorm().Create(&row).Error; err != nil {
		return fmt.Errorf("store policy: %w", err)
	}
	t.Adds("policies", row.Version)
	t.s.known.policy = row.Version
	t.Publish(events.Policy)
	signed := row.Signed()
	if signed.Alone != "" {
		if err := t.tellAdminsBut(actor.UserID(), models.NoticePolicyAlone, "", models.ChannelID(strconv.FormatInt(row.Version, 10))); err != nil {
			return err
		}
	}
	return t.Record(actor, "policy.changed", ledger.Subject{}, policyEntry{
		Version: row.Version, Digest: models.Digest([]byte(row.Document)), Note: models.DigestOfText(row.Note),
		Signed: signed.Admins, Alone: models.DigestOfText(signed.Alone),
	})
}
