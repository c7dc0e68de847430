package requests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// FeedKind says what happened. Each stream has its own words for it.
type FeedKind string

// The kinds of events.
const (
	Asked         FeedKind = "asked"          // a request waits for a person
	TurnedAway    FeedKind = "turned_away"    // a request was rejected as it came: by policy, or for want of deciders
	Settled       FeedKind = "settled"        // approved, rejected, cancelled, resolved
	Expired       FeedKind = "expired"        // no decision in time
	AskedBack     FeedKind = "asked_back"     // a reviewer asks something about a request, which waits for the answer
	StatusChanged FeedKind = "status_changed" // the entry changes only the status of a conversation
)

// FeedEvent is an entry of the ledger for a stream, with the current state of its request.
type FeedEvent struct {
	Seq          int64
	At           time.Time
	Kind         FeedKind
	Conversation models.ConversationID
	Approval     *models.Approval // nil with StatusChanged
	// Changes are what the entry changed in the status of conversations, which the
	// actor sees.
	Changes []models.StatusChange
}

// MaxReplay is how many entries a reader may be behind and still be told each.
const MaxReplay = 10_000

// feedPage is how many entries are read at a time.
const feedPage = 256

// A person's entries come from two tables: feedEntries returns an entry that is in both once. ?1 is the person, ?2 the
// number before the first, ?3 how many, ?4 which agent.
var (
	ofOwner  = ledger.After(feedRow, ledger.ByOwner, `?1`, `?2`)
	ofReader = `SELECT ` + feedRow.Columns("l", map[string]string{"seq": "f.seq"}) +
		` FROM ledger_readers f CROSS JOIN ledger l ON l.seq = f.seq WHERE f.reader_id = ?1 AND f.seq > ?2`
	ofAgent = ` AND (EXISTS (SELECT 1 FROM responses r WHERE r.id = l.response_id AND r.agent_id = ?4)
 OR (l.action = 'conversation.status' AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = l.conversation_id AND c.agent_id = ?4)))`

	feedOfAgent  = strings.Join(ofOwner, ofAgent+` UNION ALL `) + ofAgent + inFeed
	feedOfPerson = strings.Join(slices.Concat(ofOwner, []string{ofReader}), ` UNION ALL `) + inFeed
	inFeed       = ` ORDER BY 1 LIMIT ?3`
	feedOfAdmin  = `SELECT ` + feedRow.Columns("l", nil) + ` FROM ledger l WHERE l.seq > ? ORDER BY l.seq LIMIT ?`
)

// FeedTopics are what wakes a reader: something that a Feed tells may have been
// recorded, or a credential may have ended.
func FeedTopics(actor models.Actor) []events.Topic {
	topics := []events.Topic{events.Access, events.Outside}
	switch {
	case actor.IsAgent():
		topics = append(topics, events.Agent(actor.ID))
	case actor.IsPerson():
		topics = append(topics, events.InboxOf(actor.ID), events.RecordOf(actor.ID))
		if actor.Oversees() {
			topics = append(topics, events.InboxOfAdmins, events.RecordOfAdmins)
		}
	}
	return topics
}

// FeedFrom says where a reader goes on who has heard all entries up to after: at
// after, or at the head with reset when that is more than MaxReplay entries away
// or after is a number that this ledger has not reached.
func (rs *Requests) FeedFrom(ctx context.Context, actor models.Actor, after int64) (from int64, reset bool, err error) {
	head, err := rs.ledger.Head(ctx)
	if err != nil || after > head.Seq {
		return head.Seq, true, err
	}
	if head.Seq-after <= MaxReplay {
		return after, false, nil
	}
	if actor.Oversees() {
		return head.Seq, true, nil
	}
	query, args, err := feedQuery(actor, after, MaxReplay+1)
	if err != nil {
		return 0, false, err
	}
	behind := 0
	if err := rs.db.Reads().QueryRowContext(ctx, `SELECT count(*) FROM (`+query+`)`, args...).Scan(&behind); err != nil {
		return 0, false, fmt.Errorf("count what a stream has to tell: %w", err)
	}
	if behind > MaxReplay {
		return head.Seq, true, nil
	}
	return after, false, nil
}

// Feed passes to tell, in order, the entries after a number that the actor may see now: an agent those about its own
// requests, a person those about requests they own or review, an admin all. It returns the number of the last entry.
// An error of tell ends it and is returned with the number before that event.
func (rs *Requests) Feed(
	ctx context.Context, actor models.Actor, after int64, tell func(*FeedEvent) error,
) (int64, error) {
	for {
		entries, err := rs.feedEntries(actor, after)
		if err != nil {
			return after, err
		}
		for i := range entries {
			if entries[i].Seq == after {
				continue
			}
			if err := ctx.Err(); err != nil {
				return after, fmt.Errorf("tell what was recorded: %w", err)
			}
			h, err := rs.feedEvent(ctx, actor, &entries[i])
			if err != nil {
				return after, err
			}
			if h != nil {
				if err := tell(h); err != nil {
					return after, err
				}
			}
			after = entries[i].Seq
		}
		if len(entries) < feedPage {
			return after, nil
		}
	}
}

// feedQuery chooses the index that answers for the actor.
func feedQuery(actor models.Actor, after int64, limit int) (query string, args []any, err error) {
	switch {
	case actor.IsAgent():
		return feedOfAgent, []any{actor.OwnerID, after, limit, actor.ID}, nil
	case actor.IsPerson() && actor.Oversees():
		return feedOfAdmin, []any{after, limit}, nil
	case actor.IsPerson():
		return feedOfPerson, []any{actor.ID, after, limit}, nil
	}
	return "", nil, models.Errorf(models.CodeForbidden, "Only agents and people read streams.")
}

