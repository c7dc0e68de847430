package requests

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// SettledQuery filters settled requests; members combine.
type SettledQuery struct {
	Conversation models.ConversationID
	Agent        models.AgentID
	Tool         string // exact
	Risk         models.Risk
	Text         string // as in InboxQuery
	Whose        Whose
	Status       models.Status // approved includes calls that needed no approval
	Cause        models.Cause
	By           models.UserID // who decided
	From, To     time.Time     // settled from the first to before the second; zero: no bound
	After        string        // SettledPage.Next of the page before
	Limit        int           // 0: models.DefaultPage
}

// SettledPage is one page of settled requests, newest first.
type SettledPage struct {
	Items []models.Brief
	Next  string // empty: the last page
	// Cut says that looking for what passes the filters ended early, at Back, after
	// ScanCount rows; Next goes on from there, though Items may be few or none.
	Cut       bool
	ScanCount int
	Back      time.Time
}

// Settled lists the requests that have left pending, by the time they did, and calls that ran without a person, by the
// time they came: for admins all, for others those that they own or that were routed to them.
//
// Codes: forbidden (people only), invalid.
func (rs *Requests) Settled(ctx context.Context, actor models.Actor, q SettledQuery) (SettledPage, error) {
	l, err := rs.settledSearch(ctx, actor, q)
	if err != nil {
		return SettledPage{}, err
	}
	page, limit := SettledPage{}, db.PageSize(q.Limit)
	found, err := rs.search(ctx, l, (*Key).at, limit+1, limit+1, l.most())
	if err != nil {
		return SettledPage{}, err
	}
	page.ScanCount = found.scans
	keys := found.keys
	switch {
	case len(keys) > limit:
		keys = keys[:limit]
		page.Next = settledCursor(&keys[limit-1])
	case found.cut:
		page.Next, page.Cut, page.Back = settledCursor(&found.last), true, found.last.at()
	}
	page.Items, err = rs.settledRows(ctx, keys)
	return page, err
}

