package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/people"
)

// Somebody has a request for somebody else where it was handed over to them, or while that
// person, to whom it is routed, is away and has named them. They may act if the rule lets them
// approve in their own right, or if an admin has accepted them as a substitute of that person,
// who may approve in their own right at that moment. So it is never passed on twice. Whoever
// owns the agent or the conversation never acts for others.
//
// court judges that from what is known of people; the rows of reviewers and deciders follow
// it (restand).

// acting is who acts for whom, as the writer remembers it: where nobody does, an ask and a
// vote pay nothing.
type acting struct {
	accepted map[[2]models.UserID]bool  // of a substitute, for whom
	handed   map[models.ResponseID]bool // pending requests that are handed over; some have been settled since
	absences []models.Absence           // with a substitute, that run or are planned, or whose end was not taken yet
}

// actingTables are those of which acting consists.
var actingTables = map[string]bool{"substitutes": true, "handovers": true, "absences": true}

const (
	acceptedPairs = `SELECT substitute_id, user_id FROM substitutes WHERE removed_at IS NULL AND accepted_at IS NOT NULL`
	handedPending = `SELECT DISTINCT h.response_id FROM handovers h` + db.ByHandoversResponse + ` CROSS JOIN responses r ON r.id = h.response_id
 WHERE h.taken_back_at IS NULL AND r.approval_status = 'pending'`
)

func readActing(q *gorm.DB) (*acting, error) {
	out := &acting{accepted: map[[2]models.UserID]bool{}, handed: map[models.ResponseID]bool{}}
	var pairs []models.Substitute
	if err := q.Raw(acceptedPairs).Scan(&pairs).Error; err != nil {
		return nil, fmt.Errorf("read substitutes: %w", err)
	}
	for _, p := range pairs {
		out.accepted[[2]models.UserID{p.SubstituteID, p.UserID}] = true
	}
	var handed []models.ResponseID
	if err := q.Raw(handedPending).Scan(&handed).Error; err != nil {
		return nil, fmt.Errorf("look for hand-overs: %w", err)
	}
	for _, id := range handed {
		out.handed[id] = true
	}
	if err := q.Raw(openAbsences).Scan(&out.absences).Error; err != nil {
		return nil, fmt.Errorf("read absences: %w", err)
	}
	out.absences = slices.DeleteFunc(out.absences, func(a models.Absence) bool { return a.SubstituteID == "" })
	return out, nil
}

// nobody reports whether nobody has any request for somebody else.
func (w *acting) nobody() bool { return len(w.handed) == 0 && len(w.absences) == 0 }

// nobodyHas reports whether nobody has one request for somebody else. An absence that is over
// counts until its end is taken: somebody may have the request by it, and may not act any more.
func (w *acting) nobodyHas(id models.ResponseID) bool { return !w.handed[id] && len(w.absences) == 0 }

// acting reads who acts for whom, unless it is known.
func (t *tx) acting() (*acting, error) {
	if t.s.known.acting == nil {
		out, err := readActing(t.Gorm())
		if err != nil {
			return nil, err
		}
		t.s.known.acting = out
		t.s.nobodyActs.Store(out.nobody())
	}
	return t.s.known.acting, nil
}

// court judges who may act on requests, in a transaction or in a read.
type court struct {
	q   *gorm.DB
	now time.Time
	*acting

	read *gathered // nil: each is read when it is asked for
}

func (t *tx) court() (court, error) {
	w, err := t.acting()
	return court{q: t.Gorm(), now: t.Now, acting: w}, err
}

func (s *Store) court(ctx context.Context) (court, error) {
	q := s.db.Gorm(ctx)
	w, err := readActing(q)
	return court{q: q, now: s.db.Now(), acting: w}, err
}

// standing is what counts of a person on a request.
type standing struct {
	models.PersonRef

	Enabled, Admin bool
	Asked          bool // the rule, an edit or a step asks them
	Owns           bool // the agent, or the conversation
}

