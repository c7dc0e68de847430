package store

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
)

var (
	namesQuery = `SELECT u.id, u.name FROM ` + db.Each(`?`) +
		` CROSS JOIN users u ON u.id = j.value WHERE ` + people.MayDecide(`u`)
	upstreamNamesQuery = `SELECT u.id, u.name FROM ` + db.Each(`?`) + ` CROSS JOIN upstreams u ON u.id = j.value`
)

// WaitsFor says of requests that the actor has read, in their order, who may decide them and what they wait for. Every
// actor gets people's names, as with decisions; e-mails and the names of other systems are for people.
func (s *Store) WaitsFor(ctx context.Context, actor models.Actor, rows ...*models.Approval) ([]models.WaitsFor, error) {
	out, now := make([]models.WaitsFor, len(rows)), s.db.Now()
	var persons, systems []string
	var waiting []*models.Approval
	for _, a := range rows {
		if a.StateAt(now) != models.StatusPending {
			continue
		}
		waiting = append(waiting, a)
		ids, _, _ := a.Candidates()
		for _, id := range ids {
			if !knows(actor, id) {
				persons = append(persons, string(id))
			}
		}
		if a.HeldUntil != nil && a.UpstreamID != nil && actor.IsPerson() {
			systems = append(systems, *a.UpstreamID)
		}
	}
	names, err := s.namesOf(ctx, namesQuery, persons)
	if err != nil {
		return nil, err
	}
	if actor.OwnerName != "" {
		names[string(actor.OwnerID)] = actor.OwnerName
	}
	upstreams, err := s.namesOf(ctx, upstreamNamesQuery, systems)
	if err != nil {
		return nil, err
	}
	standIns, err := s.standIns(ctx, waiting)
	if err != nil {
		return nil, err
	}
	ballots, err := s.ballots(ctx, waiting)
	if err != nil {
		return nil, err
	}
	for i, a := range rows {
		upstream := ""
		if a.UpstreamID != nil {
			upstream = upstreams[*a.UpstreamID]
		}
		out[i] = a.WaitingFor(append(candidateNames(a, names), standIns[a.ID]...), upstream, now)
		if ballot := ballots[a.ID]; ballot != nil {
			out[i] = out[i].Signed(a, ballot, actor.IsPerson())
		}
	}
	return out, nil
}

// ballots are how far those of some requests have come that several people sign.
func (s *Store) ballots(ctx context.Context, rows []*models.Approval) (map[models.ResponseID]*models.Ballot, error) {
	var some []*models.Approval
	for _, a := range rows {
		if a.QuorumJSON != "" {
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		return nil, nil //nolint:nilnil // one person decides each
	}
	out := make(map[models.ResponseID]*models.Ballot, len(some))
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		c, err := s.rightsReader(ctx)
		if err != nil {
			return err
		}
		if err := c.gather(some); err != nil {
			return err
		}
		for _, a := range some {
			of, err := c.ballot(&a.Response)
			if err != nil {
				return err
			}
			out[a.ID] = of.shown()
		}
		return nil
	})
	return out, err
}

// knows reports whether an actor brings the name of a person: an agent does that of its owner,
// who is all that most requests wait for.
func knows(actor models.Actor, id models.UserID) bool {
	return actor.OwnerName != "" && id == actor.OwnerID
}

// candidateNames lists who may decide a request, without those who can't sign in.
func candidateNames(a *models.Approval, names map[string]string) []string {
	candidates, groups, admins := a.Candidates()
	out := make([]string, 0, len(candidates)+len(groups)+1)
	for _, id := range candidates {
		if name, ok := names[string(id)]; ok {
			out = append(out, models.PersonReviewer(name))
		}
	}
	for _, group := range groups {
		out = append(out, models.GroupReviewer(group))
	}
	if admins {
		out = append(out, models.AdminReviewers)
	}
	return out
}

// namesOf reads names by ids.
func (s *Store) namesOf(ctx context.Context, query string, ids []string) (map[string]string, error) {
	out := make(map[string]string, len(ids)+1)
	if len(ids) == 0 {
		return out, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	stmt, err := s.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), string(list))
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return nil, fmt.Errorf("read names: %w", err)
		}
		out[id] = name
	}
	return out, rows.Err()
}
