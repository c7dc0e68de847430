package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// PolicyVersion is one version of the policy document, with its compiled form.
type PolicyVersion struct {
	models.Policy

	Compiled *policy.Policy
}

// policy is the version that stands as this transaction sees it, compiled.
func (t *tx) policy() (int64, *policy.Policy, error) {
	k := &t.s.known
	if k.policy == 0 {
		if err := t.Row(t.s.hot.policyNow).Scan(&k.policy); err != nil {
			return 0, nil, fmt.Errorf("read policy version: %w", err)
		}
	}
	version := k.policy
	p, err := t.s.policyFor(version, func() (doc string, err error) {
		err = t.Row(t.s.hot.policyDoc, version).Scan(&doc)
		return doc, err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read policy: %w", err)
	}
	if t.s.lastUsed.Load() != p {
		t.s.lastUsed.Store(p)
	}
	return version, p, nil
}

func (s *Store) compiled(row models.Policy) (PolicyVersion, error) {
	p, err := s.policyFor(row.Version, func() (string, error) { return row.Document, nil })
	if err != nil {
		return PolicyVersion{}, err
	}
	return PolicyVersion{Policy: row, Compiled: p}, nil
}

// CurrentPolicy is the version that stands.
func (s *Store) CurrentPolicy(ctx context.Context) (PolicyVersion, error) {
	var row models.Policy
	if err := s.db.Gorm(ctx).Order("version DESC").Limit(1).Take(&row).Error; err != nil {
		return PolicyVersion{}, fmt.Errorf("read policy: %w", err)
	}
	return s.compiled(row)
}

// Policies lists versions before one (0: all), newest first. Admins only.
func (s *Store) Policies(ctx context.Context, actor models.Actor, before int64, limit int) ([]PolicyVersion, error) {
	if !actor.MayAdminister() {
		return nil, models.AdminsOnly()
	}
	q := s.db.Gorm(ctx).Order("version DESC").Limit(limit)
	if before > 0 {
		q = q.Where("version < ?", before)
	}
	var rows []models.Policy
	if err := q.Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	out := make([]PolicyVersion, 0, len(rows))
	for _, row := range rows {
		v, err := s.compiled(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// PolicyAt is one version. Admins only; CodeNotFound.
func (s *Store) PolicyAt(ctx context.Context, actor models.Actor, version int64) (PolicyVersion, error) {
	if !actor.MayAdminister() {
		return PolicyVersion{}, models.AdminsOnly()
	}
	var row models.Policy
	if err := s.db.Gorm(ctx).Where("version = ?", version).Take(&row).Error; err != nil {
		return PolicyVersion{}, db.NotFoundAs(err, models.NotFound("policy version"))
	}
	return s.compiled(row)
}

// CheckPolicy reads a document as ApplyPolicy would save it now, and refuses what that
// refuses, but for rules under which nobody could approve.
func (s *Store) CheckPolicy(ctx context.Context, raw []byte) (policy.Document, error) {
	active, err := s.CurrentPolicy(ctx)
	if err != nil {
		return policy.Document{}, err
	}
	p, err := policy.ParseChanged(raw, active.Compiled.Document())
	if err != nil {
		return policy.Document{}, err
	}
	return p.Document().Timely(active.Compiled.Document(), s.Now())
}

// ApplyPolicy makes a new version from a document. An invalid one is refused
// with the path of each fault and changes nothing; base names the version that
// was edited (0: whatever stands), and another one standing is CodeConflict. A
// document that says what stands already makes no version; one with a rule under
// which nobody could approve is CodeInvalid. Admins and the
// operator only.
func (s *Store) ApplyPolicy(ctx context.Context, actor models.Actor, raw []byte, note string, base int64) (PolicyVersion, error) {
	return s.ApplyPolicyAnd(ctx, actor, raw, note, base, func(*db.Tx) error { return nil })
}

// ApplyPolicyAnd is ApplyPolicy, and does something else in the same transaction, whether or
// not the document makes a version.
func (s *Store) ApplyPolicyAnd(ctx context.Context, actor models.Actor, raw []byte, note string, base int64, also func(*db.Tx) error) (PolicyVersion, error) {
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
	p, err := policy.ParseChanged(raw, before.Compiled.Document())
	if err != nil {
		return PolicyVersion{}, err
	}
	var row models.Policy
	err = s.write(ctx, func(t *tx) error {
		version, standing, err := t.policy()
		if err != nil {
			return err
		}
		if base != 0 && base != version {
			return models.Errorf(models.CodeConflict, "The policy was changed in the meantime: version %d is active, your change was made to version %d.", version, base)
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
	return s.compiled(row)
}

// nextVersion stores a document as the version behind the active one, if check allows it. A
// document that says what the active one says makes no version: then row is that one.
func (t *tx) nextVersion(actor models.Actor, active activeVersion, doc policy.Document, note string, check func(policy.Document) error) (row models.Policy, err error) {
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
	row = models.Policy{Version: active.version + 1, Document: string(text), AuthorID: actor.ID, AuthorName: actor.Name, Note: note, CreatedAt: t.Now}
	t.watchEnds(doc)
	return row, t.addPolicy(actor, row)
}

func (t *tx) addPolicy(actor models.Actor, row models.Policy) error {
	if err := t.Gorm().Create(&row).Error; err != nil {
		return fmt.Errorf("store policy: %w", err)
	}
	t.s.known.policy = row.Version
	t.Publish(events.Policy)
	return t.record(actor, "policy.changed", ledger.Subject{}, map[string]any{"version": row.Version, "digest": models.Digest([]byte(row.Document)), "note_digest": models.DigestOfText(row.Note)})
}

// seedPolicy stores the initial document where there is none.
func (s *Store) seedPolicy(ctx context.Context) error {
	var n int64
	if err := s.db.Reads().QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM policies LIMIT 1)`).Scan(&n); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if n > 0 {
		return nil
	}
	text, err := policy.Initial().Marshal()
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return s.write(ctx, func(t *tx) error {
		var version sql.NullInt64
		if err := t.Row(t.s.hot.policyNow).Scan(&version); err != nil || version.Valid {
			return err
		}
		return t.addPolicy(models.System("policy"), models.Policy{
			Version: 1, Document: string(text), AuthorName: models.SystemAuthor, Note: "The initial policy.", CreatedAt: t.Now,
		})
	})
}

// fallbackStood checks a report that a client went on without an answer: the
// policy must have allowed it at that time, or within the ten minutes before. A
// fallback with an end is believed until that at most, for clients know it.
func (t *tx) fallbackStood(at time.Time) error {
	if at.After(t.Now.Add(time.Minute)) {
		return models.Invalid("fallback.at", "must not be in the future")
	}
	version, _, err := t.policy()
	if err != nil {
		return err
	}
	until := t.Now
	for ; version > 0; version-- {
		var row models.Policy
		if err := t.Gorm().Where("version = ?", version).Take(&row).Error; err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		v, err := t.s.compiled(row)
		if err != nil {
			return err
		}
		if v.Compiled.FallbackOn(at) && !at.Before(row.CreatedAt) && !at.After(until.Add(models.FallbackBelieved)) {
			return nil
		}
		if row.CreatedAt.Add(models.FallbackBelieved).Before(at) {
			break // every earlier version ended too long before
		}
		until = row.CreatedAt
	}
	return models.Errorf(models.CodeForbidden, "fallback_auto_approve was not on at that time: ask, and wait for the decision.")
}

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
	var row models.Policy
	err := s.write(ctx, func(t *tx) error {
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
	return s.compiled(row)
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
