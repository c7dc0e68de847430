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
	// waitForGroup are the requests that wait and name a group (?1, as it is frozen), or one
	// of whose edits was proposed under a rule that names it.
	waitForGroup = `SELECT id FROM responses` + db.ByResponsesPendingGroups + ` WHERE approval_status = 'pending' AND ` +
		db.Contains(`approvers`, `'"group":'`) + ` AND ` + db.Contains(`approvers`, `?1`) + `
 UNION ALL SELECT r.id FROM responses r` + db.ByResponsesPendingRisk + ` CROSS JOIN votes v` + db.ByVotesWaiting + ` ON v.response_id = r.id
 WHERE r.approval_status = 'pending' AND v.waits_for <> '' AND ` + db.Contains(`v.waits_for`, `?1`)
	allEdits = `SELECT v.* FROM votes v` + db.ByVotesWaiting + ` WHERE v.response_id = ? AND v.waits_for <> ''`

	dropReviewers = `DELETE FROM reviewers WHERE user_id IN ? AND response_id = ? RETURNING user_id`
	hasInInbox    = `SELECT count(*) FROM deciders WHERE user_id = ? AND deadline = ? AND response_id = ?`
	dropInboxes   = `DELETE FROM deciders WHERE user_id IN ? AND deadline = ? AND response_id = ?`
)

// routedEntry is what the ledger keeps of a pending request that goes to somebody who
// joined a group, or no longer to those who left it.
type routedEntry struct {
	Digest string          `json:"digest"`
	Joined models.UserID   `json:"joined,omitempty"`
	Left   []models.UserID `json:"left,omitempty"`
	For    models.UserID   `json:"for,omitempty"` // for whom they have it, where the rule does not ask them
}

// joined puts a group's pending requests into the inbox of a person who has joined it, within another room's share.
func (s *Store) joined(share *db.Tx, actor models.Actor, user models.UserID, group string) error {
	t := s.within(share)
	waiting, err := t.waitingFor(group)
	if err != nil {
		return err
	}
	for _, w := range waiting {
		route := func() error { return t.routeTo(actor, w.Approval, user) }
		if !w.who.AsksGroup(group) {
			route = func() error { return t.admitLater(actor, w.Approval) }
		}
		if err := route(); err != nil {
			return err
		}
	}
	if err := t.rerouteAll(actor); err != nil {
		return err
	}
	return t.endStranded() // what too few could sign may have enough again
}

// left takes a group's pending requests out of the inboxes of those who have left it, unless they are asked for
// another reason.
func (s *Store) dropMembers(share *db.Tx, actor models.Actor, users []models.UserID, group string) error {
	t := s.within(share)
	waiting, err := t.waitingFor(group)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return t.rerouteAll(actor)
	}
	still := make([]models.Voter, 0, len(users))
	for _, user := range users {
		groups, err := s.People.GroupsOf(share, user)
		if err != nil {
			return err
		}
		still = append(still, models.Voter{ID: user, Groups: groups})
	}
	for _, w := range waiting {
		if err := t.routeNoMore(actor, w, still); err != nil {
			return err
		}
	}
	return t.rerouteAll(actor)
}

// namingGroup are the rules and templates of the policy that name a group, in words.
func (s *Store) namingGroup(share *db.Tx, group string) ([]string, error) {
	_, p, err := s.within(share).Policy()
	if err != nil {
		return nil, err
	}
	return p.Document().NamingGroup(group), nil
}

// asking is a pending request with all whom it asks, and each edit of it ever asked.
type asking struct {
	*models.Approval

	who models.Approvers
}

