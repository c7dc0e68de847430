package requests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/db"
)

var turnsQuery = `SELECT * FROM (SELECT ` + briefColumns + approvalFrom +
	` WHERE r.conversation_id = ? AND r.sequence < ? ORDER BY r.sequence DESC LIMIT ?) ORDER BY ` +
	strconv.Itoa(ResponseRow.Place("sequence"))

// ListQuery chooses from all requests that the actor may see.
type ListQuery struct {
	Status       models.Status // empty: all; approved includes calls that needed no approval
	Conversation models.ConversationID
	Cursor       string
	Limit        int
	MaxBytes     int // where the page ends though more would fit; 0: nowhere
}

// List is one page of requests.
type List struct {
	Items []models.Approval
	Next  string // empty: the last page
}

// Approvals lists requests, newest first: an agent's own, a person's owned and
// routed ones, for admins and the operator all. Where few are of the status, or of a
// conversation's entries few are requests, a page ends after mostSearched rows: it has fewer
// than were asked for, or none, and Next goes on from there.
func (rs *Requests) Approvals(ctx context.Context, actor models.Actor, q ListQuery) (List, error) {
	if q.Cursor != "" {
		if _, err := models.ParseID[models.ResponseID]("cursor", q.Cursor); err != nil {
			return List{}, err
		}
	}
	now := rs.db.Now()
	l := rs.requests(actor, q, chunk{}, now)
	if l == nil {
		return List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	if q.filtersRows() {
		var out List
		err := rs.db.Snapshot(ctx, func(ctx context.Context) (err error) {
			out, err = rs.filteredPage(ctx, actor, q, now)
			return err
		})
		return out, err
	}
	items, next, err := l.Page(ctx)
	return List{Items: items, Next: next}, err
}

// filteredPage reads a page of Approvals whose filter no index serves: it checks rows in the
// order of the list, more at a time, until the page is full or mostSearched were checked.
func (rs *Requests) filteredPage(ctx context.Context, actor models.Actor, q ListQuery, now time.Time) (List, error) {
	limit := db.PageSize(q.Limit)
	var keys []Key
	var last candidate
	checked, cut := 0, false
	for n := limit + 1; len(keys) <= limit && !cut; n *= 4 {
		n = min(n, mostAtOnce, mostSearched-checked)
		next := chunk{count: n}
		if checked > 0 {
			next.after = db.Say(`?`, last.place)
		}
		found, err := rs.readCandidates(ctx, q.candidates(rs.requests(actor, q, next, now), now))
		if err != nil {
			return List{}, err
		}
		for _, last = range found {
			if last.matches && len(keys) <= limit {
				keys = append(keys, last.Key)
			}
		}
		if checked += len(found); len(found) < n {
			break
		}
		cut = checked >= mostSearched
	}
	out := List{}
	switch {
	case len(keys) > limit:
		keys = keys[:limit]
		out.Next = keys[limit-1].ID
	case cut:
		out.Next = last.ID
	}
	var err error
	if out.Items, err = rs.RowsWithin(ctx, keys, q.MaxBytes); err == nil && len(out.Items) < len(keys) {
		out.Next = keys[len(out.Items)-1].ID
	}
	return out, err
}

// chunk limits which rows of a list are read at once. The zero value is one page.
type chunk struct {
	after db.Part
	count int
}

// candidate is a row of a list, and whether the filter matches it.
type candidate struct {
	Key

	place   int64
	matches bool
}

// filtersRows reports whether no index serves the filter.
func (q *ListQuery) filtersRows() bool {
	return q.Status.Final() || q.Conversation != "" && q.Status != models.StatusPending
}

// candidates is the query that checks the rows of a list's keys.
func (q *ListQuery) candidates(l *db.List[models.Approval], now time.Time) db.Part {
	filter, keys := q.filter(now), l.Keys()
	return db.Say(`SELECT k.place, r.number, r.id, (`+filter.Text+`) IS TRUE FROM (`+keys.Text+`) k CROSS JOIN responses r ON r.number = k.number ORDER BY k.place DESC`,
		append(slices.Clone(filter.Args), keys.Args...)...)
}

func (rs *Requests) readCandidates(ctx context.Context, q db.Part) (out []candidate, err error) {
	stmt, err := rs.db.Prepared(ctx, q.Text) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, fmt.Errorf("filter a list: %w", err)
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), q.Args...)
	if err != nil {
		return nil, fmt.Errorf("filter a list: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.place, &c.Number, &c.ID, &c.matches); err != nil {
			return nil, fmt.Errorf("filter a list: %w", err)
		}
		out = append(out, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("filter a list: %w", err)
	}
	return out, nil
}

// ApprovalsBy is a list of requests, which are found by their numbers.
func (rs *Requests) ApprovalsBy(limit, most int) *db.List[models.Approval] {
	return &db.List[models.Approval]{
		Limit: db.PageSize(limit), Columns: approvalColumns,
		From: `CROSS JOIN responses r ON r.number = k.number` + approvalJoins, Cursor: CursorOf, Weight: weight, Most: most,
		Read: func(ctx context.Context, query string, args ...any) ([]models.Approval, error) {
			return rs.approvalsWithin(ctx, most, query, args...)
		},
	}
}

