package requests

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
	// WhoseReads of an inbox are those that the reader sees and is not asked about; of who sees all there are none.
	WhoseReads Whose = "read"
	// WhoseTogether of an inbox are those of low risk that came while everybody was busy.
	WhoseTogether Whose = "together"
)

// InboxOrder is the order of the inbox.
type InboxOrder string

// The orders.
const (
	ByDeadline InboxOrder = ""     // soonest first
	ByAge      InboxOrder = "age"  // longest waiting first
	ByRisk     InboxOrder = "risk" // highest first, of one level the soonest deadline
)

// InboxQuery chooses from what a person may decide; members combine.
type InboxQuery struct {
	Conversation models.ConversationID // empty: all, as for the others
	Agent        models.AgentID
	Tool         string // exact
	Risk         models.Risk
	// Text is looked for in the tool's name, the description, the names of agent and
	// conversation, and the first models.MaxBrief characters of input and content. Small
	// and capital letters of ASCII are the same.
	Text  string
	Whose Whose
	Order InboxOrder
	// Aside leaves out what InboxPage.Aside has.
	Aside bool
	After string // InboxPage.Next of the page before
	Limit int    // 0: models.DefaultPage
}

// InboxPage is one page of an inbox.
type InboxPage struct {
	Items []models.Brief
	Next  string // empty: the last page
	// Count is how many pass the filters from the beginning of the list, up to
	// models.StatsCap; CountCap: there are more, or may be.
	Count    int
	CountCap bool
	// Cut says that looking for what passes the filters ended early, after Searched
	// rows; Next goes on from there, though Items may be few or none.
	Cut       bool
	ScanCount int
	// ReaskOf names, for a request that an agent repeats, the latest earlier one that
	// was rejected.
	ReaskOf map[models.ResponseID]models.ResponseID
	// Aside are the lines for the requests left out, if that was asked for.
	Aside models.Aside
	// Reads, of a first page, says that something waits that its reader sees and is not asked about: see WhoseReads.
	Reads bool
}

// Inbox lists the requests that a person is asked about now: for those who see all every pending one, for others those
// that they own or that were routed to them; with WhoseReads those that they only see.
//
// Codes: forbidden (people only), invalid.
func (rs *Requests) Inbox(ctx context.Context, actor models.Actor, q InboxQuery) (InboxPage, error) {
	page, keys, err := rs.inboxKeys(ctx, actor, q)
	if err != nil {
		return InboxPage{}, err
	}
	items, err := rs.rowsOf(ctx, keys, briefColumns)
	if err != nil {
		return InboxPage{}, err
	}
	page.Items = briefs(stillPending(items))
	if page.ReaskOf, err = rs.reasks(ctx, actor, keys); err != nil || q.After != "" || actor.Oversees() {
		return page, err
	}
	n, err := rs.scalar(ctx, readsSome, actor.ID, smallRouted)
	page.Reads = n > 0
	return page, err
}

// pendingOfPerson is an inbox for programs: whole, without what pages say of it.
func (rs *Requests) pendingOfPerson(ctx context.Context, actor models.Actor, after string, limit int) (List, error) {
	q := InboxQuery{After: after, Limit: limit}
	page, keys, err := rs.inboxKeys(ctx, actor, q)
	if err != nil {
		return List{}, err
	}
	items, err := rs.RowsWithin(ctx, keys, MaxListBytes)
	if err != nil {
		return List{}, err
	}
	out := List{Next: page.Next}
	if n := len(items); n < len(keys) {
		out.Next = q.cursor(&keys[n-1])
	}
	out.Items = stillPending(items)
	return out, nil
}

// stillPending leaves out what left while the list was read.
func stillPending(items []models.Approval) []models.Approval {
	return slices.DeleteFunc(items, func(a models.Approval) bool { return a.Status() != models.StatusPending })
}

// inboxKeys are the keys of a page of an inbox, with the page but for its rows.
func (rs *Requests) inboxKeys(ctx context.Context, actor models.Actor, q InboxQuery) (InboxPage, []Key, error) {
	if !actor.IsPerson() {
		return InboxPage{}, nil, models.Errorf(models.CodeForbidden, "Only a person has an inbox.")
	}
	if err := q.check(); err != nil {
		return InboxPage{}, nil, err
	}
	now := rs.db.Now()
	l, err := rs.inboxSearch(ctx, actor, q, now)
	if err != nil {
		return InboxPage{}, nil, err
	}
	page, limit := InboxPage{}, db.PageSize(q.Limit)
	most := l.most()
	if q.Aside {
		if page.Aside, err = rs.aside(ctx, l); err != nil {
			return InboxPage{}, nil, err
		}
		over, err := leaveAside(l, page.Aside)
		if err != nil {
			return InboxPage{}, nil, err
		}
		most += over
	}
	if page.Count, page.CountCap, err = rs.inboxCount(ctx, actor, q, l, now); err != nil {
		return InboxPage{}, nil, err
	}
	if err := rs.inboxFrom(ctx, l, q, now); err != nil {
		return InboxPage{}, nil, err
	}
	count := limit + 1
	if q.After == "" && q.filtered() {
		count = max(count, models.StatsCap+1) // the count comes with the page
	}
	found, err := rs.search(ctx, l, deadlineOf, limit+1, count, most)
	if err != nil {
		return InboxPage{}, nil, err
	}
	if q.After == "" && q.filtered() {
		page.Count, page.CountCap = min(found.picks, models.StatsCap), found.cut || found.picks > models.StatsCap
	}
	page.ScanCount = found.scans
	keys := found.keys
	switch {
	case len(keys) > limit:
		keys = keys[:limit]
		page.Next = q.cursor(&keys[limit-1])
	case found.cut:
		page.Next, page.Cut = q.cursor(&found.last), true
	}
	return page, keys, nil
}

