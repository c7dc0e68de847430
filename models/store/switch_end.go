package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// activeVersion is the active version of the policy within a transaction.
type activeVersion struct {
	version int64
	policy  *policy.Policy
}

// endSwitches stores the end of a switch of the active policy that allowed calls, as a version by the system, and
// returns the active version after it. Every save of a version calls it first, so that the end is in the history and
// the ledger before that version.
func (t *Tx) endSwitches() (activeVersion, error) {
	version, p, err := t.Policy()
	if err != nil {
		return activeVersion{}, err
	}
	if end, some := p.NextEnd(); !some || t.Now.Before(end) {
		return activeVersion{version, p}, nil
	}
	before := p.Document()
	doc, gate, fallback := before.Ended(t.Now)
	text, err := doc.Marshal()
	if err != nil {
		return activeVersion{}, err
	}
	row := models.Policy{
		Version: version + 1, Document: string(text), AuthorName: models.SystemAuthor, Note: endNote(before, gate, fallback),
		CreatedAt: t.Now,
	}
	if err := t.addPolicy(models.System("policy"), row); err != nil {
		return activeVersion{}, err
	}
	t.watchEnds(doc)
	// Not through the versions that are kept compiled: this one is not committed yet.
	ended, err := policy.ParseStored(text)
	return activeVersion{row.Version, ended}, err
}

// endNote says in the history which switch ended.
func endNote(before policy.Document, gate, fallback bool) string {
	var out []string
	if gate {
		out = append(out,
			"The gate was switched on again: its end of "+policy.SpokenEnd(*before.ApprovalOffUntil)+" was reached.")
	}
	if fallback {
		out = append(out,
			"Fallback was switched off again: its end of "+policy.SpokenEnd(*before.FallbackUntil)+" was reached.")
	}
	return strings.Join(out, " ")
}

// watchEnds has the expirer look at the ends of a document that is stored.
func (t *Tx) watchEnds(d policy.Document) {
	if end, some := d.NextEnd(); some {
		t.deadlineStored(end)
	}
}

// NextSwitchEnd is when the next switch ends that lets calls through; false when none does.
func (s *Store) NextSwitchEnd(ctx context.Context) (time.Time, bool, error) {
	p, err := s.activePolicy(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	end, some := p.NextEnd()
	return end, some, nil
}

// activePolicy is the active version, without its row: a document that is compiled already is not read.
func (s *Store) activePolicy(ctx context.Context) (*policy.Policy, error) {
	var version int64
	if err := s.db.Gorm(ctx).Model(&models.Policy{}).Select("max(version)").Scan(&version).Error; err != nil {
		return nil, fmt.Errorf("read policy version: %w", err)
	}
	p, err := s.policyFor(version, func() (doc string, err error) {
		err = s.db.Gorm(ctx).Model(&models.Policy{}).Select("document").Where("version = ?", version).Scan(&doc).Error
		return doc, err
	})
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return p, nil
}

// EndSwitches writes down that switches have ended whose time has come (I3: they counted for
// nothing already), and returns the number of versions that it stored: at most one, for it says
// all that ended.
func (s *Store) EndSwitches(ctx context.Context) (int, error) {
	versions := 0
	err := s.writeAnyway(ctx, func(t *Tx) error {
		before, _, err := t.Policy()
		if err != nil {
			return err
		}
		after, err := t.endSwitches()
		versions = 0
		if after.version != before {
			versions = 1
		}
		return err
	})
	return versions, err
}
