package requests

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// Where a set is as small as this, it is read and sorted: no index has its order.
const (
	smallPending = 1_000 // what one agent waits for, by deadline or risk
	smallRouted  = 2_000 // pending requests routed to a person, by age; those that a person decides, by risk
)

// maxSearch bounds a text that is looked for, in bytes.
const maxSearch = 200

func (q *InboxQuery) check() error {
	whose := q.Whose
	if whose == WhoseReads || whose == WhoseTogether {
		whose = WhoseAll
	}
	if err := checkFilters(whose, q.Risk, q.Text); err != nil {
		return err
	}
	if !slices.Contains([]InboxOrder{ByDeadline, ByAge, ByRisk}, q.Order) {
		return models.Invalid("order", "must be age or risk, or be left out")
	}
	return nil
}

// checkFilters checks what all lists can be filtered by.
func checkFilters(whose Whose, risk models.Risk, text string) error {
	if !slices.Contains([]Whose{WhoseAll, WhoseMine, WhoseRouted}, whose) {
		return models.Invalid("whose", "must be mine or routed, or be left out")
	}
	if risk != "" && !slices.Contains(models.Risks(), risk) {
		return models.Invalid("risk", "must be %s", models.AnyOf(models.Risks()))
	}
	return models.CheckText("text", text, maxSearch)
}

// inboxPicks is what an inbox lists of what its reader sees: what they are asked about, or the rest.
const inboxPicks = ` AND r.approval_status = 'pending' AND (r.approval_timeout_at > :now OR r.held_until IS NOT NULL)
 AND (:admin OR EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = :me AND d.deadline = r.approval_timeout_at AND d.response_id = r.id)) = (:whose <> 'read')
 AND (:whose <> 'together' OR r.when_busy = 'batch')`

// inboxSearch chooses the index that serves the list.
func (rs *Requests) inboxSearch(ctx context.Context, actor models.Actor, q InboxQuery, now time.Time) (*search, error) {
	l := &search{
		join: `r.id = k.id`, sort: `k.deadline, k.id`, text: q.Text != "",
		pick: inboxPicks,
		args: map[string]any{
			"me": actor.ID, "admin": actor.Oversees(), "now": now, "conversation": q.Conversation, "agent": q.Agent,
			"tool": q.Tool, "risk": q.Risk, "whose": string(q.Whose), "text": q.Text, "brief": models.MaxBrief,
		},
	}
	var err error
	if q.Order == ByAge {
		l.join, l.sort = `r.number = k.number`, `k.number`
		l.keys, err = rs.keysByAge(ctx, actor, q)
		return l, err
	}
	if q.Order == ByRisk {
		l.join, l.sort = `r.number = k.number`, `k.rank, k.deadline, k.id`
		l.keys, err = rs.keysByRisk(ctx, actor, q)
		return l, err
	}
	if l.keys, err = rs.keysByDeadline(ctx, actor, q); l.keys != deciderKeys {
		l.join = `r.number = k.number` // which the indexes of responses end with
	}
	return l, err
}

// An inbox by deadline, and by age: of both the next :n keys after :at and :id, or
// after :number.
var (
	byDeadline = db.List[Key]{
		Order: []db.Key{{Name: `deadline`, Is: `p.approval_timeout_at`}, {Name: `id`, Is: `p.id`}},
		With:  []db.Key{{Name: `number`, Is: `p.number`}},
		After: db.Say(`(:at, :id)`), Count: db.Say(`:n`),
	}
	ofDecider = db.List[Key]{
		Order: []db.Key{{Name: `deadline`, Is: `d.deadline`}, {Name: `id`, Is: `d.response_id`}}, After: db.Say(`(:at, :id)`),
		Count: db.Say(`:n`),
	}
	byNumber = db.List[Key]{
		Order: []db.Key{{Name: `number`, Is: `p.number`}}, After: db.Say(`:number`), Count: db.Say(`:n`),
	}
)

// along is a walk whose conditions have no arguments but those with names.
func along(from string, where ...string) db.Walk {
	w := db.Walk{From: db.Say(from)}
	for _, condition := range where {
		w.Where = append(w.Where, db.Say(condition))
	}
	return w
}

// keysOf selects the keys of a list that has arguments with names.
func keysOf(l db.List[Key], walks ...db.Walk) string {
	l.Walks = walks
	return l.Keys().Text
}

const (
	isPending        = `p.approval_status = 'pending'`
	ofAgentPending   = `p.agent_id = :agent AND ` + isPending
	ofRunPending     = `p.conversation_id = :conversation AND ` + isPending
	agentPending     = `responses p` + db.ByResponsesPendingAgent
	conversationWait = `responses p` + db.ByResponsesPendingConversation
)