// approvalJoins are the tables read beside responses.
var approvalJoins = strings.TrimPrefix(approvalFrom, ` FROM responses r`)

// CursorOf is the place of a request in a list.
func CursorOf(a *models.Approval) db.Cursor { return db.Cursor{ID: string(a.ID)} }

// requests is the list of a query: by the conversation's history if one is named, else by an index of the actor; nil
// for an actor who lists no requests. Where filtersRows, candidates applies the filter.
func (rs *Requests) requests(actor models.Actor, q ListQuery, of chunk, now time.Time) *db.List[models.Approval] {
	if !actor.IsAgent() && !actor.IsPerson() && actor.Kind != models.ActorOperator {
		return nil
	}
	place := `number`
	if q.Conversation != "" {
		place = `sequence`
	}
	l := rs.ApprovalsBy(q.Limit, q.MaxBytes)
	count := cmp.Or(of.count, l.Limit+1)
	l.Order, l.With, l.Down, l.Count = []db.Key{{Name: `place`, Is: `r.` + place}}, []db.Key{{
		Name: `number`, Is: `r.number`,
	}}, true, db.Say(`?`, count)
	if l.After = of.after; l.After.Text == "" && q.Cursor != "" {
		l.After = db.Say(`(SELECT `+place+` FROM responses WHERE id = ?)`, q.Cursor)
	}
	filter := q.filter(now)
	if q.filtersRows() {
		filter = db.Say(asks)
	}
	along := func(from string, of ...db.Part) db.Walk {
		return db.Walk{From: db.Say(from), Where: append(of, filter)}
	}
	ofAgent, ofConversation := db.ByResponsesAgent, db.ByResponsesHistory
	if q.Status == models.StatusPending { // few, however much there is of others
		ofAgent, ofConversation = db.ByResponsesPendingAgent, db.ByResponsesPendingConversation
	}
	// Of each agent as many as are wanted of all: an index in the order of all, or of an
	// owner's, would be written with every ask.
	ofAgents := func(whose string, args ...any) db.Walk {
		one := *l
		one.Walks = []db.Walk{along(`responses r`+ofAgent, db.Say(`r.agent_id = g.id`))}
		each := one.Keys()
		return db.Walk{Keys: db.Say(`SELECT p.number AS place, p.number FROM agents g CROSS JOIN responses p ON p.number`+db.AmongKeys(`SELECT number FROM (`+each.Text+`)`)+whose+` ORDER BY p.number DESC LIMIT ?`,
			append(append(each.Args, args...), count)...)}
	}
	switch {
	case q.Conversation != "":
		if q.filtersRows() {
			filter = db.Say(`TRUE`) // a conversation may have many rows that ask for nothing
		}
		l.Walks = []db.Walk{along(`responses r`+ofConversation, db.Say(`r.conversation_id = ?`, q.Conversation),
			SeenBy(actor, `r`))}
	case actor.IsAgent():
		l.Walks = []db.Walk{along(`responses r`+ofAgent, db.Say(`r.agent_id = ?`, actor.ID))}
	case actor.Oversees():
		l.Walks = []db.Walk{ofAgents(``)}
	default:
		l.Walks = []db.Walk{ofAgents(` WHERE g.owner_id = ?`, actor.ID), routedTo(l, actor, q, filter)}
	}
	return l
}

// routedTo is a walk of a list of requests along those that were routed to a person.
func routedTo(l *db.List[models.Approval], actor models.Actor, q ListQuery, filter db.Part) db.Walk {
	one := *l
	one.Order, one.With = []db.Key{{Name: `place`, Is: `v.number`}}, []db.Key{{Name: `number`, Is: `v.number`}}
	walk := db.Walk{
		From:  db.Say(`reviewers v` + db.ByReviewersNumber + ` CROSS JOIN responses r ON r.number = v.number`),
		Where: []db.Part{db.Say(`v.user_id = ?`, actor.ID), filter},
	}
	if q.Status == models.StatusPending { // few, however much has been routed
		walk.From = db.Say(`reviewers v` + db.ByReviewersSettled + ` CROSS JOIN responses r ON r.number = v.number`)
		walk.Where = append(walk.Where, db.Say(`v.settled_at IS NULL`))
	}
	one.Walks = []db.Walk{walk}
	return db.Walk{Keys: one.Keys()}
}

// asks leaves out responses that ask for nothing: messages and reports.
const asks = `r.asked = TRUE`