// filtered reports whether rows must be looked at to count them.
func (q *InboxQuery) filtered() bool {
	return q.Agent != "" || q.Tool != "" || q.Risk != "" || q.Text != "" || q.Whose != WhoseAll
}

// cursor is where the page after k begins. By age it is the id alone: how many
// requests there are is not told to everybody.
func (q *InboxQuery) cursor(k *Key) string {
	if q.Order == ByAge {
		return db.Cursor{ID: k.ID}.String()
	}
	return db.Cursor{At: k.timeout, ID: k.ID}.String()
}

// heldBack is how far behind its deadline a request is still listed while a verdict
// holds it: as long as that may be taken back.
const heldBack = policy.MaxUndoSeconds * time.Second

func deadlineOf(k *Key) time.Time { return k.timeout }

// inboxFrom sets the search to where the page begins.
func (rs *Requests) inboxFrom(ctx context.Context, l *search, q InboxQuery, now time.Time) error {
	if q.Order == ByRisk {
		return rs.inboxFromRisk(ctx, l, q)
	}
	if q.Order == ByAge && q.After != "" {
		number, err := rs.numberOf(ctx, q.After)
		l.from(Key{Number: number}, time.Time{})
		return err
	}
	after, err := db.ParseCursor(q.After)
	if err != nil {
		return err
	}
	if begins := now.Add(-heldBack); after.At.Before(begins) {
		after = db.Cursor{At: begins, ID: db.MaxID} // requests past their deadline have expired already (I3)
	}
	l.from(Key{ID: after.ID}, after.At)
	return nil
}

// inboxFromRisk is inboxFrom of a list by risk. A cursor names deadline and id; the risk
// of a request never changes.
func (rs *Requests) inboxFromRisk(ctx context.Context, l *search, q InboxQuery) error {
	after, err := db.ParseCursor(q.After)
	if err != nil || q.After == "" {
		l.from(Key{}, time.Time{})
		return err
	}
	risk, err := rs.riskOf(ctx, after.ID)
	l.from(Key{ID: after.ID, risk: risk}, after.At)
	return err
}

// riskOf is the risk of the row that a cursor names.
func (rs *Requests) riskOf(ctx context.Context, id string) (models.Risk, error) {
	rank, err := rs.scalar(ctx, `SELECT coalesce((SELECT `+riskRank(`r`)+` FROM responses r WHERE r.id = ?), -1)`, id)
	if err == nil && rank < 0 {
		return "", models.Invalid("cursor", "must be the `next` of an earlier page")
	}
	if err != nil {
		return "", err
	}
	return models.RisksDown()[rank], nil
}

// numberOf is the number of the row that a cursor names.
func (rs *Requests) numberOf(ctx context.Context, id string) (int64, error) {
	if _, err := models.ParseID[models.ResponseID]("cursor", id); err != nil {
		return 0, models.Invalid("cursor", "must be the `next` of an earlier page")
	}
	number, err := rs.scalar(ctx, `SELECT coalesce((SELECT number FROM responses WHERE id = ?), 0)`, id)
	if err == nil && number == 0 {
		return 0, models.Invalid("cursor", "must be the `next` of an earlier page")
	}
	return number, err
}

// inboxCount counts what passes the filters from the beginning of the list: by the
// index alone if it can, else by a search of its own, unless the page's own tells.
func (rs *Requests) inboxCount(
	ctx context.Context, actor models.Actor, q InboxQuery, l *search, now time.Time,
) (int, bool, error) {
	if !q.filtered() {
		text, args := countQuery(actor, q.Conversation, now)
		n, err := rs.scalar(ctx, text, args...)
		return int(min(n, models.StatsCap)), n > models.StatsCap, err
	}
	if q.After == "" {
		return 0, false, nil
	}
	first := q
	first.After = ""
	if err := rs.inboxFrom(ctx, l, first, now); err != nil {
		return 0, false, err
	}
	found, err := rs.search(ctx, l, deadlineOf, 0, models.StatsCap+1, l.most())
	return min(found.picks, models.StatsCap), found.cut || found.picks > models.StatsCap, err
}

// reasks names the latest earlier request that was rejected and is repeated by one
// of keys, if the actor sees it.
func (rs *Requests) reasks(
	ctx context.Context, actor models.Actor, keys []Key,
) (map[models.ResponseID]models.ResponseID, error) {
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	list, err := numbersOf(keys)
	if err != nil {
		return nil, err
	}
	stmt, err := rs.db.Prepared(ctx, reasksQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), list, actor.ID, actor.Oversees())
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
