package store

import (
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// granted looks for a live grant that covers a call which the policy holds for a
// person, and writes it into the row as what lets the call through. It changes
// nothing in the database: the use is counted when the call is stored, by
// useGrant, in the same transaction.
func (t *tx) granted(a *models.Approval) (bool, error) {
	if a.Kind != models.KindToolCall || a.Risk.DecidedAlone() || a.InputBytes != nil || a.UpstreamID != nil {
		return false, nil
	}
	if may, err := t.anyGrant(); !may || err != nil {
		return false, err
	}
	_, p, err := t.policy()
	if err != nil || !p.Document().GrantsEnabled {
		return false, err
	}
	g, err := t.coveringGrant(a)
	if g == nil || err != nil {
		return false, err
	}
	a.Cause, a.GrantID = models.CauseGrant, &g.ID
	a.PolicyReason = fmt.Sprintf("Allowed by %s's grant until %s UTC, use %d of %d. It would have been held: %s",
		g.MakerName, g.ExpiresAt.Format("2006-01-02 15:04"), g.Uses+1, g.MaxUses, a.PolicyReason)
	return true, nil
}

// anyGrant reports whether any grant at all may be live, which the writer
// remembers: where nobody makes grants, no ask looks for one.
func (t *tx) anyGrant() (bool, error) {
	known := &t.s.known
	if known.grants == nil {
		var last *time.Time
		if err := t.Row(t.s.hot.lastGrant).Scan(&last, new(any)); err != nil {
			return false, fmt.Errorf("look for grants: %w", err)
		}
		if last == nil {
			last = new(time.Time)
		}
		known.grants = last
	}
	return t.Now.Before(*known.grants), nil
}

// coveringGrant is the live grant of the call that expires first, or nil. Only
// those count whose maker is enabled, still the owner or an admin, and may approve
// the call.
func (t *tx) coveringGrant(a *models.Approval) (*models.Grant, error) {
	rows, err := t.Rows(t.s.hot.grantsOf, a.AgentID, a.ToolName, t.Now, a.OwnerID)
	if err != nil {
		return nil, fmt.Errorf("look for a grant: %w", err)
	}
	defer rows.Close()
	var call models.Shape
	who := a.Approvers()
	for rows.Next() {
		g := &models.Grant{AgentID: a.AgentID, ToolName: a.ToolName}
		if err := rows.Scan(&g.ID, &g.Fixed, &g.Free, &g.MadeBy, &g.MakerName, &g.ExpiresAt, &g.MaxUses, &g.Uses); err != nil {
			return nil, fmt.Errorf("look for a grant: %w", err)
		}
		if !who.Allow(a.OwnerID, g.MadeBy) {
			continue // who may not approve the call has not approved it beforehand
		}
		if call.Whole == nil {
			if call, err = models.ShapeOf([]byte(a.ToolInputJSON)); err != nil {
				return nil, err
			}
		}
		if g.Covers(a.AgentID, a.ToolName, call) {
			return g, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for a grant: %w", err)
	}
	return nil, nil //nolint:nilnil // none is an answer here
}

// useGrant counts the use that let a stored call through; its row names the grant.
// The UPDATE judges by itself that the grant is live.
func (t *tx) useGrant(a *models.Approval) error {
	if a.GrantID == nil {
		return nil
	}
	n, err := t.Exec(t.s.hot.useGrant, t.Now, *a.GrantID)
	if err == nil && !db.ExactlyOne(n) {
		err = errors.New("it is not live any more")
	}
	if err != nil {
		return fmt.Errorf("use grant %s: %w", *a.GrantID, err)
	}
	t.Publish(events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	return nil
}
