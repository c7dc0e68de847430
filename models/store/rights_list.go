package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
)

// readAhead is what a rightsReader has read beforehand, with a statement for each kind of
// thing: so a list costs as many statements as one request does.
type readAhead struct {
	relations map[relationKey]relation
	groups    map[models.UserID][]string
	handOvers map[models.ResponseID][]delegation
	signed    map[models.ResponseID][]models.Vote // of requests that several people sign
}

type relationKey struct {
	user    models.UserID
	request models.ResponseID
}

func (g *readAhead) relation(user models.UserID, request models.ResponseID) (relation, bool) {
	if g == nil {
		return relation{}, false
	}
	p, ok := g.relations[relationKey{user, request}]
	return p, ok
}

func (g *readAhead) groupsOf(user models.UserID) ([]string, bool) {
	if g == nil {
		return nil, false
	}
	groups, ok := g.groups[user]
	return groups, ok
}

func (g *readAhead) handedOver(request models.ResponseID) ([]delegation, bool) {
	if g == nil {
		return nil, false
	}
	list, ok := g.handOvers[request]
	return list, ok
}

func (g *readAhead) signatures(request models.ResponseID) ([]models.Vote, bool) {
	if g == nil {
		return nil, false
	}
	votes, ok := g.signed[request]
	return votes, ok
}

var (
	standingEach = `SELECT v.* FROM ` + db.Each(`?`) + ` CROSS JOIN votes v` + db.ByVotesWaiting + ` ON v.response_id = j.value
 WHERE v.withdrawn_at IS NULL AND v.waits_for <> '' ORDER BY v.at, v.id`
	handedOverEach = `SELECT h.response_id, h.from_user AS "from", h.to_user AS "to" FROM ` + db.Each(`?`) +
		` CROSS JOIN handovers h ON h.response_id = j.value
 WHERE h.taken_back_at IS NULL ORDER BY h.at, h.id`
	// relationsOf are those of some people (?2) on some requests (?1).
	relationsOf = `SELECT r.id AS response_id, ` + relationColumns + ` FROM ` + db.Each(`?1`) +
		` CROSS JOIN responses r ON r.id = j.value
 CROSS JOIN conversations c ON c.id = r.conversation_id CROSS JOIN agents a ON a.id = r.agent_id
 CROSS JOIN users u ON u.id IN (SELECT j.value FROM ` + db.Each(`?2`) + `)`
)

// gather reads the rights of some people for rows: of the people named, and of those for whom they may have a row;
// without names, of all who may.
func (c *rightsReader) gather(rows []*models.Approval, named ...models.UserID) error {
	g := &readAhead{
		map[relationKey]relation{},
		map[models.UserID][]string{},
		map[models.ResponseID][]delegation{},
		map[models.ResponseID][]models.Vote{},
	}
	users := map[models.UserID]bool{}
	for _, user := range named {
		users[user] = true
	}
	takes := func(from, to models.UserID) {
		if len(named) == 0 || users[to] {
			users[from], users[to] = true, true
		}
	}
	ids, groups := make([]models.ResponseID, 0, len(rows)), false
	for _, a := range rows {
		ids, g.handOvers[a.ID] = append(ids, a.ID), nil
		groups = groups || len(a.Approvers().Groups()) > 0
		if a.QuorumJSON != "" {
			g.signed[a.ID], groups = nil, true
		}
	}
	list, err := listOf(ids)
	if err != nil {
		return err
	}
	if err := c.gatherHanded(g, list, takes); err != nil {
		return err
	}
	if err := c.gatherSigned(g, users); err != nil {
		return err
	}
	for i := range c.absences {
		if a := &c.absences[i]; a.Runs(c.now) {
			takes(a.UserID, a.SubstituteID)
		}
	}
	who := make([]models.UserID, 0, len(users))
	for user := range users {
		who = append(who, user)
	}
	if err := gatherRelations(c.q, g, list, who); err != nil {
		return err
	}
	if groups {
		if err := people.GroupsOfEach(c.q, who, g.groups); err != nil {
			return err
		}
	}
	c.read = g
	return nil
}

func (c *rightsReader) gatherHanded(g *readAhead, list string, takes func(from, to models.UserID)) error {
	if len(c.handOvers) == 0 {
		return nil
	}
	var all []struct {
		ResponseID models.ResponseID
		Delegation delegation `gorm:"embedded"`
	}
	if err := c.q.Raw(handedOverEach, list).Scan(&all).Error; err != nil {
		return fmt.Errorf("read hand-overs: %w", err)
	}
	for i := range all {
		one := &all[i]
		g.handOvers[one.ResponseID] = append(g.handOvers[one.ResponseID], one.Delegation)
		takes(one.Delegation.From, one.Delegation.To)
	}
	return nil
}

