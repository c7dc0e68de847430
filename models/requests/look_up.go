package requests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// MostFound is how many of each kind LookUp finds.
const MostFound = 8

// Found is where a text leads: of each kind the first MostFound that the reader may open.
type Found struct {
	Agents        []FoundAgent
	Conversations []models.ConversationView // most recently active first
	// Requests are those with the text as their id, then the pending ones by deadline, those that the reader is asked
	// about first, then the others, latest first.
	Requests []models.Brief
	// Cut says that not all requests were looked at.
	Cut bool
}

// FoundAgent is an agent that was found by its name.
type FoundAgent struct {
	ID          models.AgentID
	Name, Owner string
	Disabled    bool
	Pending     bool // something of it is pending
}

// LookUp finds agents by name, conversations by title, run or agent, and requests by what
// InboxQuery.Text looks for; the latter two by their id too, whole, its beginning or its
// end. Agents and conversations are the reader's own, for admins all; requests those that
// the reader sees. An empty text finds nothing. However much is stored, it looks at the
// latest only: 1,000 requests and conversations each by their text.
//
// Codes: forbidden (people only), invalid.
func (rs *Requests) LookUp(ctx context.Context, actor models.Actor, text string) (Found, error) {
	if !actor.IsPerson() {
		return Found{}, models.Errorf(models.CodeForbidden, "Only a person looks something up.")
	}
	text = strings.TrimSpace(text)
	if err := models.CheckText("q", text, maxSearch); err != nil || text == "" {
		return Found{}, err
	}
	var out Found
	var err error
	if out.Agents, err = rs.lookUpAgents(ctx, actor, text); err != nil {
		return Found{}, err
	}
	if out.Conversations, err = rs.lookUpConversations(ctx, actor, text); err != nil {
		return Found{}, err
	}
	if err := rs.lookUpRequests(ctx, actor, text, &out); err != nil {
		return Found{}, err
	}
	return out, nil
}

// lookUpRequests finds requests by their id, and fills the rest of the list by their text.
func (rs *Requests) lookUpRequests(ctx context.Context, actor models.Actor, text string, out *Found) error {
	var keys []Key
	add := func(found []Key) {
		for _, k := range found {
			if len(keys) < MostFound && !slices.ContainsFunc(keys, func(have Key) bool { return have.Number == k.Number }) {
				keys = append(keys, k)
			}
		}
	}
	id, named := partOfID(text)
	if named {
		found, err := rs.requestsByID(ctx, actor, id)
		if err != nil {
			return err
		}
		add(found)
	}
	looks := []lookUp{{text: text}}
	if named {
		looks = slices.Insert(looks, 0, lookUp{end: id})
	}
	for _, look := range looks {
		if len(keys) == MostFound || len(keys) > 0 && len(id) == wholeID {
			break
		}
		found, cut, err := rs.requestsBy(ctx, actor, look)
		if err != nil {
			return err
		}
		out.Cut = out.Cut || cut
		add(found)
	}
	rows, err := rs.rowsOf(ctx, keys, briefColumns)
	out.Requests = briefs(rows)
	return err
}

// lookUp is what requests are looked for by: a text, or the end of their id.
type lookUp struct{ text, end string }

// requestsBy are pending requests, last those that the actor only sees, and then the settled ones; and whether there are
// some that were not looked at.
func (rs *Requests) requestsBy(
	ctx context.Context, actor models.Actor, look lookUp,
) (found []Key, cut bool, err error) {
	now := rs.db.Now()
	for _, whose := range []Whose{WhoseAll, WhoseReads} {
		if whose == WhoseReads && actor.Oversees() {
			continue
		}
		pending := InboxQuery{Text: look.text, Whose: whose}
		l, err := rs.inboxSearch(ctx, actor, pending, now)
		if err != nil {
			return nil, false, err
		}
		if err := rs.inboxFrom(ctx, l, pending, now); err != nil {
			return nil, false, err
		}
		some, isCut, err := rs.lookThrough(ctx, l, look, deadlineOf)
		if found, cut = append(found, some...), cut || isCut; err != nil || len(found) >= MostFound {
			return found, cut, err
		}
	}
	l, err := rs.settledSearch(ctx, actor, SettledQuery{Text: look.text})
	if err != nil {
		return nil, false, err
	}
	over, isCut, err := rs.lookThrough(ctx, l, look, (*Key).at)
	return append(found, over...), cut || isCut, err
}