// feedEntries reads a page. It is short when it is the last.
func (rs *Requests) feedEntries(actor models.Actor, after int64) ([]models.Entry, error) {
	query, args, err := feedQuery(actor, after, feedPage)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()             // the driver starts a goroutine a query for a context that can end
	stmt, err := rs.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	defer rows.Close()
	var out []models.Entry
	reader := db.ReaderOf[models.Entry](feedRow)
	for rows.Next() {
		e, err := reader.Read(rows)
		if err != nil {
			return nil, fmt.Errorf("read feed: %w", err)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read feed: %w", err)
	}
	return out, nil
}

// whatOf is the only table from the ledger's actions to events. Calls that needed no approval asked no person, and are
// left out.
var whatOf = map[string]FeedKind{
	"approval.requested": Asked, "approval.approved": Settled, "approval.rejected": Settled, "approval.cancelled": Settled,
	"approval.routed":   Asked, // of a person who joined its group
	StepAction:          Asked, // of those whom its rule asks later
	"approval.resolved": Settled, "approval.expired": Expired, "approval.asked_back": AskedBack,
	"conversation.status": StatusChanged, "response.adopted": StatusChanged,
}

// feedEvent is what a stream tells of an entry; nil if it tells nothing.
func (rs *Requests) feedEvent(ctx context.Context, actor models.Actor, e *models.Entry) (*FeedEvent, error) {
	what, ok := whatOf[e.Action]
	if !ok || (e.Action == "approval.routed" || e.Action == StepAction) && !asksOf(actor, e) {
		return nil, nil //nolint:nilnil // nothing to tell
	}
	h := &FeedEvent{Seq: e.Seq, At: ledger.TimeOf(*e), Kind: what, Conversation: e.ConversationID}
	changes, err := statusChanges(e)
	if err != nil {
		return nil, err
	}
	if what == StatusChanged {
		if len(changes) == 0 {
			return nil, nil //nolint:nilnil // nothing that is shown has changed
		}
		h.Changes = changes
		return rs.seenChange(ctx, actor, e, h)
	}
	if e.Action == "approval.rejected" && e.ActorKind == models.ActorAgent {
		h.Kind = TurnedAway // only the policy rejects an agent's own act
	}
	a, err := rs.Approval(ctx, actor, e.ResponseID)
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil, nil //nolint:nilnil // not theirs to see
	}
	if err != nil {
		return nil, err
	}
	h.Approval = a
	if !actor.IsPerson() || actor.Oversees() || e.OwnerID == actor.UserID() {
		// Whom one request was routed to does not see its conversation.
		if h.Changes, err = rs.changesFor(ctx, actor, changes); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// StepAction is the ledger's word for further people whom a rule asks.
const StepAction = "approval.escalated_by_rule"

// asksOf reports whether an entry of a request that goes to other people now asks the actor,
// who was not told of it before.
func asksOf(actor models.Actor, e *models.Entry) bool {
	var data struct {
		Joined    models.UserID   `json:"joined"`
		Reviewers []models.UserID `json:"reviewers"`
	}
	return actor.IsPerson() && !actor.Oversees() && json.Unmarshal([]byte(e.Data), &data) == nil &&
		(data.Joined == actor.UserID() || slices.Contains(data.Reviewers, actor.UserID()))
}

// changesFor leaves out, for an agent, conversations that it did not open: a request
// may have come from one.
func (rs *Requests) changesFor(
	ctx context.Context, actor models.Actor, changes []models.StatusChange,
) ([]models.StatusChange, error) {
	if !actor.IsAgent() {
		return changes, nil
	}
	var own []models.StatusChange
	for _, c := range changes {
		sees, err := db.Exists(rs.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM conversations WHERE id = ? AND agent_id = ?`,
			c.Conversation, actor.ID))
		if err != nil {
			return nil, err
		}
		if sees {
			own = append(own, c)
		}
	}
	return own, nil
}

// seenChange is a change of status as far as the actor may see the conversation.
func (rs *Requests) seenChange(
	ctx context.Context, actor models.Actor, e *models.Entry, h *FeedEvent,
) (*FeedEvent, error) {
	sees := actor.Oversees() || (actor.IsPerson() && e.OwnerID == actor.UserID())
	if actor.IsAgent() {
		var err error
		if h.Changes, err = rs.changesFor(ctx, actor, h.Changes); err != nil {
			return nil, err
		}
		sees = len(h.Changes) > 0
	}
	if !sees {
		return nil, nil //nolint:nilnil // not theirs to see
	}
	return h, nil
}

// statusChanges reads from an entry which conversations are shown with another
// status since, and in which order.
func statusChanges(e *models.Entry) ([]models.StatusChange, error) {
	var data struct {
		Old   any                   `json:"old"` // of other entries a number
		New   any                   `json:"new"`
		Waits bool                  `json:"waits"`
		From  models.ConversationID `json:"from"`
		Left  *models.StatusChange  `json:"from_status"`
		Here  *models.StatusChange  `json:"conversation_status"`
	}
	if err := json.Unmarshal([]byte(e.Data), &data); err != nil {
		return nil, fmt.Errorf("read ledger entry %d: %w", e.Seq, err)
	}
	if e.Action == "conversation.status" {
		old, _ := data.Old.(string)
		now, _ := data.New.(string)
		data.Here = &models.StatusChange{
			Old: models.ConversationStatus(old).Shown(data.Waits), New: models.ConversationStatus(now).Shown(data.Waits),
		}
	}
	var out []models.StatusChange
	add := func(id models.ConversationID, c *models.StatusChange) {
		if c != nil && c.Old != c.New {
			c.Conversation = id
			out = append(out, *c)
		}
	}
	add(data.From, data.Left)
	add(e.ConversationID, data.Here)
	return out, nil
}
