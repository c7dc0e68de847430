package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/db"
)

var (
	pendingOfAgentQuery = selectApproval + ` WHERE r.number IN (SELECT p.number FROM responses p` + db.ByResponsesPendingAgent + `
 WHERE p.agent_id = ? AND p.approval_status = 'pending' AND p.number > coalesce((SELECT number FROM responses WHERE id = ?), 0)
 AND p.approval_timeout_at > ? ORDER BY p.number LIMIT ?) ORDER BY r.number`

	turnsQuery = `SELECT * FROM (SELECT ` + briefColumns + approvalFrom + ` WHERE r.conversation_id = ? AND r.sequence < ? ORDER BY r.sequence DESC LIMIT ?) ORDER BY ` + strconv.Itoa(responseRow.Place("sequence"))
)

// ListQuery chooses from all requests that the actor may see.
type ListQuery struct {
	Status       models.Status // empty: all; approved includes what was let through
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
// routed ones, for admins all.
func (s *Store) Approvals(ctx context.Context, actor models.Actor, q ListQuery) (List, error) {
	if q.Cursor != "" {
		if _, err := models.ParseID[models.ResponseID]("cursor", q.Cursor); err != nil {
			return List{}, err
		}
	}
	limit := db.PageSize(q.Limit)
	keys, args := listKeys(actor, q, s.db.Now(), limit+1)
	if keys == "" {
		return List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	items, err := s.approvalsWithin(ctx, q.MaxBytes, `SELECT `+approvalColumns+` FROM (`+keys+`) k JOIN responses r ON r.number = k.number`+
		strings.TrimPrefix(approvalFrom, ` FROM responses r`)+` ORDER BY k.place DESC`, args...)
	if err != nil {
		return List{}, err
	}
	var out List
	out.Items, out.Next = db.Cut(items, fitting(items, limit, q.MaxBytes, weight), byID)
	return out, nil
}

func byID(a *models.Approval) db.Cursor { return db.Cursor{ID: string(a.ID)} }

// listKeys selects the numbers of a page, before the row that the cursor names,
// with their place in it: by the conversation's history if one is named, else by
// the index of whoever asks.
func listKeys(actor models.Actor, q ListQuery, now time.Time, limit int) (string, []any) {
	where, filters := listFilter(q, now)
	place := `number`
	if q.Conversation != "" {
		place = `sequence`
	}
	if q.Cursor != "" {
		where += ` AND r.` + place + ` < (SELECT ` + place + ` FROM responses WHERE id = ?)`
		filters = append(filters, q.Cursor)
	}
	filters = append(filters, limit)
	branch := func(table, condition string, args ...any) (string, []any) {
		return `SELECT r.number, r.` + place + ` AS place FROM ` + table + ` WHERE ` + condition + where + ` ORDER BY r.` + place + ` DESC LIMIT ?`, append(args, filters...)
	}
	if q.Conversation != "" {
		if !actor.IsAgent() && !actor.IsPerson() {
			return "", nil
		}
		sees := seenBy(actor, `r`)
		return branch(`responses r`+db.ByResponsesHistory, `r.conversation_id = ? AND `+sees.text, append([]any{q.Conversation}, sees.args...)...)
	}
	switch {
	case actor.IsAgent():
		return branch(`responses r`+db.ByResponsesAgent, `r.agent_id = ?`, actor.ID)
	case !actor.IsPerson():
		return "", nil
	case actor.Admin:
		// Of each agent as many as are wanted of all: an index in the order of all would
		// be written with every ask.
		of, ofArgs := branch(`responses r`+db.ByResponsesAgent, `r.agent_id = g.id`)
		return `SELECT p.number, p.number AS place FROM agents g CROSS JOIN responses p ON p.number IN (SELECT number FROM (` + of + `)) ORDER BY p.number DESC LIMIT ?`,
			append(ofArgs, limit)
	}
	owned, ownedArgs := branch(`responses r`+db.ByResponsesOwner, `r.owner_id = ?`, actor.ID)
	routed, routedArgs := branch(`reviewers v JOIN responses r ON r.id = v.response_id`, `v.user_id = ?`, actor.ID)
	return `SELECT number, place FROM (` + owned + `) UNION SELECT number, place FROM (` + routed + `) ORDER BY place DESC LIMIT ?`,
		append(append(ownedArgs, routedArgs...), limit)
}

// listFilter turns a status as it holds now into SQL (I3).
func listFilter(q ListQuery, now time.Time) (string, []any) {
	where := ` AND r.asked = TRUE` // what is said or only reported asks for nothing
	var args []any
	switch q.Status {
	case models.StatusNone:
	case models.StatusPending:
		where, args = where+` AND r.approval_status = 'pending' AND (r.approval_timeout_at > ? OR r.held_until IS NOT NULL)`, []any{now}
	case models.StatusExpired:
		where += ` AND (r.approval_status = 'expired' OR (r.approval_status = 'pending' AND r.approval_timeout_at <= ? AND r.held_until IS NULL))`
		args = []any{now}
	case models.StatusApproved:
		where += ` AND (r.approval_status = 'approved' OR (r.approval_status IS NULL AND r.cause <> ''))`
	case models.StatusRejected, models.StatusCancelled, models.StatusResolved:
		where, args = where+` AND r.approval_status = ?`, []any{q.Status}
	}
	return where, args
}

// PendingList is what is pending now: an agent's own in the order they were
// asked, a person's inbox by deadline. A page ends after MaxListBytes.
func (s *Store) PendingList(ctx context.Context, actor models.Actor, after string, limit int) (List, error) {
	if actor.IsPerson() {
		page, err := s.Inbox(ctx, actor, InboxQuery{After: after, Limit: limit, MaxBytes: MaxListBytes})
		return List{Items: page.Items, Next: page.Next}, err
	}
	if !actor.IsAgent() {
		return List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	if after != "" {
		if _, err := models.ParseID[models.ResponseID]("cursor", after); err != nil {
			return List{}, err
		}
	}
	limit = db.PageSize(limit)
	items, err := s.approvalsWithin(ctx, MaxListBytes, pendingOfAgentQuery,
		actor.ID, after, s.db.Now(), limit+1)
	if err != nil {
		return List{}, err
	}
	var out List
	out.Items, out.Next = db.Cut(items, fitting(items, limit, MaxListBytes, weight), byID)
	return out, nil
}

// Turns are the last n responses of a conversation before a sequence (0: the
// end), oldest first. CodeNotFound unless the actor sees the conversation: its
// agent, its owner, an admin; whoever a request was routed to sees the five
// turns before it through RequestPage.
func (s *Store) Turns(ctx context.Context, actor models.Actor, id models.ConversationID, before int64, n int) ([]models.Approval, error) {
	var owner models.UserID
	var agent models.AgentID
	if err := s.db.Reads().QueryRowContext(ctx, `SELECT owner_id, agent_id FROM conversations WHERE id = ?`, id).Scan(&owner, &agent); err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("conversation"))
	}
	if agent != actor.AgentID() && !actor.MayAdminister() && owner != actor.UserID() {
		return nil, models.NotFound("conversation")
	}
	return s.turns(ctx, id, before, n)
}

// MaxRoutedTurns is how much of a conversation a routed reviewer sees.
const MaxRoutedTurns = 5

func (s *Store) turns(ctx context.Context, id models.ConversationID, before int64, n int) ([]models.Approval, error) {
	if before <= 0 {
		before = 1 << 62
	}
	return s.approvals(ctx, turnsQuery, id, before, n)
}

// approvals runs a query of approvalColumns and returns the rows as they hold
// now.
func (s *Store) approvals(ctx context.Context, query string, args ...any) ([]models.Approval, error) {
	return s.approvalsWithin(ctx, 0, query, args...)
}

// approvalsWithin stops to read one row after those that weigh most together; 0:
// it reads all.
func (s *Store) approvalsWithin(ctx context.Context, most int, query string, args ...any) ([]models.Approval, error) {
	stmt, err := s.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	defer rows.Close()
	now := s.db.Now()
	out, read := make([]models.Approval, 0, models.DefaultPage+1), atMost{most: most}
	for rows.Next() {
		a, err := scanApproval(rows)
		if err != nil {
			return nil, fmt.Errorf("list approvals: %w", err)
		}
		out = append(out, *at(a, now))
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

func sqlNotFoundAs(err, want error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return want
	}
	return err
}

// MaxListBytes is where a list for programs ends, though more was asked for: what
// is listed is never cut, and some inputs are 256 KiB.
const MaxListBytes = 1 << 20

// rowWeight is about what a row takes in JSON beside its texts.
const rowWeight = 1 << 10

// weight is about how many bytes a request takes in JSON.
func weight(a *models.Approval) int {
	n := rowWeight + len(a.ToolInputJSON)
	for _, text := range [...]string{a.Content, a.Context, a.Description, a.Options, a.ApprovalFeedback} {
		n += quoted(text)
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

// entryWeight is about how many bytes an entry of a history takes in JSON.
func entryWeight(e *models.HistoryEntry) int {
	switch {
	case e.Response != nil:
		return weight(e.Response)
	case e.Message != nil:
		return rowWeight + quoted(e.Message.Content)
	}
	return rowWeight
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

// fitting is how many of items, in their order, a page may have.
func fitting[T any](items []T, limit, most int, weight func(*T) int) int {
	n, sum := min(len(items), limit), 0
	if most <= 0 {
		return n
	}
	for i := range items[:n] {
		if sum += weight(&items[i]); sum > most {
			return max(i, 1)
		}
	}
	return n
}