const (
	standingColumns = `u.id, u.name, u.email, u.disabled_at IS NULL AS enabled, u.role = 'admin' AS admin,
 EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = u.id AND v.response_id = r.id AND NOT v.for_others) AS asked,
 u.id IN (r.owner_id, c.owner_id, a.owner_id) AS owns`
	standingOf = `SELECT ` + standingColumns + `
 FROM users u, responses r JOIN conversations c ON c.id = r.conversation_id JOIN agents a ON a.id = r.agent_id WHERE u.id = ? AND r.id = ?`
)

func (c court) standing(user models.UserID, r *models.Response) (standing, error) {
	if p, ok := c.read.standing(user, r.ID); ok {
		return p, nil
	}
	var out standing
	if err := c.q.Raw(standingOf, user, r.ID).Scan(&out).Error; err != nil {
		return out, fmt.Errorf("read what somebody may do: %w", err)
	}
	return out, nil
}

// mayApprove reports whether somebody may approve a request in their own right: they have it
// as its owner, as an admin or because they are asked, and its rule lets them.
func (c court) mayApprove(p standing, r *models.Response) (bool, error) {
	if !p.Enabled || p.ID != r.OwnerID && !p.Admin && !p.Asked {
		return false, nil
	}
	return c.allows(r.Approvers(), p.ID, r)
}

func (c court) allows(who models.Approvers, user models.UserID, r *models.Response) (bool, error) {
	as := models.Voter{ID: user}
	if len(who.Groups()) > 0 {
		var ok bool
		if as.Groups, ok = c.read.groupsOf(user); !ok {
			var err error
			if as.Groups, err = people.GroupsIn(c.q, user); err != nil {
				return false, err
			}
		}
	}
	return who.Allow(r.OwnerID, as), nil
}

// actsFor reports whether somebody may act on a request for somebody else.
func (c court) actsFor(sub standing, user models.UserID, r *models.Response) (bool, error) {
	if !sub.Enabled || sub.Owns || r.NoSubstitutes || !c.accepted[[2]models.UserID{sub.ID, user}] {
		return false, nil
	}
	p, err := c.standing(user, r)
	if err != nil {
		return false, err
	}
	return c.mayApprove(p, r)
}

// came is that somebody has a request from somebody else.
type came struct {
	From, To models.UserID
	Absence  *models.Absence `gorm:"-"` // nil: by a hand-over
}

const (
	handedOver = `SELECT from_user AS "from", to_user AS "to" FROM handovers WHERE response_id = ? AND taken_back_at IS NULL ORDER BY at, id`
	askedOf    = `SELECT user_id FROM reviewers WHERE response_id = ? AND NOT for_others`
)

// came are all who have a request from somebody else, if they may act on it or not; only one
// person, if to names them.
func (c court) came(r *models.Response, to models.UserID) ([]came, error) {
	out, err := c.handedOver(r)
	if err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(one came) bool { return to != "" && one.To != to })
	away := slices.DeleteFunc(slices.Clone(c.absences), func(a models.Absence) bool { return !a.Runs(c.now) || to != "" && a.SubstituteID != to })
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
		p, err := c.standing(a.UserID, r)
		if err != nil {
			return nil, err
		}
		if p.Enabled && (p.ID == r.OwnerID || p.Asked) { // nothing goes to whoever is disabled
			out = append(out, came{a.UserID, a.SubstituteID, a})
		}
	}
	return out, nil
}

func (c court) handedOver(r *models.Response) ([]came, error) {
	if out, ok := c.read.handedOver(r.ID); ok || !c.handed[r.ID] {
		return slices.Clone(out), nil
	}
	var out []came
	if err := c.q.Raw(handedOver, r.ID).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("read hand-overs: %w", err)
	}
	return out, nil
}

