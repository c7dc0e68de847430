package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/people"
)

// rightsReader judges who may act on requests, in a transaction or in a read.
type rightsReader struct {
	q   *gorm.DB
	now time.Time
	*substitutions

	read *readAhead // nil: each is read when it is asked for
}

func (t *Tx) rightsReader() (rightsReader, error) {
	w, err := t.substitutions()
	return rightsReader{q: t.Gorm(), now: t.Now, substitutions: w}, err
}

func (s *Store) rightsReader(ctx context.Context) (rightsReader, error) {
	q := s.db.Gorm(ctx)
	w, err := readSubstitutions(q)
	return rightsReader{q: q, now: s.db.Now(), substitutions: w}, err
}

// relation is what counts of a person on a request.
type relation struct {
	models.PersonRef

	Enabled, Admin bool
	Asked          bool // the rule, an edit or a step asks them
	Owns           bool // the agent, or the conversation
}

func (c rightsReader) relation(user models.UserID, r *models.Response) (relation, error) {
	if p, ok := c.read.relation(user, r.ID); ok {
		return p, nil
	}
	var out relation
	if err := c.q.Raw(relationOf, user, r.ID).Scan(&out).Error; err != nil {
		return out, fmt.Errorf("read what somebody may do: %w", err)
	}
	return out, nil
}

var (
	relationColumns = `u.id, u.name, u.email, ` + people.MayDecide(`u`) + ` AS enabled, u.role = 'admin' AS admin,
 EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = u.id AND v.response_id = r.id AND NOT v.for_others) AS asked,
 u.id IN (r.owner_id, c.owner_id, a.owner_id) AS owns`
	relationOf = `SELECT ` + relationColumns + `
 FROM users u, responses r JOIN conversations c ON c.id = r.conversation_id JOIN agents a ON a.id = r.agent_id WHERE u.id = ? AND r.id = ?`
)

// mayApprove reports whether somebody may approve a request in their own right: they have it
// as its owner, as an admin or because they are asked, and its rule lets them.
func (c rightsReader) mayApprove(p relation, r *models.Response) (bool, error) {
	if !p.Enabled || p.ID != r.OwnerID && !p.Admin && !p.Asked {
		return false, nil
	}
	return c.allows(r.Approvers(), p.ID, r)
}

func (c rightsReader) allows(who models.Approvers, user models.UserID, r *models.Response) (bool, error) {
	as := models.Voter{ID: user}
	if len(who.Groups()) > 0 {
		var err error
		if as, err = c.voter(user); err != nil {
			return false, err
		}
	}
	return who.Allow(r.OwnerID, as), nil
}

// voter is somebody with the groups that they are in now.
func (c rightsReader) voter(user models.UserID) (models.Voter, error) {
	if groups, ok := c.read.groupsOf(user); ok {
		return models.Voter{ID: user, Groups: groups}, nil
	}
	groups, err := people.GroupsIn(c.q, user)
	return models.Voter{ID: user, Groups: groups}, err
}

// actsFor reports whether somebody may act on a request for somebody else.
func (c rightsReader) actsFor(sub relation, user models.UserID, r *models.Response) (bool, error) {
	if !sub.Enabled || sub.Owns || r.NoSubstitutes || !c.accepted[[2]models.UserID{sub.ID, user}] {
		return false, nil
	}
	p, err := c.relation(user, r)
	if err != nil {
		return false, err
	}
	return c.mayApprove(p, r)
}

// right is what somebody who sees a pending request may do with it.
func (c rightsReader) right(p relation, r *models.Response) (models.Right, error) {
	if s, err := c.ballot(r); err != nil || s != nil {
		if err != nil {
			return models.Right{}, err
		}
		right, _, err := c.signRight(p, r, s)
		return right, err
	}
	out := models.Right{Own: p.Enabled && (p.ID == r.OwnerID || p.Admin || p.Asked)}
	var err error
	if out.MayApprove, err = c.mayApprove(p, r); err != nil || out.MayApprove {
		return out, err // a person who may approve acts for no other
	}
	out.OnBehalf, err = c.behalf(p, r)
	out.MayApprove = out.OnBehalf != nil
	return out, err
}

