package store

import (
	"context"

	"countersign/models"
	"countersign/models/db"
)

// Who may see a request is models.Actor.Sees. personSees and seenBy say the same in SQL;
// lists are driven by an index of their own, and hold to it too. A property test holds
// all of them equal.

// personSees is the condition under which a person sees the response of that name in a
// statement, of which admin and me are parameters.
func personSees(name, admin, me string) string {
	return `(` + admin + ` OR ` + name + `.owner_id = ` + me + ` OR EXISTS (SELECT 1 FROM reviewers w WHERE w.user_id = ` + me + ` AND w.response_id = ` + name + `.id))`
}

// seenBy is the condition under which an actor sees the response of that name in a
// statement.
func seenBy(actor models.Actor, name string) db.Part {
	switch {
	case actor.IsAgent():
		return db.Say(name+`.agent_id = ?`, actor.ID)
	case actor.IsPerson():
		return db.Say(personSees(name, `?`, `?`), actor.Admin, actor.ID, actor.ID)
	case actor.Kind == models.ActorSystem, actor.Kind == models.ActorOperator:
		return db.Say(`TRUE`)
	}
	return db.Say(`FALSE`)
}

// maySee is models.Actor.Sees: whether the request was routed to the actor is looked up
// only where that decides.
func maySee(actor models.Actor, r *models.Response, routed func() (bool, error)) (bool, error) {
	if sees := actor.Sees(r, false); sees || !actor.Sees(r, true) {
		return sees, nil
	}
	return routed()
}

// maySee is the same of a request that was read.
func (s *Store) maySee(ctx context.Context, actor models.Actor, r *models.Response) (bool, error) {
	return maySee(actor, r, func() (bool, error) {
		return db.Exists(s.db.Row(ctx, s.reads.isReviewer, isReviewer, actor.ID, r.ID))
	})
}

// maySee is the same within a transaction.
func (t *tx) maySee(actor models.Actor, r *models.Response) (bool, error) {
	return maySee(actor, r, func() (bool, error) { return db.Exists(t.Row(t.s.hot.isReviewer, actor.ID, r.ID)) })
}