// settledRows are the requests of keys, in their order.
func (rs *Requests) settledRows(ctx context.Context, keys []Key) ([]models.Brief, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var items []models.Approval
	err := rs.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		items, err = FindApprovals(rs.db.Gorm(ctx).Scopes(brief).Where("number IN ?", numbers(keys)), rs.db.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	items, err = inOrder(keys, items)
	return briefs(items), err
}

func settledCursor(k *Key) string { return db.Cursor{At: k.at(), ID: k.ID}.String() }

// exportBatch is how many requests are in memory at once for an export: each may
// be half a megabyte.
const exportBatch = 50

// EachSettled gives all that Settled would, in its order, whole. begin is called
// first, once the query was found good. Between two batches nothing is held,
// however slowly fn takes them. An error of either, or the end of ctx, ends it.
// Codes as for Settled.
func (rs *Requests) EachSettled(
	ctx context.Context, actor models.Actor, q SettledQuery, begin func() error, fn func(*models.Approval) error,
) error {
	l, err := rs.settledSearch(ctx, actor, q)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	for {
		found, err := rs.search(ctx, l, (*Key).at, exportBatch, exportBatch, 0)
		if err != nil {
			return err
		}
		items, err := rs.rowsOf(ctx, found.keys, approvalColumns) // prepared: there may be a million
		if err != nil {
			return err
		}
		all := make([]*models.Approval, len(items))
		for i := range items {
			all[i] = &items[i]
		}
		if err := rs.signatures(ctx, all); err != nil {
			return err
		}
		for i := range items {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if err := fn(&items[i]); err != nil {
				return err
			}
		}
		if len(items) < exportBatch {
			return nil
		}
		last := &found.keys[len(found.keys)-1]
		l.from(*last, last.at())
	}
}

// smallSettled is how many responses of a conversation or an agent are read and
// sorted by when they were settled.
const smallSettled = 4_000

func (q *SettledQuery) check() error {
	if err := checkFilters(q.Whose, q.Risk, q.Text); err != nil {
		return err
	}
	switch {
	case q.Status == models.StatusNone || q.Status.Final():
	case q.Status == models.StatusPending:
		return models.Invalid("status", "must be a final status")
	default:
		return models.Invalid("status", "must be %s", models.AnyOf(models.FinalStatuses()))
	}
	if q.Cause != models.CauseNone && !q.Cause.LetsThrough() && !q.Cause.Settles() {
		return models.Invalid("cause", "must be one of the causes of an outcome")
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return models.Invalid("to", "must not be before the beginning")
	}
	return nil
}

// settledSearch chooses the indexes that serve the list, and where it begins.
func (rs *Requests) settledSearch(ctx context.Context, actor models.Actor, q SettledQuery) (*search, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person has a history.")
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	l := &search{
		join: `r.number = k.number`, sort: `k.at DESC, k.number DESC`, text: q.Text != "", pick: settledPicks,
		args: map[string]any{
			"me": actor.ID, "admin": actor.Oversees(), "conversation": q.Conversation, "agent": q.Agent, "tool": q.Tool,
			"risk":  q.Risk,
			"whose": string(q.Whose), "text": q.Text, "brief": models.MaxBrief, "status": q.Status, "cause": q.Cause, "by": q.By,
			"from": q.From,
		},
	}
	l.from(Key{Number: math.MaxInt64}, models.NoDeadline)
	if !q.To.IsZero() {
		l.from(Key{}, q.To)
	}
	if q.After != "" {
		after, err := db.ParseCursor(q.After)
		if err != nil {
			return nil, err
		}
		number, err := rs.numberOf(ctx, after.ID)
		if err != nil {
			return nil, err
		}
		l.from(Key{Number: number}, after.At)
	}
	var err error
	l.keys, err = rs.settledKeys(ctx, actor, q)
	return l, err
}

const settledPicks = ` AND (:status = '' OR r.approval_status = :status OR (r.approval_status IS NULL AND :status = CASE r.cause WHEN 'fallback' THEN 'ran' ELSE 'approved' END))
 AND (:cause = '' OR r.cause = :cause) AND (:by = '' OR r.decided_by = :by)`

// bySettling is a history: the next :n keys before :at and :number, since :from. at is
// the time by which it is listed.
func bySettling(at string) db.List[Key] {
	return db.List[Key]{
		Order: []db.Key{{Name: `at`, Is: at}, {Name: `number`, Is: `p.number`}}, Down: true, After: db.Say(`(:at, :number)`),
		Count: db.Say(`:n`),
	}
}

// keysOfSettled reads one index backwards by the time of at.
func keysOfSettled(index, where, at string) string {
	return keysOf(bySettling(at), along(`responses p`+db.By(index), where, at+` >= :from`))
}

// The keys of settled requests: all, a person's own, and those routed to them; and, sorted, of a conversation or an
// agent.
const (
	wasSettled    = `p.approval_timestamp IS NOT NULL`
	wasLetThrough = `p.approval_status IS NULL AND p.cause <> ''`
	settledAt     = `coalesce(p.approval_timestamp, p.created_at)`
	ownerIsMe     = `p.owner_id = :me AND `
)

var settledRoutes = keysOf(bySettling(`v.settled_at`),
	along(`reviewers v`+db.ByReviewersSettled+` CROSS JOIN responses p ON p.id = v.response_id`, `v.user_id = :me`,
		`v.settled_at >= :from`))

// smallSets are what can be read and sorted instead, if it is small: how many there
// are, no further than that, and where.
var smallSets = map[string]string{
	"responses_history": `p.conversation_id = :conversation`,
	"responses_tool":    `p.agent_id = :agent AND p.tool_name = :tool AND p.asked = TRUE`,
	"responses_agent":   `p.agent_id = :agent AND p.asked = TRUE`,
}

// smallKeys are their keys.
var smallKeys = sync.OnceValue(func() map[string]string {
	out := make(map[string]string, len(smallSets))
	for index, where := range smallSets {
		out[index] = keysOfSettled(index, where+` AND (`+wasSettled+` OR `+wasLetThrough+`)`, settledAt)
	}
	return out
})

func smallSet(index string) string {
	return `SELECT count(*) FROM (SELECT 1 FROM responses p` + db.By(index) + ` WHERE ` + smallSets[index] + ` LIMIT :n)`
}

func (rs *Requests) settledKeys(ctx context.Context, actor models.Actor, q SettledQuery) (string, error) {
	index := ""
	switch {
	case q.Conversation != "":
		index = "responses_history"
	case q.Agent != "" && q.Tool != "":
		index = "responses_tool"
	case q.Agent != "":
		index = "responses_agent"
	}
	if index != "" {
		text := smallSet(index)
		n, err := rs.scalar(ctx, text,
			arguments(text,
				map[string]any{"conversation": q.Conversation, "agent": q.Agent, "tool": q.Tool, "n": smallSettled + 1})...)
		if err != nil {
			return "", err
		}
		if n <= smallSettled {
			return smallKeys()[index], nil
		}
	}
	return allSettled(actor, q), nil
}

// allSettled merges the indexes that together have all that the actor sees, without
// those where the filters leave nothing.
func allSettled(actor models.Actor, q SettledQuery) string {
	left := (q.Cause == "" || q.Cause.Settles())
	through := (q.Cause == "" || q.Cause.LetsThrough()) &&
		(q.Status == "" || q.Status == models.StatusApproved || q.Status == models.StatusRan) && q.By == ""
	if !left && !through {
		left = true
	}
	shape := settledShape{all: actor.Oversees() && q.Whose == WhoseAll, left: left, through: through}
	if !shape.all {
		shape.whose = q.Whose
	}
	return settledTexts()[shape]
}

// settledShape is what decides which indexes are merged.
type settledShape struct {
	all           bool // everyone's; else those that whose chooses
	whose         Whose
	left, through bool
}

var settledTexts = sync.OnceValue(func() map[settledShape]string {
	out := map[settledShape]string{}
	for _, by := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		all := settledShape{all: true, left: by[0], through: by[1]}
		out[all] = all.keys()
		for _, whose := range []Whose{WhoseAll, WhoseMine, WhoseRouted} {
			one := settledShape{whose: whose, left: by[0], through: by[1]}
			out[one] = one.keys()
		}
	}
	return out
})

func (s settledShape) keys() string {
	var parts []db.Walk
	add := func(keys string) { parts = append(parts, db.Walk{Keys: db.Say(keys)}) }
	if s.all && s.left {
		add(keysOfSettled("responses_settled", wasSettled, `p.approval_timestamp`))
	}
	if s.all && s.through {
		add(keysOfSettled("responses_let_through", wasLetThrough, `p.created_at`))
	}
	if !s.all && s.whose != WhoseRouted && s.left {
		add(keysOfSettled("responses_settled_owner", ownerIsMe+wasSettled, `p.approval_timestamp`))
	}
	if !s.all && s.whose != WhoseRouted && s.through {
		add(keysOfSettled("responses_let_through_owner", ownerIsMe+wasLetThrough, `p.created_at`))
	}
	if !s.all && s.whose != WhoseMine && (s.left || len(parts) == 0) {
		add(settledRoutes)
	}
	return keysOf(bySettling(`at`), parts...)
}
