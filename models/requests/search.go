package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// How much is looked at for one page of a list, where no index serves a filter:
// then the list says how far it has come, and goes on when asked.
const (
	mostSearched  = 4_000 // rows
	mostTextRows  = 1_000 // rows, where their texts are read
	mostTextBytes = 32 << 20
	mostAtOnce    = 2_000 // rows by one statement
)

// search is how a list is read: keys from an index in the list's order, some at a time,
// and of each row whether the actor sees it and the filters pick it.
type search struct {
	// keys selects the next :n keys, as k, that come after :at with :id or :number, or after
	// :rank, :at and :id.
	keys string
	join string // which response a key is of
	sort string // the order of k again
	pick string // the filters that belong to this list alone
	text bool   // there is a text to look for
	args map[string]any
}

// Key is a row's place in a list: by time and id, by time and number, by number, or by risk,
// time and id.
type Key struct {
	Number  int64
	ID      string
	timeout time.Time
	created time.Time
	settled *time.Time
	risk    models.Risk
}

// at is the time by which a settled row is listed.
func (k *Key) at() time.Time {
	if k.settled != nil {
		return *k.settled
	}
	return k.created
}

// searchResult is what a search has found.
type searchResult struct {
	keys  []Key // the first that were picked, as many as were wanted
	picks int
	scans int // rows that the actor sees
	last  Key // the last row that was looked at
	cut   bool
}

// searchSees is what the actor of a search sees of a response.
var searchSees = personSees(`r`, `:admin`, `:me`)

// What all lists can filter by.
const (
	searchPicks = `(:conversation = '' OR r.conversation_id = :conversation) AND (:agent = '' OR r.agent_id = :agent) AND (:risk = '' OR r.risk = :risk)
 AND (:whose <> 'mine' OR r.owner_id = :me)
 AND (:whose <> 'routed' OR EXISTS (SELECT 1 FROM reviewers w WHERE w.user_id = :me AND w.response_id = r.id))
 AND (:tool = '' OR r.tool_name = :tool)`
)

// searchText looks for a text, small and capital letters alike.
var searchText = ` AND (` + strings.Join([]string{
	hasText(`r.tool_name`), hasText(`r.description`), hasText(`a.name`), hasText(`c.title`),
	hasText(`substr(r.tool_input_json, 1, :brief)`), hasText(`substr(r.content, 1, :brief)`),
}, ` OR `) + `)`

func hasText(column string) string { return db.Contains(`lower(`+column+`)`, `lower(:text)`) }

// sql reads some: the keys, whether each is seen (1) and picked (2), and how
// many bytes had to be read to tell.
func (l *search) sql() string {
	bytes, tables, text := `0`, ``, ``
	if l.text {
		bytes, text = `octet_length(r.tool_input_json) + octet_length(r.content)`, searchText
		tables = ` CROSS JOIN agents a ON a.id = r.agent_id CROSS JOIN conversations c ON c.id = r.conversation_id`
	}
	return `SELECT r.number, r.id, r.approval_timeout_at, r.created_at, r.approval_timestamp, r.risk,
 CASE WHEN NOT ` + searchSees + ` THEN 0 WHEN ` + searchPicks + l.pick + text + ` THEN 2 ELSE 1 END, ` + bytes + `
 FROM (` + l.keys + `) k CROSS JOIN responses r ON ` + l.join + tables + ` ORDER BY ` + l.sort
}

// most is how many rows are looked at for a page.
func (l *search) most() int {
	if l.text {
		return mostTextRows
	}
	return mostSearched
}

// from goes on after a key.
func (l *search) from(k Key, at time.Time) {
	l.args["at"], l.args["id"], l.args["number"], l.args["rank"] = at, k.ID, k.Number, k.risk.Rank()
}

// arguments are those that a statement names.
func arguments(text string, args map[string]any) []any {
	var out []any
	seen := map[string]bool{}
	for _, m := range parameter.FindAllStringSubmatch(text, -1) {
		if name := m[1]; !seen[name] {
			seen[name] = true
			out = append(out, sql.Named(name, args[name]))
		}
	}
	return out
}

var parameter = regexp.MustCompile(`:([a-z_]+)`)

// search reads on until count rows were picked, there are no more, or most were
// looked at (0: without end), and keeps the keys of the first want.
func (rs *Requests) search(
	ctx context.Context, l *search, at func(*Key) time.Time, want, count, most int,
) (searchResult, error) {
	var out searchResult
	text := l.sql()
	stmt, err := rs.db.Prepared(ctx, text)
	if err != nil {
		return out, err
	}
	rows, bytes := 0, 0
	for n := want + 1; ; n *= 4 {
		if n = min(n, mostAtOnce); most > 0 {
			n = min(n, most-rows)
		}
		if l.text {
			n = min(n, mostTextRows/8)
		}
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("look through a list: %w", err)
		}
		l.args["n"] = n
		got, size, err := out.read(ctx, stmt, arguments(text, l.args), want, count)
		if err != nil {
			return out, err
		}
		rows, bytes = rows+got, bytes+size
		if got < n || out.picks >= count {
			return out, nil
		}
		if most > 0 && (rows >= most || bytes >= mostTextBytes) {
			out.cut = true
			return out, nil
		}
		l.from(out.last, at(&out.last))
	}
}