// narrow adds the end of an id to what a search picks.
func (look lookUp) narrow(l *search) {
	if look.end != "" {
		l.pick += endsWith
		l.args["ending"] = look.end
	}
}

// lookThrough looks in a list for the text or end of an id, and reports whether it did not come to its end.
func (rs *Requests) lookThrough(ctx context.Context, l *search, look lookUp, at func(*Key) time.Time) ([]Key, bool, error) {
	look.narrow(l)
	found, err := rs.search(ctx, l, at, MostFound, MostFound, l.most())
	return found.keys, found.cut, err
}

// Pages show the end of an id (…099a8057), people copy whole ones, logs may cut them.
const (
	leastOfID = 8
	wholeID   = 36
)

// partOfID is an id or a part of one, in small letters, if a text is that.
func partOfID(text string) (string, bool) {
	id := strings.ToLower(strings.TrimPrefix(text, "…"))
	return id, len(id) >= leastOfID && len(id) <= wholeID && strings.Trim(id, "0123456789abcdef-") == ""
}

// afterID is behind all ids that begin so.
func afterID(id string) string { return id + "g" }

// How much LookUp looks at beside requests.
const (
	mostConversations = 1_000 // by their text
	mostOfID          = 200   // rows whose ids begin alike, which agents choose
)

// endsWith narrows a search to ids that end so.
var endsWith = ` AND ` + db.HasSuffix(`r.id`, `:ending`)

// beginsLike are the first rows whose ids begin so.
func beginsLike(table, column string) string {
	return `(SELECT ` + column + ` AS k FROM ` + table + ` WHERE id >= :from AND id < :after ORDER BY id LIMIT :most) k`
}

// requestsByIDQuery is for the beginning of an id.
var requestsByIDQuery = `SELECT r.number, r.id FROM ` + beginsLike(`responses`, `number`) +
	` CROSS JOIN responses r ON r.number = k.k
 WHERE r.asked = TRUE AND ` + personSees(`r`, `:admin`, `:me`) + ` ORDER BY r.id LIMIT :n`

// requestsByID are the requests whose ids begin so, of those that the actor sees.
func (rs *Requests) requestsByID(ctx context.Context, actor models.Actor, id string) ([]Key, error) {
	var out []Key
	err := rs.lookUpRows(ctx, requestsByIDQuery, map[string]any{
		"from": id, "after": afterID(id), "most": mostOfID, "admin": actor.Oversees(), "me": actor.ID, "n": MostFound,
	}, func(row db.Scanner) error {
		var k Key
		err := row.Scan(&k.Number, &k.ID)
		out = append(out, k)
		return err
	})
	return out, err
}

// agentsQuery finds agents by name, those in use first.
func agentsQuery(admin bool) string {
	whose := ``
	if !admin {
		whose = ` AND g.owner_id = :me`
	}
	return `SELECT g.id, g.name, u.name, g.disabled_at IS NOT NULL, EXISTS (SELECT 1 FROM responses p` +
		db.ByResponsesPendingAgent + `
  WHERE p.agent_id = g.id AND p.approval_status = 'pending' AND (p.approval_timeout_at > :now OR p.held_until IS NOT NULL))
 FROM agents g CROSS JOIN users u ON u.id = g.owner_id WHERE ` + hasText(`g.name`) + whose + ` ORDER BY g.disabled_at IS NOT NULL, g.name, g.id LIMIT :n`
}

