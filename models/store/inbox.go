package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

// Whose narrows a list to why the reader sees it.
type Whose string

// The choices.
const (
	WhoseAll    Whose = ""       // for admins everything, for others both
	WhoseMine   Whose = "mine"   // the reader owns it
	WhoseRouted Whose = "routed" // a rule routed it to the reader
)

// InboxOrder is what comes first.
type InboxOrder string

// The orders.
const (
	ByDeadline InboxOrder = ""    // soonest first
	ByAge      InboxOrder = "age" // longest waiting first
)

// InboxQuery chooses from what a person may decide; members combine.
type InboxQuery struct {
	Conversation models.ConversationID // empty: all, as for the others
	Agent        models.AgentID
	Tool         string // exact
	Risk         models.Risk
	// Text is looked for in the tool's name, the description, the names of agent and
	// conversation, and the first MaxBrief characters of input and content. Small
	// and capital letters of ASCII are the same.
	Text  string
	Whose Whose
	Order InboxOrder
	After string // InboxPage.Next of the page before
	Brief bool   // for a list of one line each: inputs are cut to MaxBrief; a context is left out unless another system asks
	Limit int    // 0: models.DefaultPage
	// MaxBytes is where the page ends though more would fit; 0: nowhere.
	MaxBytes int
}

// InboxPage is one page of an inbox.
type InboxPage struct {
	Items []models.Approval
	Next  string // empty: the last page
	// Count is how many pass the filters from the beginning of the list, up to
	// models.StatsCap; CountCapped: there are more, or may be.
	Count       int
	CountCapped bool
	// Cut says that looking for what passes the filters ended early, after Searched
	// rows; Next goes on from there, though Items may be few or none.
	Cut      bool
	Searched int
	// ReaskOf names, for a request that an agent repeats, the latest earlier one that
	// was rejected.
	ReaskOf map[models.ResponseID]models.ResponseID
}

// Inbox is what a person may decide now: for admins all that is pending, for
// others what they own and what was routed to them.
//
// Codes: forbidden (people only), invalid.
func (s *Store) Inbox(ctx context.Context, actor models.Actor, q InboxQuery) (InboxPage, error) {
	if !actor.IsPerson() {
		return InboxPage{}, models.Errorf(models.CodeForbidden, "Only a person has an inbox.")
	}
	if err := q.check(); err != nil {
		return InboxPage{}, err
	}
	now := s.db.Now()
	l, err := s.inboxLook(ctx, actor, q, now)
	if err != nil {
		return InboxPage{}, err
	}
	page, limit := InboxPage{}, db.PageSize(q.Limit)
	if page.Count, page.CountCapped, err = s.inboxCount(ctx, actor, q, l, now); err != nil {
		return InboxPage{}, err
	}
	if err := s.inboxFrom(ctx, l, q, now); err != nil {
		return InboxPage{}, err
	}
	count := limit + 1
	if q.After == "" && q.filtered() {
		count = max(count, models.StatsCap+1) // the count comes with the page
	}
	found, err := s.look(ctx, l, deadlineOf, limit+1, count, l.most())
	if err != nil {
		return InboxPage{}, err
	}
	if q.After == "" && q.filtered() {
		page.Count, page.CountCapped = min(found.picked, models.StatsCap), found.cut || found.picked > models.StatsCap
	}
	page.Searched = found.searched
	keys := found.keys
	switch {
	case len(keys) > limit:
		keys = keys[:limit]
		page.Next = q.cursor(&keys[limit-1])
	case found.cut:
		page.Next, page.Cut = q.cursor(&found.last), true
	}
	columns := approvalColumns
	if q.Brief {
		columns = briefColumns
	}
	if page.Items, err = s.lookedUpWithin(ctx, keys, columns, q.MaxBytes); err != nil {
		return InboxPage{}, err
	}
	if n := len(page.Items); n < len(keys) {
		keys, page.Cut = keys[:n], false
		page.Next = q.cursor(&keys[n-1])
	}
	page.Items = slices.DeleteFunc(page.Items, func(a models.Approval) bool { return a.Status() != models.StatusPending }) // it left meanwhile
	page.ReaskOf, err = s.reasks(ctx, actor, keys)
	return page, err
}