// read looks at the rows of one statement.
func (w *searchResult) read(
	ctx context.Context, stmt *sql.Stmt, args []any, want, count int,
) (rows, bytes int, err error) {
	found, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return 0, 0, fmt.Errorf("look through a list: %w", err)
	}
	defer found.Close()
	for found.Next() {
		var k Key
		var state, size int
		if err := found.Scan(&k.Number, &k.ID, &k.timeout, &k.created, &k.settled, &k.risk, &state, &size); err != nil {
			return 0, 0, fmt.Errorf("look through a list: %w", err)
		}
		rows, bytes, w.last = rows+1, bytes+size, k
		if state > 0 {
			w.scans++
		}
		if state < 2 {
			continue
		}
		w.picks++
		if len(w.keys) < want {
			w.keys = append(w.keys, k)
		}
		if w.picks >= count {
			break
		}
	}
	if err := found.Err(); err != nil {
		return 0, 0, fmt.Errorf("look through a list: %w", err)
	}
	return rows, bytes, nil
}

// rowsOf reads the requests of keys, in their order.
func (rs *Requests) rowsOf(ctx context.Context, keys []Key, columns string) ([]models.Approval, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list, err := numbersOf(keys)
	if err != nil {
		return nil, err
	}
	items, err := rs.approvals(ctx, keysQuery(columns), list)
	if err != nil {
		return nil, err
	}
	return inOrder(keys, items)
}

// RowsWithin is rowsOf of the first rows that weigh most together.
func (rs *Requests) RowsWithin(ctx context.Context, keys []Key, most int) ([]models.Approval, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list, err := numbersOf(keys)
	if err != nil {
		return nil, err
	}
	items, err := rs.approvalsWithin(ctx, most, keysQuery(approvalColumns), list)
	if err != nil {
		return nil, err
	}
	items = items[:db.Fitting(items, len(keys), most, weight)]
	for i := range items {
		if string(items[i].ID) != keys[i].ID {
			return nil, errors.New("the rows of a list are not in its order")
		}
	}
	if len(items) == 0 {
		return nil, errors.New("the rows of a list are not there")
	}
	return items, nil
}

// keysQuery reads requests by their numbers, a JSON array.
func keysQuery(columns string) string {
	return `SELECT ` + columns + ` FROM ` + db.EachNumber(`?`) + ` CROSS JOIN responses r ON r.number = jn.value` +
		approvalFrom[len(` FROM responses r`):] + db.InListOrder
}

func numbersOf(keys []Key) (string, error) {
	raw, err := json.Marshal(numbers(keys))
	if err != nil {
		return "", fmt.Errorf("name the rows of a list: %w", err)
	}
	return string(raw), nil
}

// scalar reads one number.
func (rs *Requests) scalar(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := rs.db.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return 0, err
	}
	var n int64
	if err := stmt.QueryRowContext(context.WithoutCancel(ctx), args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

// textLook bounds how many entries are searched for a text for one page.
const textLook = 4_000

// storedHeadline is the stored headline of a request, in one text; of a row whose contents were removed there is none.
var storedHeadline = `CASE WHEN substr(r.headline, 1, 1) = '{' THEN ` + strings.Join([]string{
	`coalesce(` + db.JSONMember(`r.headline`, `lead`) + `, '')`, `coalesce(` + db.JSONMember(`r.headline`, `begin`) + `, '')`,
	`coalesce(` + db.JSONMember(`r.headline`, `end`) + `, '')`, `coalesce(` + db.JSONMember(`r.headline`, `tail`) + `, '')`,
}, ` || ' ' || `) + ` ELSE '' END`

// hasEntryText picks entries that have a text, small and capital letters alike: in who acted, the action, the end of an
// id, or in the request that they are about, where the actor sees that: its tool, headline and agent, and the reasons
// that were given.
func hasEntryText(actor models.Actor, text string) db.Part {
	text = strings.TrimPrefix(text, "…") // pages show ends of ids so
	var args []any
	has := func(columns ...string) string {
		some := make([]string, len(columns))
		for i, column := range columns {
			some[i] = db.Contains(`lower(`+column+`)`, `lower(?)`)
			args = append(args, text)
		}
		return strings.Join(some, ` OR `)
	}
	entry := has(`actor_name`, `action`, `replace(action, '.', ' ')`)
	ids := make([]string, 0, 3)
	for _, id := range []string{`response_id`, `conversation_id`, `actor_id`} {
		ids = append(ids, db.HasSuffix(id, `lower(?)`))
		args = append(args, text, text)
	}
	sees := SeenBy(actor, `r`)
	args = append(args, sees.Args...)
	request := has(`r.tool_name`, storedHeadline, `a.name`, `coalesce(r.approval_feedback, '')`)
	vote := has(`v.reason`)
	return db.Say(`(`+entry+` OR `+strings.Join(ids, ` OR `)+` OR EXISTS (SELECT 1 FROM responses r CROSS JOIN agents a ON a.id = r.agent_id WHERE r.id = ledger.response_id AND `+
		sees.Text+` AND (`+request+` OR EXISTS (SELECT 1 FROM votes v WHERE v.response_id = r.id AND `+vote+`))))`, args...)
}

// Everything is a page of everybody's audit, each entry with its request. An entry is found by a text as in a trail.
//
// Codes: forbidden (admins and the operator only), invalid (text).
func Everything(
	ctx context.Context, rs *Requests, l *ledger.Ledger, actor models.Actor, q ledger.Query, text string,
) (TrailPage, error) {
	if err := models.CheckText("text", text, maxSearch); err != nil {
		return TrailPage{}, err
	}
	if text != "" {
		q.Text, q.Look = hasEntryText(actor, text), textLook
	}
	found, err := l.Page(ctx, actor, q)
	if err != nil {
		return TrailPage{}, err
	}
	out := TrailPage{Next: found.Next, StoppedEarly: found.StoppedEarly}
	out.Entries, err = rs.withRequests(ctx, actor, found.Entries)
	return out, err
}