// behalf is the person for whom somebody may act on a request now; nil: there is none.
func (c rightsReader) behalf(sub relation, r *models.Response) (*models.PersonRef, error) {
	all, err := c.delegations(r, sub.ID)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if may, err := c.actsFor(sub, one.From, r); err != nil {
			return nil, err
		} else if may {
			p, err := c.relation(one.From, r)
			return &p.PersonRef, err
		}
	}
	return nil, nil //nolint:nilnil // for nobody
}

// standInsOf are those who have a request only for others, with for whom.
func (c rightsReader) standInsOf(r *models.Response) (map[models.UserID]models.UserID, error) {
	all, err := c.delegations(r, "")
	if err != nil || len(all) == 0 {
		return nil, err
	}
	out := map[models.UserID]models.UserID{}
	for _, one := range all {
		sub, err := c.relation(one.To, r)
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

// proposalCounts reports whether somebody who has proposed an edit may approve its request,
// in their own right or for whom they proposed it.
func (c rightsReader) proposalCounts(a *models.Approval, v *models.Vote) (bool, error) {
	if v.BehalfOf == "" {
		return c.allows(a.Approvers(), v.UserID, &a.Response)
	}
	sub, err := c.relation(v.UserID, &a.Response)
	if err != nil {
		return false, err
	}
	return c.actsFor(sub, v.BehalfOf, &a.Response)
}

// rightOf is what a person who sees a pending request may do with it.
func (t *Tx) rightOf(actor models.Actor, a *models.Approval) (models.Right, error) {
	w, err := t.substitutions()
	if err != nil {
		return models.Right{}, err
	}
	if w.nobodyHas(a.ID) && a.QuorumJSON == "" && !watched(actor, a) { // a person who sees it is its owner, an admin, or asked
		able, err := t.allows(a.Approvers(), a.OwnerID, actor.UserID())
		return models.Right{Own: true, MayApprove: able}, err
	}
	c, err := t.rightsReader()
	if err != nil {
		return models.Right{}, err
	}
	p, err := c.relation(actor.UserID(), &a.Response)
	if err != nil {
		return models.Right{}, err
	}
	return c.right(p, &a.Response)
}

// watched reports whether a person may see a request who is neither its owner nor an admin nor asked about it, and acts
// for no other either.
func watched(actor models.Actor, a *models.Approval) bool { return actor.Auditor || a.Admits() }

// mayReject refuses somebody who had a request only for others, and may not act for them any
// more. Everybody else who sees it may reject it.
func (t *Tx) mayReject(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if w, err := t.substitutions(); err != nil || w.nobody() && !watched(actor, a) {
		return err // a person who sees it is its owner, an admin, or asked
	}
	right, err := t.rightOf(actor, a)
	if err == nil {
		err = checkRight(right, a)
	}
	if err != nil || right.Own {
		return err
	}
	vote.BehalfOf, vote.BehalfName = right.OnBehalf.ID, right.OnBehalf.Name
	return nil
}

func checkRight(right models.Right, a *models.Approval) error {
	switch {
	case right.MayDecide():
		return nil
	case right.BreaksGlass:
		return models.Errorf(models.CodeNotAReviewer,
			"You are not asked about this request: all that you can do with it is to break glass, and decide it alone.")
	}
	return notAReviewer(a.Approvers(), "You can't act on this request for others any more. ")
}

// maySteer refuses a question about a pending request, and a later deadline, by a person who had it only for others
// and may not act for them any more.
func (t *Tx) maySteer(actor models.Actor, a *models.Approval) error {
	if w, err := t.substitutions(); err != nil || w.nobody() && !watched(actor, a) {
		return err
	}
	right, err := t.rightOf(actor, a)
	if err != nil {
		return err
	}
	return checkRight(right, a)
}