// filtered reports whether rows must be looked at to count them.
func (q *InboxQuery) filtered() bool {
	return q.Agent != "" || q.Tool != "" || q.Risk != "" || q.Text != "" || q.Whose != WhoseAll
}

// cursor is where the page after k begins. By age it is the id alone: how many
// requests there are is not told to everybody.
func (q *InboxQuery) cursor(k *key) string {
	if q.Order == ByAge {
		return db.Cursor{ID: k.id}.String()
	}
	return db.Cursor{At: k.timeout, ID: k.id}.String()
}

// heldBack is how far behind its deadline a request is still listed while a verdict
// holds it: as long as that may be taken back.
const heldBack = policy.MaxUndoSeconds * time.Second

func deadlineOf(k *key) time.Time { return k.timeout }

// inboxFrom sets the look to where the page begins.
func (s *Store) inboxFrom(ctx context.Context, l *look, q InboxQuery, now time.Time) error {
	if q.Order == ByAge && q.After != "" {
		number, err := s.numberOf(ctx, q.After)
		l.from(key{number: number}, time.Time{})
		return err
	}
	after, err := db.ParseCursor(q.After)
	if err != nil {
		return err
	}
	if begins := now.Add(-heldBack); after.At.Before(begins) {
		after = db.Cursor{At: begins, ID: db.MaxID} // what is past its deadline has expired already (I3)
	}
	l.from(key{id: after.ID}, after.At)
	return nil
}

// numberOf is the number of the row that a cursor names.
func (s *Store) numberOf(ctx context.Context, id string) (int64, error) {
	if _, err := models.ParseID[models.ResponseID]("cursor", id); err != nil {
		return 0, models.Invalid("cursor", "must be the `next` of a page before")
	}
	number, err := s.scalar(ctx, `SELECT coalesce((SELECT number FROM responses WHERE id = ?), 0)`, id)
	if err == nil && number == 0 {
		return 0, models.Invalid("cursor", "must be the `next` of a page before")
	}
	return number, err
}

// inboxCount counts what passes the filters from the beginning of the list: by the
// index alone if it can, else by a look of its own, unless the page's own tells.
func (s *Store) inboxCount(ctx context.Context, actor models.Actor, q InboxQuery, l *look, now time.Time) (int, bool, error) {
	if !q.filtered() {
		text, args := countQuery(actor, q.Conversation, now)
		n, err := s.scalar(ctx, text, args...)
		return int(min(n, models.StatsCap)), n > models.StatsCap, err
	}
	if q.After == "" {
		return 0, false, nil
	}
	first := q
	first.After = ""
	if err := s.inboxFrom(ctx, l, first, now); err != nil {
		return 0, false, err
	}
	found, err := s.look(ctx, l, deadlineOf, 0, models.StatsCap+1, l.most())
	return min(found.picked, models.StatsCap), found.cut || found.picked > models.StatsCap, err
}

// reasks names the latest earlier request that was rejected and is repeated by one
// of keys, if the actor sees it.
func (s *Store) reasks(ctx context.Context, actor models.Actor, keys []key) (map[models.ResponseID]models.ResponseID, error) {
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	list, err := numbersOf(keys)
	if err != nil {
		return nil, err
	}
	stmt, err := s.db.Prepared(ctx, reasksQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), list, actor.ID, actor.Admin)
	if err != nil {
		return nil, fmt.Errorf("look for what is asked again: %w", err)
	}
	defer rows.Close()
	out := map[models.ResponseID]models.ResponseID{}
	for rows.Next() {
		var id models.ResponseID
		var of *models.ResponseID
		if err := rows.Scan(&id, &of); err != nil {
			return nil, fmt.Errorf("look for what is asked again: %w", err)
		}
		if of != nil {
			out[id] = *of
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for what is asked again: %w", err)
	}
	return out, nil
}

