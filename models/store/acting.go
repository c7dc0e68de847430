package store

import (
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// A person has a request for another person if it was handed over to them, or while that person, to whom it is routed,
// is away and has named them. They may act if the rule lets them approve in their own right, or if an admin has
// accepted them as a substitute of that person, who may approve in their own right at that moment. So a request is
// never passed on twice. The owner of the agent or the conversation never acts for others.
//
// rightsReader decides that from the rows about people; the rows of reviewers and deciders follow it (reroute).

// substitutions are who acts for whom, cached by the writer: without any, an ask and a vote cost nothing more.
type substitutions struct {
	accepted  map[[2]models.UserID]bool  // of a substitute, for whom
	handOvers map[models.ResponseID]bool // pending requests that are handed over; some have been settled since
	absences  []models.Absence           // with a substitute, that run or are planned, or whose end was not taken yet
}

// substitutionTables are those of which substitutions consist.
var substitutionTables = map[string]bool{"substitutes": true, "handovers": true, "absences": true}

const (
	acceptedPairs = `SELECT substitute_id, user_id FROM substitutes WHERE removed_at IS NULL AND accepted_at IS NOT NULL`
	handedPending = `SELECT DISTINCT h.response_id FROM handovers h` + db.ByHandoversResponse +
		` CROSS JOIN responses r ON r.id = h.response_id
 WHERE h.taken_back_at IS NULL AND r.approval_status = 'pending'`
)

func readSubstitutions(q *gorm.DB) (*substitutions, error) {
	out := &substitutions{accepted: map[[2]models.UserID]bool{}, handOvers: map[models.ResponseID]bool{}}
	var pairs []models.Substitute
	if err := q.Raw(acceptedPairs).Scan(&pairs).Error; err != nil {
		return nil, fmt.Errorf("read substitutes: %w", err)
	}
	for _, p := range pairs {
		out.accepted[[2]models.UserID{p.SubstituteID, p.UserID}] = true
	}
	var ids []models.ResponseID
	if err := q.Raw(handedPending).Scan(&ids).Error; err != nil {
		return nil, fmt.Errorf("look for hand-overs: %w", err)
	}
	for _, id := range ids {
		out.handOvers[id] = true
	}
	if err := q.Raw(openAbsences).Scan(&out.absences).Error; err != nil {
		return nil, fmt.Errorf("read absences: %w", err)
	}
	out.absences = slices.DeleteFunc(out.absences, func(a models.Absence) bool { return a.SubstituteID == "" })
	return out, nil
}

// True if no one has any request for another person.
func (w *substitutions) nobody() bool { return len(w.handOvers) == 0 && len(w.absences) == 0 }

// True if no one has this request for another person. An absence that is over counts until its end is stored: until
// then the substitute has the request but may not act on it.
func (w *substitutions) nobodyHas(id models.ResponseID) bool {
	return !w.handOvers[id] && len(w.absences) == 0
}

// substitutions reads who acts for whom, unless it is known.
func (t *Tx) substitutions() (*substitutions, error) {
	if t.s.known.substitutions == nil {
		out, err := readSubstitutions(t.Gorm())
		if err != nil {
			return nil, err
		}
		t.s.known.substitutions = out
	}
	return t.s.known.substitutions, nil
}

// delegation is that somebody has a request from somebody else.
type delegation struct {
	From, To models.UserID
	Absence  *models.Absence `gorm:"-"` // nil: by a hand-over
}

const (
	handedOver = `SELECT from_user AS "from", to_user AS "to" FROM handovers WHERE response_id = ? AND taken_back_at IS NULL ORDER BY at, id`
	askedOf    = `SELECT user_id FROM reviewers WHERE response_id = ? AND NOT for_others`
)

// delegations are all who have a request from somebody else, if they may act on it or not; only one
// person, if to names them.
func (c rightsReader) delegations(r *models.Response, to models.UserID) ([]delegation, error) {
	out, err := c.handedOver(r)
	if err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(one delegation) bool { return to != "" && one.To != to })
	away := slices.DeleteFunc(slices.Clone(c.absences),
		func(a models.Absence) bool { return !a.Runs(c.now) || to != "" && a.SubstituteID != to })
	if len(away) == 0 {
		return out, nil
	}
	var asked []models.UserID
	if c.read == nil { // of many who are away, few have the request
		if err := c.q.Raw(askedOf, r.ID).Scan(&asked).Error; err != nil {
			return nil, fmt.Errorf("read who is asked: %w", err)
		}
	}
	for i := range away {
		a := &away[i]
		if c.read == nil && a.UserID != r.OwnerID && !slices.Contains(asked, a.UserID) {
			continue
		}
		p, err := c.relation(a.UserID, r)
		if err != nil {
			return nil, err
		}
		if p.Enabled && (p.ID == r.OwnerID || p.Asked) { // disabled people get nothing
			out = append(out, delegation{a.UserID, a.SubstituteID, a})
		}
	}
	return out, nil
}