// right is what somebody who sees a pending request may do with it.
func (c court) right(p standing, r *models.Response) (models.Right, error) {
	out := models.Right{Own: p.Enabled && (p.ID == r.OwnerID || p.Admin || p.Asked)}
	var err error
	if out.MayApprove, err = c.mayApprove(p, r); err != nil || out.MayApprove {
		return out, err // nobody acts for others who may do it themselves
	}
	out.OnBehalf, err = c.behalf(p, r)
	out.MayApprove = out.OnBehalf != nil
	return out, err
}

// behalf is for whom somebody may act on a request now; nil: for nobody.
func (c court) behalf(sub standing, r *models.Response) (*models.PersonRef, error) {
	all, err := c.came(r, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if may, err := c.actsFor(sub, one.From, r); err != nil {
			return nil, err
		} else if may {
			p, err := c.standing(one.From, r)
			return &p.PersonRef, err
		}
	}
	return nil, nil //nolint:nilnil // for nobody
}

// wanted are those who have a request only for others, with for whom.
func (c court) wanted(r *models.Response) (map[models.UserID]models.UserID, error) {
	all, err := c.came(r, "")
	if err != nil || len(all) == 0 {
		return nil, err
	}
	out := map[models.UserID]models.UserID{}
	for _, one := range all {
		sub, err := c.standing(one.To, r)
		if err != nil {
			return nil, err
		}
		if _, has := out[sub.ID]; has || sub.ID == r.OwnerID || sub.Asked {
			continue
		}
		may, err := c.mayApprove(sub, r)
		if err == nil && !may {
			may, err = c.actsFor(sub, one.From, r)
		}
		if err != nil {
			return nil, err
		}
		if may {
			out[sub.ID] = one.From
		}
	}
	return out, nil
}

const (
	forOthersOf  = `SELECT user_id FROM reviewers` + db.ByReviewersForOthers + ` WHERE response_id = ? AND for_others ORDER BY user_id`
	markForOther = `UPDATE reviewers SET for_others = TRUE WHERE user_id = ? AND response_id = ?`
	askedNow     = `UPDATE reviewers SET for_others = FALSE WHERE user_id IN ? AND response_id = ? AND for_others`
	// toRestand are the pending requests that somebody has for somebody else, or might have.
	toRestand = `SELECT r.id FROM responses r` + db.ByResponsesPendingRisk + ` WHERE r.approval_status = 'pending'
 AND (EXISTS (SELECT 1 FROM reviewers v` + db.ByReviewersForOthers + ` WHERE v.response_id = r.id AND v.for_others)
 OR EXISTS (SELECT 1 FROM handovers h WHERE h.response_id = r.id AND h.taken_back_at IS NULL)
 OR EXISTS (SELECT 1 FROM absences x` + db.ByAbsencesOpen + ` CROSS JOIN deciders d ON d.user_id = x.user_id AND d.deadline = r.approval_timeout_at AND d.response_id = r.id
  WHERE x.ended_at IS NULL AND x.substitute_id <> '')) ORDER BY r.id`
)

// askedThemselves notes that people who may have had a request for others are asked now.
func (t *tx) askedThemselves(id models.ResponseID, users []models.UserID) error {
	w, err := t.acting()
	if err != nil || w.nobodyHas(id) || len(users) == 0 {
		return err
	}
	if err := t.Gorm().Exec(askedNow, users, id).Error; err != nil {
		return fmt.Errorf("note who is asked: %w", err)
	}
	return nil
}

// restandAll is restand of all requests to which it may matter.
func (t *tx) restandAll(actor models.Actor) error {
	w, err := t.acting()
	if err != nil || w.nobody() {
		return err
	}
	return t.restandEach(actor)
}

func (t *tx) restandEach(actor models.Actor) error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(toRestand).Scan(&ids).Error; err != nil {
		return fmt.Errorf("look for what people have for others: %w", err)
	}
	for _, id := range ids {
		a, err := t.standing(id)
		if err != nil {
			return err
		}
		if err := t.restandOne(actor, a); err != nil {
			return err
		}
	}
	return nil
}

