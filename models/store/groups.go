package store

import (
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

var (
	// waitForGroups are the requests that wait for a group, by their own rule or that of an
	// edit; which group is for the caller to read.
	waitForGroups = `SELECT id FROM responses` + db.ByResponsesPendingGroups + ` WHERE approval_status = 'pending' AND ` + db.Contains(`approvers`, `'"group":'`) + `
 UNION ALL SELECT r.id FROM votes v` + db.ByVotesWaiting + ` CROSS JOIN responses r ON r.id = v.response_id
 WHERE v.waits_for <> '' AND v.withdrawn_at IS NULL AND r.approval_status = 'pending' AND ` + db.Contains(`v.waits_for`, `'"group":'`)

	dropDecider  = `DELETE FROM deciders WHERE user_id = ? AND deadline = ? AND response_id = ?`
	dropReviewer = `DELETE FROM reviewers WHERE user_id = ? AND response_id = ?`
)

// routedEntry is what the ledger keeps of a pending request that goes to somebody who
// joined a group, or no longer to somebody who left it.
type routedEntry struct {
	Digest string        `json:"digest"`
	Group  string        `json:"name"`
	Joined models.UserID `json:"joined,omitempty"`
	Left   models.UserID `json:"left,omitempty"`
}

// joined puts what waits for a group into the inbox of somebody who has joined it, within
// another room's share.
func (s *Store) joined(share *db.Tx, actor models.Actor, user models.UserID, group string) error {
	return s.within(share).eachWaitingFor(group, func(t *tx, a *models.Approval, _ models.Approvers) error { return t.routeTo(actor, a, user, group) })
}

// left takes what waits for a group out of the inbox of somebody who has left it, unless
// they are named besides or are in another group that is.
func (s *Store) left(share *db.Tx, actor models.Actor, user models.UserID, group string) error {
	t := s.within(share)
	still, err := s.People.GroupsOf(share, user)
	if err != nil {
		return err
	}
	return t.eachWaitingFor(group, func(t *tx, a *models.Approval, who models.Approvers) error {
		if who.Names(user) || slices.ContainsFunc(who.Groups(), func(name string) bool { return slices.Contains(still, name) }) {
			return nil
		}
		return t.routeNoMore(actor, a, user, group)
	})
}

// namingGroup are the rules and templates of the policy that name a group, in words.
func (s *Store) namingGroup(share *db.Tx, group string) ([]string, error) {
	_, p, err := s.within(share).policy()
	if err != nil {
		return nil, err
	}
	return p.Document().NamingGroup(group), nil
}

// eachWaitingFor goes through the pending requests that wait for a group. do gets all whom
// the request names, those of its proposed edits among them.
func (t *tx) eachWaitingFor(group string, do func(*tx, *models.Approval, models.Approvers) error) error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(waitForGroups).Scan(&ids).Error; err != nil {
		return fmt.Errorf("look for what waits for a group: %w", err)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		a, err := t.standing(id)
		if err != nil {
			return err
		}
		who := a.Approvers()
		edits, err := t.waitingEdits(id)
		if err != nil {
			return err
		}
		for i := range edits {
			waits, _ := edits[i].Waits()
			who.Named = append(who.Named, waits.Named...)
		}
		if !slices.Contains(who.Groups(), group) {
			continue
		}
		if err := do(t, a, who); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) routeTo(actor models.Actor, a *models.Approval, user models.UserID, group string) error {
	if user == a.OwnerID {
		return nil
	}
	if asked, err := db.Exists(t.Row(t.s.hot.isReviewer, user, a.ID)); err != nil || asked {
		return err
	}
	if err := t.addDeciders(&a.Response, []models.UserID{user}); err != nil {
		return err
	}
	t.Publish(events.Approval(string(a.ID)))
	return t.record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{user}), routedEntry{Digest: a.Digest, Group: group, Joined: user})
}

func (t *tx) routeNoMore(actor models.Actor, a *models.Approval, user models.UserID, group string) error {
	pool := t.Gorm()
	gone := pool.Exec(dropReviewer, user, a.ID)
	if gone.Error != nil || gone.RowsAffected == 0 {
		return gone.Error
	}
	if err := pool.Exec(dropDecider, user, a.ApprovalTimeoutAt, a.ID).Error; err != nil {
		return fmt.Errorf("drop decider: %w", err)
	}
	if err := t.s.Ledger.Unread(t.Tx, user, &a.Response); err != nil {
		return err
	}
	t.Publish(events.InboxOf(string(user)), events.Approval(string(a.ID)), events.InboxOfAdmins)
	return t.record(actor, "approval.routed", ledger.SubjectOf(&a.Response, nil), routedEntry{Digest: a.Digest, Group: group, Left: user})
}