func (c rightsReader) handedOver(r *models.Response) ([]delegation, error) {
	if out, ok := c.read.handedOver(r.ID); ok || !c.handOvers[r.ID] {
		return slices.Clone(out), nil
	}
	var out []delegation
	if err := c.q.Raw(handedOver, r.ID).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("read hand-overs: %w", err)
	}
	return out, nil
}

const (
	// forOthersOf leaves out those who may break glass or only read it: it is in no inbox of theirs.
	forOthersOf = `SELECT v.user_id FROM reviewers v` + db.ByReviewersForOthers +
		` CROSS JOIN deciders d ON d.user_id = v.user_id AND d.deadline = ? AND d.response_id = v.response_id
 WHERE v.response_id = ? AND v.for_others ORDER BY v.user_id`
	markForOther = `UPDATE reviewers SET for_others = TRUE WHERE user_id = ? AND response_id = ?`
	askedNow     = `UPDATE reviewers SET for_others = FALSE WHERE user_id IN ? AND response_id = ? AND for_others`
	// toReroute are the pending requests that somebody has for somebody else, or might have.
	toReroute = `SELECT r.id FROM responses r` + db.ByResponsesPendingRisk + ` WHERE r.approval_status = 'pending'
 AND (EXISTS (SELECT 1 FROM reviewers v` + db.ByReviewersForOthers + ` WHERE v.response_id = r.id AND v.for_others)
 OR EXISTS (SELECT 1 FROM handovers h WHERE h.response_id = r.id AND h.taken_back_at IS NULL)
 OR EXISTS (SELECT 1 FROM absences x` + db.ByAbsencesOpen + ` CROSS JOIN deciders d ON d.user_id = x.user_id AND d.deadline = r.approval_timeout_at AND d.response_id = r.id
  WHERE x.ended_at IS NULL AND x.substitute_id <> '')) ORDER BY r.id`
)

// noteAsked notes that people who may have had a request for others are asked now.
func (t *Tx) noteAsked(r *models.Response, users []models.UserID) error {
	w, err := t.substitutions()
	if err != nil || w.nobodyHas(r.ID) && !r.Admits() || len(users) == 0 {
		return err
	}
	if err := t.Gorm().Exec(askedNow, users, r.ID).Error; err != nil {
		return fmt.Errorf("note who is asked: %w", err)
	}
	return nil
}

// rerouteAll is reroute of all requests to which it may matter.
func (t *Tx) rerouteAll(actor models.Actor) error {
	w, err := t.substitutions()
	if err != nil || w.nobody() {
		return err
	}
	return t.rerouteEach(actor)
}

func (t *Tx) rerouteEach(actor models.Actor) error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(toReroute).Scan(&ids).Error; err != nil {
		return fmt.Errorf("look for what people have for others: %w", err)
	}
	for _, id := range ids {
		a, err := t.Request(id)
		if err != nil {
			return err
		}
		if err := t.rerouteOne(actor, a); err != nil {
			return err
		}
	}
	return nil
}

// reroute has a pending request be in the inboxes of those who may act on it for others now,
// and of no others. Whose verdict holds it keeps it.
func (t *Tx) reroute(actor models.Actor, a *models.Approval) error {
	w, err := t.substitutions()
	if err != nil || w.nobodyHas(a.ID) || a.Status() != models.StatusPending {
		return err
	}
	return t.rerouteOne(actor, a)
}

func (t *Tx) rerouteOne(actor models.Actor, a *models.Approval) error {
	if a.PastDeadline(t.Now) {
		return nil
	}
	c, err := t.rightsReader()
	if err != nil {
		return err
	}
	standIns, err := c.standInsOf(&a.Response)
	if err != nil {
		return err
	}
	var have, idle []models.UserID
	if err := t.Gorm().Raw(forOthersOf, a.ApprovalTimeoutAt, a.ID).Scan(&have).Error; err != nil {
		return fmt.Errorf("read who has a request for others: %w", err)
	}
	var holds models.UserID
	if a.HeldUntil != nil {
		if vote, err := t.heldVote(a.ID); err != nil {
			return err
		} else if vote != nil {
			holds = vote.UserID
		}
	}
	for _, user := range have {
		if _, still := standIns[user]; !still && user != holds {
			idle = append(idle, user)
		}
		delete(standIns, user)
	}
	if err := t.unroute(actor, a, idle); err != nil {
		return err
	}
	if err := t.admitLater(actor, a); err != nil { // those who are not asked had it beside
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(standIns)) {
		if err := t.routeFor(actor, a, user, standIns[user]); err != nil {
			return err
		}
	}
	return nil
}

// routeFor puts a pending request into the inbox of somebody who acts for somebody else.
func (t *Tx) routeFor(actor models.Actor, a *models.Approval, user, from models.UserID) error {
	if err := t.addDeciders(&a.Response, []models.UserID{user}); err != nil {
		return err
	}
	if err := t.Gorm().Exec(markForOther, user, a.ID).Error; err != nil {
		return fmt.Errorf("note for whom somebody has a request: %w", err)
	}
	t.Publish(events.Approval(string(a.ID)))
	return t.Record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{user}),
		routedEntry{Digest: a.Digest, Joined: user, For: from})
}
