package requests

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// TrailQuery narrows a person's audit trail; members combine.
type TrailQuery struct {
	Person       models.UserID // whose trail; empty: the reader's own
	Part         TrailPart
	Outcome      TrailOutcome
	Agent        models.AgentID // entries of it, or of its conversations
	Conversation models.ConversationID
	Text         string    // as in Everything
	From, Until  time.Time // from the first to before the second; zero: no bound
	Before       int64     // numbers below this one only; 0: from the newest
	Limit        int       // 0: models.DefaultPage; at most TrailMost
}

// TrailMost is how many entries one page has at most.
const TrailMost = 1_000

// trailLook bounds how many entries of one index are read for a page, where a
// filter may leave few of them.
const trailLook = 10_000

// TrailPage is one page of a trail, newest first.
type TrailPage struct {
	Entries []models.TrailEntry
	Next    int64 // to pass as Before; 0: that was all
	// StoppedEarly says, where Next is set and the page is not full, that reading stopped early: the filters removed
	// most of the entries.
	StoppedEarly bool
}

// Trail lists the entries of which a person is the actor or the owner, each with its request, if the reader may see
// that now.
//
// Codes: forbidden (people read their own, admins anyone's), invalid.
func (rs *Requests) Trail(ctx context.Context, actor models.Actor, q TrailQuery) (TrailPage, error) {
	if err := q.check(actor); err != nil {
		return TrailPage{}, err
	}
	limit := models.DefaultPage
	if q.Limit > 0 {
		limit = min(q.Limit, TrailMost)
	}
	found, err := rs.trailEntries(ctx, actor, q, limit)
	if err != nil {
		return TrailPage{}, err
	}
	out := TrailPage{Next: found.Next, StoppedEarly: found.StoppedEarly}
	out.Entries, err = rs.withRequests(ctx, actor, found.Entries)
	return out, err
}

// EachTrail gives all that Trail would, in its order. begin is called first, once
// the query was found good. An error of either, or the end of ctx, ends it.
func (rs *Requests) EachTrail(
	ctx context.Context, actor models.Actor, q TrailQuery, begin func() error, fn func(*models.TrailEntry) error,
) error {
	if err := q.check(actor); err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	for q.Limit = exportBatch; ; {
		page, err := rs.Trail(ctx, actor, q)
		if err != nil {
			return err
		}
		for i := range page.Entries {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if err := fn(&page.Entries[i]); err != nil {
				return err
			}
		}
		if page.Next == 0 {
			return nil
		}
		q.Before = page.Next
	}
}

// check sets whose trail it is, and refuses one that the actor may not read and filters that do not exist.
func (q *TrailQuery) check(actor models.Actor) error {
	switch {
	case q.Person == "" && !actor.IsPerson():
		return models.Errorf(models.CodeForbidden, "Only people read the audit.")
	case q.Person == "":
		q.Person = actor.UserID()
	case q.Person != actor.UserID():
		if err := actor.NeedOversight(); err != nil {
			return err
		}
	}
	if _, known := trailParts[q.Part]; !known && q.Part != "" {
		return models.Invalid("what", "must be one of the choices")
	}
	if q.Outcome != "" && !slices.Contains(TrailOutcomes(), q.Outcome) {
		return models.Invalid("outcome", "must be %s", models.AnyOf(TrailOutcomes()))
	}
	return models.CheckText("text", q.Text, maxSearch)
}