// waitingFor are the pending requests that name a group. An expired one is left out, unless a verdict in time holds
// it.
func (t *Tx) waitingFor(group string) ([]asking, error) {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(waitForGroup, `"group":"`+group+`"`).Scan(&ids).Error; err != nil {
		return nil, fmt.Errorf("look for what waits for a group: %w", err)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out := make([]asking, 0, len(ids))
	for _, id := range ids {
		a, err := t.Request(id)
		if err != nil {
			return nil, err
		}
		who, err := t.everAsked(a)
		if err != nil {
			return nil, err
		}
		if who.NamesGroup(group) && (!a.PastDeadline(t.Now) || a.HeldUntil != nil) {
			out = append(out, asking{a, who})
		}
	}
	return out, nil
}

func (t *Tx) routeTo(actor models.Actor, a *models.Approval, user models.UserID) error {
	if user == a.OwnerID {
		return nil
	}
	var has int
	if err := t.Gorm().Raw(hasInInbox, user, a.ApprovalTimeoutAt, a.ID).Scan(&has).Error; err != nil {
		return fmt.Errorf("look for it in an inbox: %w", err)
	}
	if has > 0 {
		return t.noteAsked(&a.Response, []models.UserID{user})
	}
	if err := t.addDeciders(&a.Response, []models.UserID{user}); err != nil {
		return err
	}
	t.Publish(events.Approval(string(a.ID)))
	return t.Record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{user}),
		routedEntry{Digest: a.Digest, Joined: user})
}

// routeNoMore takes a pending request from those among some people who have no reason left
// to be asked: neither it nor an edit of it that was ever proposed names them or a group
// that they are in, and no verdict of theirs holds it. Those who own it keep it.
func (t *Tx) routeNoMore(actor models.Actor, a asking, among []models.Voter) error {
	var holds models.UserID
	if a.HeldUntil != nil {
		vote, err := t.heldVote(a.ID)
		if err != nil {
			return err
		}
		if vote != nil {
			holds = vote.UserID
		}
	}
	var idle []models.UserID
	for _, p := range among {
		if p.ID != holds && p.ID != a.OwnerID && !a.who.Asks(p) {
			idle = append(idle, p.ID)
		}
	}
	if err := t.unroute(actor, a.Approval, idle); err != nil {
		return err
	}
	return t.admitLater(actor, a.Approval) // a reader keeps seeing it, and who may break glass
}

// unroute takes a pending request out of the inboxes of people to whom it was routed.
func (t *Tx) unroute(actor models.Actor, a *models.Approval, idle []models.UserID) error {
	if len(idle) == 0 {
		return nil
	}
	var left []models.UserID
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	if err := t.Gorm().Raw(dropReviewers, idle, a.ID).Scan(&left).Error; err != nil {
		return fmt.Errorf("drop reviewers: %w", err)
	}
	if len(left) == 0 {
		return nil
	}
	if err := t.Gorm().Exec(dropInboxes, left, a.ApprovalTimeoutAt, a.ID).Error; err != nil {
		return fmt.Errorf("drop deciders: %w", err)
	}
	if err := t.noticesLeave(a.ID, left); err != nil {
		return err
	}
	slices.Sort(left)
	for _, user := range left {
		t.Publish(events.InboxOf(string(user)))
	}
	t.Publish(events.Approval(string(a.ID)), events.InboxOfAdmins)
	return t.Record(actor, "approval.routed", ledger.SubjectOf(&a.Response, nil),
		routedEntry{Digest: a.Digest, Left: left})
}

// everAsked are all whom a request names, and each edit of it that was ever proposed: whom an
// edit was routed to goes on deciding when it is taken back.
func (t *Tx) everAsked(a *models.Approval) (models.Approvers, error) {
	who := a.Approvers()
	var edits []models.Vote
	if err := t.Gorm().Raw(allEdits, a.ID).Scan(&edits).Error; err != nil {
		return who, fmt.Errorf("read proposed edits: %w", err)
	}
	for i := range edits {
		waits, _ := edits[i].Waits()
		who.Named = append(who.Named, waits.Named...)
	}
	return who, nil
}

// leftWhileHeld takes a request from somebody whose verdict held it until now, if they have
// left the group meanwhile by which they were asked.
func (t *Tx) leftWhileHeld(actor models.Actor, a *models.Approval, user models.UserID) error {
	who, err := t.everAsked(a)
	if err != nil || len(who.Groups()) == 0 {
		return err
	}
	groups, err := t.s.People.GroupsOf(t.Tx, user)
	if err != nil {
		return err
	}
	return t.routeNoMore(actor, asking{a, who}, []models.Voter{{ID: user, Groups: groups}})
}