// The keys of an inbox by deadline.
var (
	pendingKeys = mergedByDeadline(`p.approval_timeout_at AS deadline, p.id AS id, p.number AS number`,
		`(p.approval_timeout_at, p.id) > (:at, :id)`, `:n`)
	conversationKeys = keysOf(byDeadline, along(conversationWait, ofRunPending))
	agentKeys        = keysOf(byDeadline, along(agentPending, ofAgentPending))
	deciderKeys      = keysOf(ofDecider, along(`deciders d`, `d.user_id = :me`))
	readsByDeadline  = keysOf(byDeadline, waitsFor)
	togetherKeys     = keysOf(byDeadline, along(together, isTogether))

	// waitsFor are the pending requests that were routed to a person, or may be read by them.
	waitsFor = along(`reviewers v`+db.ByReviewersSettled+` CROSS JOIN responses p ON p.id = v.response_id`, `v.user_id = :me`,
		`v.settled_at IS NULL`)
)

// These count the rows of a set, up to the limit of a small one.
const (
	smallAgent = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingAgent +
		` WHERE agent_id = ? AND approval_status = 'pending' LIMIT ?)`
	readsSome = `SELECT count(*) FROM (SELECT 1 FROM (SELECT user_id, response_id, for_others FROM reviewers` +
		db.ByReviewersSettled + ` WHERE user_id = ? AND settled_at IS NULL LIMIT ?) k CROSS JOIN responses r ON r.id = k.response_id
 WHERE k.for_others AND NOT EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = k.user_id AND d.deadline = r.approval_timeout_at
 AND d.response_id = k.response_id) LIMIT 1)`
	waitingFor = `SELECT count(*) FROM (SELECT 1 FROM reviewers` + db.ByReviewersSettled +
		` WHERE user_id = ? AND settled_at IS NULL LIMIT ?)`
)

func (rs *Requests) keysByDeadline(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	if q.Conversation != "" {
		return conversationKeys, nil
	}
	if q.Agent != "" {
		n, err := rs.scalar(ctx, smallAgent, q.Agent, smallPending+1)
		if err != nil || n <= smallPending {
			return agentKeys, err
		}
	}
	if q.Whose == WhoseTogether {
		return togetherKeys, nil
	}
	if actor.Oversees() && q.Whose == WhoseAll {
		return pendingKeys, nil
	}
	if q.Whose == WhoseReads {
		return rs.ofSmall(ctx, waitingFor, actor, readsByDeadline, pendingKeys)
	}
	return deciderKeys, nil
}

// ofSmall is the first of two lists where a set of the actor's is small, else the second, in which it is found on the
// way.
func (rs *Requests) ofSmall(ctx context.Context, counts string, actor models.Actor, small, all string) (string, error) {
	if n, err := rs.scalar(ctx, counts, actor.ID, smallRouted+1); err != nil || n <= smallRouted {
		return small, err
	}
	return all, nil
}

// The keys of an inbox by age. An index has each agent's in order; of many agents
// as many of each are read as are wanted of all.
var (
	agentByAge        = keysOf(byNumber, along(agentPending, ofAgentPending))
	conversationByAge = keysOf(byNumber, along(conversationWait, ofRunPending))
	allByAge          = agentsByAge()
	mineByAge         = agentsByAge(`g.owner_id = :me`)
	routedByAge       = keysOf(byNumber, waitsFor)
	togetherByAge     = keysOf(byNumber, along(together, isTogether))
	bothByAge         = keysOf(byNumber, db.Walk{Keys: db.Say(mineByAge)}, db.Walk{Keys: db.Say(routedByAge)})
)

// agentsByAge are the keys of some agents, one agent's after the other's, put in order.
func agentsByAge(which ...string) string {
	each, all := byNumber, byNumber
	each.Order, all.After = []db.Key{{Name: `number`, Is: `o.number`}}, db.Part{}
	of := keysOf(each,
		along(`responses o`+db.ByResponsesPendingAgent, `o.agent_id = g.id`, `o.approval_status = 'pending'`))
	return keysOf(all, along(`agents g CROSS JOIN responses p ON p.number IN (`+of+`)`, which...))
}

func (rs *Requests) keysByAge(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	switch {
	case q.Conversation != "":
		return conversationByAge, nil
	case q.Agent != "":
		return agentByAge, nil
	case q.Whose == WhoseTogether:
		return togetherByAge, nil
	case q.Whose == WhoseMine:
		return mineByAge, nil
	case q.Whose == WhoseAll && actor.Oversees():
		return allByAge, nil
	}
	small := bothByAge
	if q.Whose == WhoseRouted || q.Whose == WhoseReads {
		small = routedByAge
	}
	return rs.ofSmall(ctx, waitingFor, actor, small, allByAge)
}