// gatherSigned reads the signatures on requests, and who gave them.
func (c *rightsReader) gatherSigned(g *readAhead, users map[models.UserID]bool) error {
	if len(g.signed) == 0 {
		return nil
	}
	list, err := listOf(slices.Sorted(maps.Keys(g.signed)))
	if err != nil {
		return err
	}
	var votes []models.Vote
	if err := c.q.Raw(standingEach, list).Scan(&votes).Error; err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	for i := range votes {
		v := votes[i]
		g.signed[v.ResponseID] = append(g.signed[v.ResponseID], v)
		users[v.UserID] = true
		if v.BehalfOf != "" {
			users[v.BehalfOf] = true
		}
	}
	return nil
}

func gatherRelations(q *gorm.DB, g *readAhead, list string, who []models.UserID) error {
	users, err := listOf(who)
	if err != nil {
		return err
	}
	var all []struct {
		ResponseID models.ResponseID
		Relation   relation `gorm:"embedded"`
	}
	if err := q.Raw(relationsOf, list, users).Scan(&all).Error; err != nil {
		return fmt.Errorf("read what people may do: %w", err)
	}
	for i := range all {
		g.relations[relationKey{all[i].Relation.ID, all[i].ResponseID}] = all[i].Relation
	}
	return nil
}

var forOthersEach = `SELECT v.response_id, v.user_id FROM ` + db.Each(`?`) + ` CROSS JOIN reviewers v` +
	db.ByReviewersForOthers + ` ON v.response_id = j.value
 WHERE v.for_others ORDER BY v.user_id`

// standIns names, of requests that wait, who may decide them now for others only, and for
// whom.
func (s *Store) standIns(ctx context.Context, rows []*models.Approval) (map[models.ResponseID][]string, error) {
	if len(rows) == 0 {
		return nil, nil //nolint:nilnil // nobody
	}
	out := map[models.ResponseID][]string{}
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		c, err := s.rightsReader(ctx)
		if err != nil || c.nobody() {
			return err
		}
		ids, with := make([]models.ResponseID, 0, len(rows)), map[models.ResponseID][]models.UserID{}
		for _, a := range rows {
			ids = append(ids, a.ID)
		}
		list, err := listOf(ids)
		if err != nil {
			return err
		}
		var routes []struct {
			ResponseID models.ResponseID
			UserID     models.UserID
		}
		if err := c.q.Raw(forOthersEach, list).Scan(&routes).Error; err != nil {
			return fmt.Errorf("read who has requests for others: %w", err)
		}
		for _, v := range routes {
			with[v.ResponseID] = append(with[v.ResponseID], v.UserID)
		}
		var some []*models.Approval
		for _, a := range rows {
			if len(with[a.ID]) > 0 {
				some = append(some, a)
			}
		}
		if len(some) == 0 {
			return nil
		}
		if err := c.gather(some); err != nil {
			return err
		}
		for _, a := range some {
			if out[a.ID], err = c.standInNames(&a.Response, with[a.ID]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// standInNames names those of some people who may decide a request for others.
func (c rightsReader) standInNames(r *models.Response, users []models.UserID) ([]string, error) {
	var out []string
	for _, user := range users {
		p, err := c.relation(user, r)
		if err != nil {
			return nil, err
		}
		right, err := c.right(p, r)
		if err != nil {
			return nil, err
		}
		if right.OnBehalf != nil {
			out = append(out, models.StandInReviewer(p.Name, right.OnBehalf.Name))
		}
	}
	return out, nil
}

// listOf is a list of ids as a parameter of db.Each.
func listOf[T ~string](ids []T) (string, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return "", fmt.Errorf("make a list of ids: %w", err)
	}
	return string(list), nil
}

// Rights are what a person may do with requests that they were given, of those that wait: by
// the same rule as their verdict is judged, and by the clock. It takes as many statements for
// many as for one.
//
// Codes: forbidden (people only).
func (s *Store) Rights(
	ctx context.Context, actor models.Actor, rows ...*models.Approval,
) (map[models.ResponseID]models.Right, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only people may decide.")
	}
	out := make(map[models.ResponseID]models.Right, len(rows))
	var waiting []*models.Approval
	for _, a := range rows {
		if a.Status() == models.StatusPending {
			waiting = append(waiting, a)
		}
	}
	if len(waiting) == 0 {
		return out, nil
	}
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		c, err := s.rightsReader(ctx)
		if err != nil {
			return err
		}
		if err := c.gather(waiting, actor.UserID()); err != nil {
			return err
		}
		for _, a := range waiting {
			me, err := c.relation(actor.UserID(), &a.Response)
			if err != nil {
				return err
			}
			if out[a.ID], err = c.right(me, &a.Response); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}