// restand has a pending request be in the inboxes of those who may act on it for others now,
// and of no others. Whose verdict holds it keeps it.
func (t *tx) restand(actor models.Actor, a *models.Approval) error {
	w, err := t.acting()
	if err != nil || w.nobodyHas(a.ID) || a.Status() != models.StatusPending {
		return err
	}
	return t.restandOne(actor, a)
}

func (t *tx) restandOne(actor models.Actor, a *models.Approval) error {
	if a.PastDeadline(t.Now) {
		return nil
	}
	c, err := t.court()
	if err != nil {
		return err
	}
	wanted, err := c.wanted(&a.Response)
	if err != nil {
		return err
	}
	var have, idle []models.UserID
	if err := t.Gorm().Raw(forOthersOf, a.ID).Scan(&have).Error; err != nil {
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
		if _, still := wanted[user]; !still && user != holds {
			idle = append(idle, user)
		}
		delete(wanted, user)
	}
	if err := t.unroute(actor, a, idle); err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(wanted)) {
		if err := t.routeFor(actor, a, user, wanted[user]); err != nil {
			return err
		}
	}
	return nil
}

// routeFor puts a pending request into the inbox of somebody who acts for somebody else.
func (t *tx) routeFor(actor models.Actor, a *models.Approval, user, from models.UserID) error {
	if err := t.addDeciders(&a.Response, []models.UserID{user}); err != nil {
		return err
	}
	if err := t.Gorm().Exec(markForOther, user, a.ID).Error; err != nil {
		return fmt.Errorf("note for whom somebody has a request: %w", err)
	}
	t.Publish(events.Approval(string(a.ID)))
	return t.record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{user}), routedEntry{Digest: a.Digest, Joined: user, For: from})
}

// rightOf is what a person who sees a pending request may do with it.
func (t *tx) rightOf(actor models.Actor, a *models.Approval) (models.Right, error) {
	w, err := t.acting()
	if err != nil {
		return models.Right{}, err
	}
	if w.nobodyHas(a.ID) { // whoever sees it is its owner, an admin, or asked
		able, err := t.allows(a.Approvers(), a.OwnerID, actor.UserID())
		return models.Right{Own: true, MayApprove: able}, err
	}
	c, err := t.court()
	if err != nil {
		return models.Right{}, err
	}
	p, err := c.standing(actor.UserID(), &a.Response)
	if err != nil {
		return models.Right{}, err
	}
	return c.right(p, &a.Response)
}

// mayReject refuses somebody who had a request only for others, and may not act for them any
// more. Everybody else who sees it may reject it.
func (t *tx) mayReject(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if w, err := t.acting(); err != nil || w.nobody() {
		return err // whoever sees it is its owner, an admin, or asked
	}
	right, err := t.rightOf(actor, a)
	if err == nil {
		err = actsStill(right, a)
	}
	if err != nil || right.Own {
		return err
	}
	vote.BehalfOf, vote.BehalfName = right.OnBehalf.ID, right.OnBehalf.Name
	return nil
}

func actsStill(right models.Right, a *models.Approval) error {
	if right.MayDecide() {
		return nil
	}
	return notAReviewer(a.Approvers(), "You can't act on this request for others any more. ")
}

// maySteer refuses to ask about a pending request, and to move its deadline, whoever had it
// only for others and may not act for them any more.
func (t *tx) maySteer(actor models.Actor, a *models.Approval) error {
	if w, err := t.acting(); err != nil || w.nobody() {
		return err
	}
	right, err := t.rightOf(actor, a)
	if err != nil {
		return err
	}
	return actsStill(right, a)
}

// proposalCounts reports whether somebody who has proposed an edit may approve its request,
// in their own right or for whom they proposed it.
func (c court) proposalCounts(a *models.Approval, v *models.Vote) (bool, error) {
	if v.BehalfOf == "" {
		return c.allows(a.Approvers(), v.UserID, &a.Response)
	}
	sub, err := c.standing(v.UserID, &a.Response)
	if err != nil {
		return false, err
	}
	return c.actsFor(sub, v.BehalfOf, &a.Response)
}