func (rs *Requests) trailEntries(ctx context.Context, actor models.Actor, q TrailQuery, limit int) (ledger.Page, error) {
	dbtx, err := db.BeginRead(ctx, rs.db.Reads())
	if err != nil {
		return ledger.Page{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback()
	low, high, err := ledger.Query{From: q.From, Until: q.Until, Before: q.Before}.Span(ctx, dbtx)
	if err != nil || low >= high {
		return ledger.Page{}, err
	}
	return ledger.PageIn(ctx, dbtx, q.list(dbtx, actor, low, high, limit))
}

// list is the page of a query: entries from low to before high.
func (q TrailQuery) list(dbtx *sql.Tx, actor models.Actor, low, high int64, limit int) *db.List[models.Entry] {
	keys := ledger.Concerning(q.Person)
	switch {
	case q.Conversation != "":
		keys = []ledger.Key{{Kind: ledger.ByConversation, Value: string(q.Conversation)}}
	case q.Part == TrailDecisions:
		keys = []ledger.Key{{Kind: ledger.ByActor, Value: string(q.Person)}}
	}
	look, picks := trailLook, q.picks()
	if q.Text != "" {
		look, picks = textLook, append(picks, hasEntryText(actor, q.Text))
	}
	return ledger.Entries(dbtx, limit, look, picks, ledger.Through(low, high, keys...)...)
}

// TrailPart is a kind of entries that a trail can be narrowed to.
type TrailPart string

// The parts of a trail.
const (
	TrailDecisions     TrailPart = "decisions" // that the person made
	TrailRequests      TrailPart = "requests"
	TrailConversations TrailPart = "conversations"
	TrailRules         TrailPart = "rules"
	TrailAccess        TrailPart = "access"
)

// trailParts are the actions of each part.
var trailParts = map[TrailPart]string{
	TrailDecisions:     `action IN ('approval.approved', 'approval.rejected', 'approval.voted', 'approval.taken_back', 'approval.withdrawn', 'approval.cancelled')`,
	TrailRequests:      actionOf(`approval.`),
	TrailConversations: actionOf(`conversation.`, `message.`, `response.`, `call.`),
	TrailRules:         actionOf(`policy.`, `grant.`, `upstream.`),
	TrailAccess:        actionOf(`user.`, `group.`, `session.`, `token.`, `agent.`, `agents.`, `invite.`, `setup_link.`),
}

// actionOf is whether an entry's action begins with one of the words.
func actionOf(words ...string) string {
	some := make([]string, len(words))
	for i, word := range words {
		some[i] = db.HasPrefix(`action`, word)
	}
	return `(` + strings.Join(some, ` OR `) + `)`
}

// TrailOutcome is how a request ended: a final status, or TrailLetThrough.
type TrailOutcome string

// TrailLetThrough is the outcome of calls that ran without a person.
const TrailLetThrough TrailOutcome = "let_through"

// TrailOutcomes is the list of the outcomes that a trail can be narrowed to: the
// final statuses and TrailLetThrough.
func TrailOutcomes() []TrailOutcome {
	var out []TrailOutcome
	for _, status := range models.FinalStatuses() {
		out = append(out, TrailOutcome(status))
	}
	return append(out, TrailLetThrough)
}

// action is that of the entries of this outcome: each outcome is one entry.
func (o TrailOutcome) action() string { return "approval." + string(o) }

// picks are the filters that do not drive.
func (q TrailQuery) picks() []db.Part {
	var out []db.Part
	and := func(pick string, values ...any) { out = append(out, db.Say(pick, values...)) }
	if q.Conversation != "" {
		if q.Part == TrailDecisions {
			and(`actor_id = ?`, q.Person)
		} else {
			and(`(actor_id = ? OR owner_id = ?)`, q.Person, q.Person)
		}
	}
	if q.Part != "" {
		and(trailParts[q.Part])
	}
	if q.Outcome != "" {
		and(`action = ?`, q.Outcome.action())
	}
	if q.Agent != "" {
		and(`(actor_id = ? OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = ledger.conversation_id AND c.agent_id = ?))`,
			q.Agent, q.Agent)
	}
	return out
}

// The rows read beside the entries of a page, by their keys.
var (
	trailRoutes = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id` + db.Within(`?`)
	trailVotes  = `SELECT id, reason FROM votes WHERE id` + db.Within(`?`)
	// Why a vote was taken back, by another than who gave it.
	trailWithdrawn = `SELECT vote_id, said FROM withdrawals WHERE vote_id` + db.Within(`?`)
)

// withRequests puts beside each entry its request, where the actor may see that.
func (rs *Requests) withRequests(
	ctx context.Context, actor models.Actor, entries []models.Entry,
) ([]models.TrailEntry, error) {
	requests, err := rs.requestsOf(ctx, entries)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	routes, err := rs.routedOf(ctx, actor, requests)
	if err != nil {
		return nil, err
	}
	reasons, err := rs.reasonsOf(ctx, trailVotes, entries, "approval.voted")
	if err != nil {
		return nil, err
	}
	withdrawn, err := rs.reasonsOf(ctx, trailWithdrawn, entries, withdrawals...)
	if err != nil {
		return nil, err
	}
	out := make([]models.TrailEntry, len(entries))
	for i := range entries {
		e := &out[i]
		e.Entry = entries[i]
		a := requests[e.ResponseID]
		if a == nil {
			continue
		}
		sees, err := MaySee(actor, &a.Response, func() (bool, error) { return routes[a.ID], nil })
		if err != nil {
			return nil, err
		}
		if !sees {
			e.Hidden = true
			continue
		}
		e.Request = a
		switch {
		case e.Action == "approval.voted":
			e.Reason = reasons[voteOf(e.Data)]
		case slices.Contains(withdrawals, e.Action):
			e.Reason = withdrawn[voteOf(e.Data)]
		case e.Action == "approval.let_through" || e.Action == "approval.ran":
			e.Reason = a.PolicyReason
		case e.Action == "approval."+string(a.Status()):
			e.Reason = a.Feedback()
		}
	}
	return out, nil
}

// requestsOf reads the requests that entries are about, in brief.
func (rs *Requests) requestsOf(
	ctx context.Context, entries []models.Entry,
) (map[models.ResponseID]*models.Brief, error) {
	var ids []models.ResponseID
	known := map[models.ResponseID]*models.Brief{}
	for i := range entries {
		id := entries[i].ResponseID
		if _, seen := known[id]; id != "" && !seen {
			known[id] = nil
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return known, nil
	}
	var items []models.Brief
	err := rs.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		items, err = FindBriefs(rs.db.Gorm(ctx).Where("id IN ?", ids), rs.db.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range items {
		known[items[i].ID] = &items[i]
	}
	return known, nil
}

// routedOf tells which of the requests were routed to the actor. Admins see all,
// and owners their own: nothing is read for them.
func (rs *Requests) routedOf(
	ctx context.Context, actor models.Actor, requests map[models.ResponseID]*models.Brief,
) (map[models.ResponseID]bool, error) {
	var ids []models.ResponseID
	for id, a := range requests {
		if a != nil && !actor.Oversees() && a.OwnerID != actor.UserID() {
			ids = append(ids, id)
		}
	}
	out := map[models.ResponseID]bool{}
	err := eachOfIDs(ctx, rs.db.Reads(), trailRoutes, ids, []any{actor.ID}, func(row db.Scanner) error {
		var id models.ResponseID
		err := row.Scan(&id)
		out[id] = true
		return err
	})
	return out, err
}

// withdrawals are the actions that take back a vote of another's.
var withdrawals = []string{"approval.withdrawn", "approval.refused"}

// reasonsOf reads, by vote, the reasons given with the entries of some actions.
func (rs *Requests) reasonsOf(
	ctx context.Context, query string, entries []models.Entry, actions ...string,
) (map[models.VoteID]string, error) {
	var ids []models.VoteID
	for i := range entries {
		if id := voteOf(entries[i].Data); id != "" && slices.Contains(actions, entries[i].Action) {
			ids = append(ids, id)
		}
	}
	out := map[models.VoteID]string{}
	err := eachOfIDs(ctx, rs.db.Reads(), query, ids, nil, func(row db.Scanner) error {
		var id models.VoteID
		var reason string
		err := row.Scan(&id, &reason)
		out[id] = reason
		return err
	})
	return out, err
}

// voteOf is the vote that an entry's data names.
func voteOf(data string) models.VoteID {
	var held struct {
		Vote models.VoteID `json:"vote"`
	}
	if err := json.Unmarshal([]byte(data), &held); err != nil {
		return ""
	}
	return held.Vote
}

// eachOfIDs runs a query whose last argument is a list of ids; without ids, none.
func eachOfIDs[T ~string](
	ctx context.Context, pool db.Querier, query string, ids []T, args []any, each func(db.Scanner) error,
) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("encode ids: %w", err)
	}
	if err := db.EachRow(ctx, pool, query, append(args, string(list)), each); err != nil {
		return fmt.Errorf("read beside the ledger: %w", err)
	}
	return nil
}