// lookUpAgents finds agents by name.
func (rs *Requests) lookUpAgents(ctx context.Context, actor models.Actor, text string) ([]FoundAgent, error) {
	var out []FoundAgent
	err := rs.lookUpRows(ctx, agentsQuery(actor.Oversees()), map[string]any{"text": text, "me": actor.ID, "now": rs.db.Now(), "n": MostFound}, func(row db.Scanner) error {
		var a FoundAgent
		err := row.Scan(&a.ID, &a.Name, &a.Owner, &a.Disabled, &a.Pending)
		out = append(out, a)
		return err
	})
	return out, err
}

// conversationsByIDQuery is for the beginning of an id.
var conversationsByIDQuery = `SELECT ` + viewColumns + ` FROM ` + beginsLike(`conversations`, `id`) +
	` CROSS JOIN conversations c ON c.id = k.k JOIN agents a ON a.id = c.agent_id JOIN users u ON u.id = c.owner_id
 WHERE (:admin OR c.owner_id = :me) ORDER BY k.k LIMIT :n`

// conversationsQuery finds conversations by their text among the latest, or by the end of
// their id if there is one.
func conversationsQuery(admin, archived bool) string {
	q := ConversationQuery{Archived: archived}
	where := `k.archived_at IS NULL`
	if archived {
		where = `k.archived_at IS NOT NULL`
	}
	if !admin {
		q.Owner = "me"
		where += ` AND k.owner_id = :me`
	}
	latest := `SELECT k.id, k.active_at FROM conversations k` + db.By(q.index()) + ` WHERE ` + where +
		` ORDER BY k.active_at DESC, k.id DESC LIMIT :most`
	match := strings.Join([]string{
		hasText(`c.title`), hasText(`c.run_id`), hasText(`a.name`), `:ending <> '' AND ` + db.HasSuffix(`c.id`, `:ending`),
	}, ` OR `)
	return `SELECT ` + viewColumns + ` FROM (SELECT k.id, k.active_at FROM (` + latest +
		`) k CROSS JOIN conversations c ON c.id = k.id CROSS JOIN agents a ON a.id = c.agent_id
  WHERE ` + match + ` ORDER BY k.active_at DESC, k.id DESC LIMIT :n) k CROSS JOIN conversations c ON c.id = k.id JOIN agents a ON a.id = c.agent_id JOIN users u ON u.id = c.owner_id
 ORDER BY k.active_at DESC, k.id DESC`
}

// lookUpConversations finds conversations by the beginning of their id, and fills the rest of the list by their text,
// archived ones last.
func (rs *Requests) lookUpConversations(
	ctx context.Context, actor models.Actor, text string,
) ([]models.ConversationView, error) {
	args := map[string]any{
		"admin": actor.Oversees(), "me": actor.ID, "text": text, "ending": "", "n": MostFound, "most": mostOfID,
	}
	queries := []string{conversationsQuery(actor.Oversees(), false), conversationsQuery(actor.Oversees(), true)}
	if id, ok := partOfID(text); ok {
		args["from"], args["after"], args["ending"] = id, afterID(id), id
		queries = slices.Insert(queries, 0, conversationsByIDQuery)
	}
	var out []models.ConversationView
	for _, query := range queries {
		found, err := rs.views(ctx, query, arguments(query, args)...)
		if err != nil {
			return nil, fmt.Errorf("look for conversations: %w", err)
		}
		for i := range found {
			known := slices.ContainsFunc(out, func(v models.ConversationView) bool { return v.ID == found[i].ID })
			if !known && len(out) < MostFound {
				out = append(out, found[i])
			}
		}
		if len(out) == MostFound {
			break
		}
		args["most"] = mostConversations
	}
	return out, nil
}

// lookUpRows hands on each row of a query that has arguments with names.
func (rs *Requests) lookUpRows(
	ctx context.Context, query string, args map[string]any, each func(db.Scanner) error,
) error {
	if err := db.EachRow(context.WithoutCancel(ctx), rs.db.Reads(), query, arguments(query, args), each); err != nil {
		return fmt.Errorf("look up: %w", err)
	}
	return nil
}
