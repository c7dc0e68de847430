package store

import (
	"context"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/db"
)

// riskRank is the place of a response's risk from the highest, as the index by risk has it
// word for word.
func riskRank(table string) string {
	return `CASE ` + table + `.risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END`
}

// An inbox by risk: the next :n keys after :rank, :at and :id.
var byRisk = db.List[key]{
	Order: []db.Key{{Name: `rank`, Is: riskRank(`p`)}, {Name: `deadline`, Is: `p.approval_timeout_at`}, {Name: `id`, Is: `p.id`}},
	With:  []db.Key{{Name: `number`, Is: `p.number`}},
	After: db.Say(`(:rank, :at, :id)`), Count: db.Say(`:n`),
}

// The keys of an inbox by risk. Of all that waits, an index has one level's in order, from
// the place that is sought, and then those of the next levels; what one agent, conversation
// or person has is read and sorted.
var (
	allByRisk = keysOf(fromPlace(byRisk),
		along(everyPending, isPending, riskRank(`p`)+` = :rank`, `(p.approval_timeout_at, p.id) > (:at, :id)`),
		along(everyPending, isPending, riskRank(`p`)+` > :rank`))
	conversationByRisk = keysOf(byRisk, along(conversationWait, ofRunPending))
	agentByRisk        = keysOf(byRisk, along(agentPending, ofAgentPending))
	deciderByRisk      = keysOf(byRisk, along(`deciders d CROSS JOIN responses p ON p.id = d.response_id`, `d.user_id = :me`, isPending))
)

// mergedByDeadline selects what waits by deadline, of the index by risk: each level has that
// order, and SQLite merges them as they are read, no further than is wanted.
func mergedByDeadline(columns, condition, limit string) string {
	each := make([]string, len(models.Risks()))
	for rank := range each {
		each[rank] = `SELECT ` + columns + ` FROM ` + everyPending + ` WHERE ` + isPending + ` AND ` + riskRank(`p`) + ` = ` + strconv.Itoa(rank) + ` AND ` + condition
	}
	return strings.Join(each, ` UNION ALL `) + ` ORDER BY deadline, id LIMIT ` + limit
}

// dueQuery selects what is due, by deadline.
func dueQuery() string {
	return `SELECT id FROM (` + mergedByDeadline(`p.approval_timeout_at AS deadline, p.id AS id`, `p.approval_timeout_at <= ?1 AND p.held_until IS NULL`, `?2`) + `)`
}

// nextDeadlines selects the next deadline of each level of risk: a column each.
func nextDeadlines() string {
	each := make([]string, len(models.Risks()))
	for rank := range each {
		each[rank] = `(SELECT p.approval_timeout_at FROM ` + everyPending + ` WHERE ` + isPending + ` AND ` + riskRank(`p`) + ` = ` + strconv.Itoa(rank) +
			` AND p.held_until IS NULL ORDER BY p.approval_timeout_at, p.id LIMIT 1)`
	}
	return `SELECT ` + strings.Join(each, `, `)
}

const everyPending = `responses p` + db.ByResponsesPendingRisk

// fromPlace is a list whose walks say themselves after which key they begin.
func fromPlace(l db.List[key]) db.List[key] {
	l.After = db.Part{}
	return l
}

// decides counts what a person may decide, no further than what is small.
const decides = `SELECT count(*) FROM (SELECT 1 FROM deciders WHERE user_id = ? LIMIT ?)`

func (s *Store) keysByRisk(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	if q.Conversation != "" {
		return conversationByRisk, nil
	}
	if q.Agent != "" {
		n, err := s.scalar(ctx, smallAgent, q.Agent, smallPending+1)
		if err != nil || n <= smallPending {
			return agentByRisk, err
		}
	}
	if actor.Admin && q.Whose == WhoseAll {
		return allByRisk, nil
	}
	if n, err := s.scalar(ctx, decides, actor.ID, smallRouted+1); err != nil || n <= smallRouted {
		return deciderByRisk, err
	}
	return allByRisk, nil // with so much, it is found on the way
}
