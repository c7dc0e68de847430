package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

// PolicyVersion is one version of the policy document, with its compiled form.
type PolicyVersion struct {
	models.Policy

	Program *policy.Policy
}

// Policy is the active version as this transaction sees it, compiled.
func (t *Tx) Policy() (int64, *policy.Policy, error) {
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

func (s *Store) compile(row models.Policy) (PolicyVersion, error) {
	p, err := s.policyFor(row.Version, func() (string, error) { return row.Document, nil })
	if err != nil {
		return PolicyVersion{}, err
	}
	return PolicyVersion{Policy: row, Program: p}, nil
}

// CurrentPolicy is the active version.
func (s *Store) CurrentPolicy(ctx context.Context) (PolicyVersion, error) {
	var row models.Policy
	if err := s.db.Gorm(ctx).Order("version DESC").Limit(1).Take(&row).Error; err != nil {
		return PolicyVersion{}, fmt.Errorf("read policy: %w", err)
	}
	return s.compile(row)
}

// Policies lists versions before one (0: all), newest first. Admins only.
func (s *Store) Policies(ctx context.Context, actor models.Actor, before int64, limit int) ([]PolicyVersion, error) {
	if err := actor.NeedPolicy(); err != nil {
		return nil, err
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
		v, err := s.compile(row)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// PolicyAt is one version. Admins only; CodeNotFound.
func (s *Store) PolicyAt(ctx context.Context, actor models.Actor, version int64) (PolicyVersion, error) {
	if err := actor.NeedPolicy(); err != nil {
		return PolicyVersion{}, err
	}
	var row models.Policy
	if err := s.db.Gorm(ctx).Where("version = ?", version).Take(&row).Error; err != nil {
		return PolicyVersion{}, db.NotFoundAs(err, models.NotFound("policy version"))
	}
	return s.compile(row)
}

// seedPolicy stores the initial document where there is none.
func (s *Store) seedPolicy(ctx context.Context) error {
	var n int64
	if err := s.db.Reads().QueryRowContext(ctx,
		`SELECT count(*) FROM (SELECT 1 FROM policies LIMIT 1)`).Scan(&n); err != nil {
		return fmt.Errorf("read policy: %w", err)
	}
	if n > 0 {
		return nil
	}
	text, err := policy.Initial().Marshal()
	if err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return s.write(ctx, func(t *Tx) error {
		var version sql.NullInt64
		if err := t.Row(t.s.hot.policyNow).Scan(&version); err != nil || version.Valid {
			return err
		}
		return t.addPolicy(models.System("policy"), models.Policy{
			Version: 1, Document: string(text), AuthorName: models.SystemAuthor, Note: "The initial policy.", CreatedAt: t.Now,
		})
	})
}

// maxCompiled is how many versions of the policy are kept compiled: the one that is active,
// and those that are being looked at.
const maxCompiled = 8

// compiledPolicies keeps the versions that were used last.
type compiledPolicies struct {
	mu     sync.Mutex
	recent []compiledVersion // the last used first
}

type compiledVersion struct {
	version int64
	policy  *policy.Policy
}

func (c *compiledPolicies) get(version int64) *policy.Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.recent, func(v compiledVersion) bool { return v.version == version })
	if i < 0 {
		return nil
	}
	if i > 0 {
		found := c.recent[i]
		copy(c.recent[1:i+1], c.recent[:i])
		c.recent[0] = found
	}
	return c.recent[0].policy
}

// put keeps a version and returns the one that is kept: another caller may have been
// quicker.
func (c *compiledPolicies) put(version int64, p *policy.Policy) *policy.Policy {
	if kept := c.get(version); kept != nil {
		return kept
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = slices.Insert(c.recent, 0, compiledVersion{version, p})
	if len(c.recent) > maxCompiled {
		c.recent = slices.Delete(c.recent, maxCompiled, len(c.recent))
	}
	return p
}

// policyFor returns the compiled form of a stored version; doc is parsed once while the
// version is in use.
func (s *Store) policyFor(version int64, doc func() (string, error)) (*policy.Policy, error) {
	if p := s.policies.get(version); p != nil {
		return p, nil
	}
	text, err := doc()
	if err != nil {
		return nil, err
	}
	p, err := policy.ParseStored([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("policy version %d: %w", version, err)
	}
	return s.policies.put(version, p), nil
}