// countQuery counts the pending requests without a filter, up to one more than is shown. The indexes suffice, except
// for held requests past their deadline.
func countQuery(actor models.Actor, conv models.ConversationID, now time.Time) (string, []any) {
	count := func(rest string) string { return `SELECT count(*) FROM (SELECT 1 FROM ` + rest + ` LIMIT ?)` }
	waits := func(deadline, id string) string {
		return deadline + ` > ? AND (` + deadline + ` > ? OR EXISTS (SELECT 1 FROM responses h WHERE h.id = ` + id +
			` AND h.held_until IS NOT NULL))`
	}
	inConversation := `responses r` + db.ByResponsesPendingConversation +
		` WHERE r.conversation_id = ? AND r.approval_status = 'pending' AND ` + waits(`r.approval_timeout_at`, `r.id`)
	back := now.Add(-heldBack)
	switch {
	case conv == "" && actor.Oversees():
		return count(`responses r` + db.ByResponsesPendingRisk + ` WHERE r.approval_status = 'pending' AND ` +
			waits(`r.approval_timeout_at`, `r.id`)), []any{back, now, models.StatsCap + 1}
	case conv == "":
		return count(`deciders d WHERE d.user_id = ? AND ` + waits(`d.deadline`, `d.response_id`)), []any{
			actor.ID, back, now, models.StatsCap + 1,
		}
	case actor.Oversees():
		return count(inConversation), []any{conv, back, now, models.StatsCap + 1}
	}
	return count(inConversation +
			` AND EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = ? AND d.deadline = r.approval_timeout_at AND d.response_id = r.id)`),
		[]any{conv, back, now, actor.ID, models.StatsCap + 1}
}

// reasksQuery reads the requests whose numbers are in a JSON array, and for each the latest earlier rejected one with
// the same input that a person may see: an admin sees all.
var reasksQuery = `SELECT r.id, (SELECT p.id FROM responses p` + db.ByResponsesRejected + `
 WHERE p.agent_id = r.agent_id AND p.digest = r.digest AND p.approval_status = 'rejected' AND p.number < r.number
 AND ` + personSees(`p`, `?3`, `?2`) + ` ORDER BY p.number DESC LIMIT 1)
 FROM ` + db.EachNumber(`?1`) + ` CROSS JOIN responses r ON r.number = jn.value`

// riskRank is the place of a response's risk from the highest, as the index by risk has it
// word for word.
func riskRank(table string) string {
	return `CASE ` + table + `.risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END`
}

// An inbox by risk: the next :n keys after :rank, :at and :id.
var byRisk = db.List[Key]{
	Order: []db.Key{
		{Name: `rank`, Is: riskRank(`p`)}, {Name: `deadline`, Is: `p.approval_timeout_at`}, {Name: `id`, Is: `p.id`},
	},
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
	readsByRisk        = keysOf(byRisk, waitsFor)
	togetherByRisk     = keysOf(byRisk, along(together, isTogether))
	deciderByRisk      = keysOf(byRisk,
		along(`deciders d CROSS JOIN responses p ON p.id = d.response_id`, `d.user_id = :me`, isPending))
)

// mergedByDeadline selects pending requests by deadline, from the index by risk: each level has that order, and SQLite
// merges the levels as it reads them, up to the limit.
func mergedByDeadline(columns, condition, limit string) string {
	each := make([]string, len(models.Risks()))
	for rank := range each {
		each[rank] = `SELECT ` + columns + ` FROM ` + everyPending + ` WHERE ` + isPending + ` AND ` + riskRank(`p`) + ` = ` +
			strconv.Itoa(rank) + ` AND ` + condition
	}
	return strings.Join(each, ` UNION ALL `) + ` ORDER BY deadline, id LIMIT ` + limit
}

// DueQuery selects the requests that are past their deadline, by deadline.
func DueQuery() string {
	return `SELECT id FROM (` +
		mergedByDeadline(`p.approval_timeout_at AS deadline, p.id AS id`,
			`p.approval_timeout_at <= ?1 AND p.held_until IS NULL`, `?2`) + `)`
}

// NextDeadlines selects the next deadline of each level of risk: a column each.
func NextDeadlines() string {
	each := make([]string, len(models.Risks()))
	for rank := range each {
		each[rank] = `(SELECT p.approval_timeout_at FROM ` + everyPending + ` WHERE ` + isPending + ` AND ` + riskRank(`p`) +
			` = ` + strconv.Itoa(rank) +
			` AND p.held_until IS NULL ORDER BY p.approval_timeout_at, p.id LIMIT 1)`
	}
	return `SELECT ` + strings.Join(each, `, `)
}

const everyPending = `responses p` + db.ByResponsesPendingRisk

// fromPlace is a list whose walks say themselves after which key they begin.
func fromPlace(l db.List[Key]) db.List[Key] {
	l.After = db.Part{}
	return l
}

// decides counts the requests that a person may decide, up to the limit of a small set.
const decides = `SELECT count(*) FROM (SELECT 1 FROM deciders WHERE user_id = ? LIMIT ?)`

func (rs *Requests) keysByRisk(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	if q.Conversation != "" {
		return conversationByRisk, nil
	}
	if q.Agent != "" {
		n, err := rs.scalar(ctx, smallAgent, q.Agent, smallPending+1)
		if err != nil || n <= smallPending {
			return agentByRisk, err
		}
	}
	if q.Whose == WhoseTogether {
		return togetherByRisk, nil
	}
	if actor.Oversees() && q.Whose == WhoseAll {
		return allByRisk, nil
	}
	if q.Whose == WhoseReads {
		return rs.ofSmall(ctx, waitingFor, actor, readsByRisk, allByRisk)
	}
	return rs.ofSmall(ctx, decides, actor, deciderByRisk, allByRisk)
}