// Where a set is as small as this, it is read and sorted: no index has its order.
const (
	smallPending = 1_000 // what one agent waits for, by deadline
	smallRouted  = 2_000 // what waits of what was routed to a person, by age
)

// maxSearch bounds a text that is looked for, in bytes.
const maxSearch = 200

func (q *InboxQuery) check() error {
	if err := checkFilters(q.Whose, q.Risk, q.Text); err != nil {
		return err
	}
	if q.Order != ByDeadline && q.Order != ByAge {
		return models.Invalid("order", "must be age, or be left out")
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

// inboxLook chooses the index that serves the list.
func (s *Store) inboxLook(ctx context.Context, actor models.Actor, q InboxQuery, now time.Time) (*look, error) {
	l := &look{
		join: `r.id = k.id`, sort: `k.deadline, k.id`, text: q.Text != "",
		pick: ` AND r.approval_status = 'pending' AND (r.approval_timeout_at > :now OR r.held_until IS NOT NULL)`,
		args: map[string]any{
			"me": actor.ID, "admin": actor.Admin, "now": now, "conversation": q.Conversation, "agent": q.Agent,
			"tool": q.Tool, "risk": q.Risk, "whose": string(q.Whose), "text": q.Text, "brief": MaxBrief,
		},
	}
	var err error
	if q.Order == ByAge {
		l.join, l.sort = `r.number = k.number`, `k.number`
		l.keys, err = s.keysByAge(ctx, actor, q)
		return l, err
	}
	if l.keys, err = s.keysByDeadline(ctx, actor, q); l.keys != deciderKeys {
		l.join = `r.number = k.number` // which the indexes of responses end with
	}
	return l, err
}

// An inbox by deadline, and by age: of both the next :n keys after :at and :id, or
// after :number.
var (
	byDeadline = db.List[key]{
		Order: []db.Key{{Name: `deadline`, Is: `p.approval_timeout_at`}, {Name: `id`, Is: `p.id`}}, With: []db.Key{{Name: `number`, Is: `p.number`}},
		After: db.Say(`(:at, :id)`), Count: db.Say(`:n`),
	}
	ofDecider = db.List[key]{
		Order: []db.Key{{Name: `deadline`, Is: `d.deadline`}, {Name: `id`, Is: `d.response_id`}}, After: db.Say(`(:at, :id)`), Count: db.Say(`:n`),
	}
	byNumber = db.List[key]{Order: []db.Key{{Name: `number`, Is: `p.number`}}, After: db.Say(`:number`), Count: db.Say(`:n`)}
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
func keysOf(l db.List[key], walks ...db.Walk) string {
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
	pendingKeys      = keysOf(byDeadline, along(`responses p`+db.ByResponsesPending, isPending))
	conversationKeys = keysOf(byDeadline, along(conversationWait, ofRunPending))
	agentKeys        = keysOf(byDeadline, along(agentPending, ofAgentPending))
	deciderKeys      = keysOf(ofDecider, along(`deciders d`, `d.user_id = :me`))
)

// How many rows a set has, no further than what is small.
const (
	smallAgent = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingAgent + ` WHERE agent_id = ? AND approval_status = 'pending' LIMIT ?)`
	waitingFor = `SELECT count(*) FROM (SELECT 1 FROM reviewers` + db.ByReviewersSettled + ` WHERE user_id = ? AND settled_at IS NULL LIMIT ?)`
)

func (s *Store) keysByDeadline(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	if q.Conversation != "" {
		return conversationKeys, nil
	}
	if q.Agent != "" {
		n, err := s.scalar(ctx, smallAgent, q.Agent, smallPending+1)
		if err != nil || n <= smallPending {
			return agentKeys, err
		}
	}
	if actor.Admin && q.Whose == WhoseAll {
		return pendingKeys, nil
	}
	return deciderKeys, nil
}

// The keys of an inbox by age. An index has each agent's in order; of many agents
// as many of each are read as are wanted of all.
var (
	agentByAge        = keysOf(byNumber, along(agentPending, ofAgentPending))
	conversationByAge = keysOf(byNumber, along(conversationWait, ofRunPending))
	allByAge          = agentsByAge()
	mineByAge         = agentsByAge(`g.owner_id = :me`)
	routedByAge       = keysOf(byNumber, along(`reviewers v`+db.ByReviewersSettled+` CROSS JOIN responses p ON p.id = v.response_id`, `v.user_id = :me`, `v.settled_at IS NULL`))
	bothByAge         = keysOf(byNumber, db.Walk{Keys: db.Say(mineByAge)}, db.Walk{Keys: db.Say(routedByAge)})
)

// agentsByAge are the keys of some agents, one agent's after the other's, put in order.
func agentsByAge(which ...string) string {
	each, all := byNumber, byNumber
	each.Order, all.After = []db.Key{{Name: `number`, Is: `o.number`}}, db.Part{}
	of := keysOf(each, along(`responses o`+db.ByResponsesPendingAgent, `o.agent_id = g.id`, `o.approval_status = 'pending'`))
	return keysOf(all, along(`agents g CROSS JOIN responses p ON p.number IN (`+of+`)`, which...))
}

func (s *Store) keysByAge(ctx context.Context, actor models.Actor, q InboxQuery) (string, error) {
	switch {
	case q.Conversation != "":
		return conversationByAge, nil
	case q.Agent != "":
		return agentByAge, nil
	case q.Whose == WhoseMine:
		return mineByAge, nil
	case q.Whose == WhoseAll && actor.Admin:
		return allByAge, nil
	}
	n, err := s.scalar(ctx, waitingFor, actor.ID, smallRouted+1)
	switch {
	case err != nil:
		return "", err
	case n > smallRouted:
		return allByAge, nil // with so much, it is found on the way
	case q.Whose == WhoseRouted:
		return routedByAge, nil
	}
	return bothByAge, nil
}

// countQuery counts what waits where nothing filters, up to one more than is told.
// The indexes tell all but what is held past its deadline.
func countQuery(actor models.Actor, conv models.ConversationID, now time.Time) (string, []any) {
	count := func(rest string) string { return `SELECT count(*) FROM (SELECT 1 FROM ` + rest + ` LIMIT ?)` }
	waits := func(deadline, id string) string {
		return deadline + ` > ? AND (` + deadline + ` > ? OR EXISTS (SELECT 1 FROM responses h WHERE h.id = ` + id + ` AND h.held_until IS NOT NULL))`
	}
	inConversation := `responses r` + db.ByResponsesPendingConversation + ` WHERE r.conversation_id = ? AND r.approval_status = 'pending' AND ` + waits(`r.approval_timeout_at`, `r.id`)
	back := now.Add(-heldBack)
	switch {
	case conv == "" && actor.Admin:
		return count(`responses r` + db.ByResponsesPending + ` WHERE r.approval_status = 'pending' AND ` + waits(`r.approval_timeout_at`, `r.id`)), []any{back, now, models.StatsCap + 1}
	case conv == "":
		return count(`deciders d WHERE d.user_id = ? AND ` + waits(`d.deadline`, `d.response_id`)), []any{actor.ID, back, now, models.StatsCap + 1}
	case actor.Admin:
		return count(inConversation), []any{conv, back, now, models.StatsCap + 1}
	}
	return count(inConversation + ` AND EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = ? AND d.deadline = r.approval_timeout_at AND d.response_id = r.id)`),
		[]any{conv, back, now, actor.ID, models.StatsCap + 1}
}

// reasksQuery is for what stands in keys as a JSON array of numbers, and for a
// person: an admin sees all.
var reasksQuery = `SELECT r.id, (SELECT p.id FROM responses p` + db.ByResponsesRejected + `
 WHERE p.agent_id = r.agent_id AND p.digest = r.digest AND p.approval_status = 'rejected' AND p.number < r.number
 AND ` + personSees(`p`, `?3`, `?2`) + ` ORDER BY p.number DESC LIMIT 1)
 FROM ` + db.Each(`?1`) + ` CROSS JOIN responses r ON r.number = j.value`