// filter turns a status as it holds now into SQL (I3).
func (q *ListQuery) filter(now time.Time) db.Part {
	switch q.Status {
	case models.StatusNone:
	case models.StatusPending:
		return db.Say(asks+` AND r.approval_status = 'pending' AND (r.approval_timeout_at > ? OR r.held_until IS NOT NULL)`,
			now)
	case models.StatusExpired:
		return db.Say(asks+` AND (r.approval_status = 'expired' OR (r.approval_status = 'pending' AND r.approval_timeout_at <= ? AND r.held_until IS NULL))`, now)
	case models.StatusApproved:
		return db.Say(asks +
			` AND (r.approval_status = 'approved' OR (r.approval_status IS NULL AND r.cause NOT IN ('', 'fallback')))`)
	case models.StatusRan:
		return db.Say(asks + ` AND r.approval_status IS NULL AND r.cause = 'fallback'`)
	case models.StatusRejected, models.StatusCancelled, models.StatusResolved:
		return db.Say(asks+` AND r.approval_status = ?`, q.Status)
	}
	return db.Say(asks)
}

// PendingList lists pending requests: an agent's own in the order of asking, a person's inbox by deadline. A page ends
// after MaxListBytes.
func (rs *Requests) PendingList(ctx context.Context, actor models.Actor, after string, limit int) (List, error) {
	if actor.IsPerson() {
		return rs.pendingOfPerson(ctx, actor, after, limit)
	}
	if !actor.IsAgent() {
		return List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	if after != "" {
		if _, err := models.ParseID[models.ResponseID]("cursor", after); err != nil {
			return List{}, err
		}
	}
	items, next, err := rs.pendingOfAgent(actor, after, limit).Page(ctx)
	return List{Items: items, Next: next}, err
}

// pendingOfAgent lists an agent's own pending requests, in the order of asking.
func (rs *Requests) pendingOfAgent(actor models.Actor, after string, limit int) *db.List[models.Approval] {
	l := rs.ApprovalsBy(limit, MaxListBytes)
	l.Order = []db.Key{{Name: `number`, Is: `p.number`}}
	l.Walks = []db.Walk{{
		From: db.Say(`responses p` + db.ByResponsesPendingAgent),
		Where: []db.Part{db.Say(`p.agent_id = ? AND p.approval_status = 'pending' AND p.approval_timeout_at > ?`, actor.ID,
			rs.db.Now())},
	}}
	if after != "" {
		l.After = db.Say(`coalesce((SELECT number FROM responses WHERE id = ?), 0)`, after)
	}
	return l
}

// MaxRoutedTurns is how much of a conversation a routed reviewer sees.
const MaxRoutedTurns = 5

// turns are the last n responses of a conversation before a sequence, oldest first.
func (rs *Requests) turns(ctx context.Context, id models.ConversationID, before int64, n int) ([]models.Brief, error) {
	items, err := rs.approvals(ctx, turnsQuery, id, before, n)
	return briefs(items), err
}

// approvals runs a query of approvalColumns and returns the rows as they hold
// now.
func (rs *Requests) approvals(ctx context.Context, query string, args ...any) ([]models.Approval, error) {
	return rs.approvalsWithin(ctx, 0, query, args...)
}

// approvalsWithin stops to read one row after those that weigh most together; 0:
// it reads all.
func (rs *Requests) approvalsWithin(
	ctx context.Context, most int, query string, args ...any,
) ([]models.Approval, error) {
	stmt, err := rs.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	defer rows.Close()
	now := rs.db.Now()
	out, read := make([]models.Approval, 0, models.DefaultPage+1), atMost{most: most}
	for rows.Next() {
		a, err := ScanApproval(rows)
		if err != nil {
			return nil, fmt.Errorf("list approvals: %w", err)
		}
		out = append(out, *At(a, now))
		if read.full() {
			break
		}
		if most > 0 {
			read.sum += weight(a)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	return out, nil
}

// MaxListBytes is where a page of a list for programs ends, even below its limit: rows are never cut, and some inputs
// are 256 KiB.
const MaxListBytes = 1 << 20

// rowWeight is about what a row takes in JSON beside its texts.
const rowWeight = 1 << 10

// weight is about how many bytes a request takes in JSON.
func weight(a *models.Approval) int {
	n := rowWeight + len(a.ToolInputJSON)
	for _, text := range [...]string{a.Content, a.Options, a.ClientDataJSON, a.Feedback()} {
		n += quoted(text)
	}
	for _, text := range a.Explanation.Texts() {
		n += quoted(*text)
	}
	if v := a.Vote; v != nil {
		n += quoted(v.Reason)
		if v.Input != nil {
			n += len(*v.Input)
		}
		if v.Answer != nil {
			n += quoted(*v.Answer)
		}
	}
	return n
}

// quoted is how long a text is as a string of JSON, at most.
func quoted(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			n++
		case c < ' ' || c == utf8.RuneSelf-1:
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// atMost counts rows until they weigh most. The first is taken whatever it weighs.
type atMost struct{ most, sum int }

// full reports whether enough was read, so that a row more would only tell that
// there is one.
func (w *atMost) full() bool { return w.most > 0 && w.sum > w.most }
