package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
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
	Brief bool   // for a list of one line each: inputs are cut to MaxBrief, contexts left out
	Limit int    // 0: DefaultPage
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
// others what they own and what was routed to them. Agents are CodeForbidden.
func (s *Store) Inbox(ctx context.Context, actor models.Actor, q InboxQuery) (InboxPage, error) {
	if !actor.IsPerson() {
		return InboxPage{}, models.Errorf(models.CodeForbidden, "Only a person has an inbox.")
	}
	after, err := parseCursor(q.After)
	if err != nil {
		return InboxPage{}, err
	}
	limit := pageSize(q.Limit)
	from, args := inboxFrom(actor, q.Conversation)
	page := InboxPage{}
	count := `SELECT count(*) FROM (SELECT 1` + from.tables + ` WHERE ` + from.where + ` AND ` + from.deadline + ` > ? LIMIT ?)`
	now := s.now()
	counting, err := s.lists.prepared(ctx, s.r, count) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return InboxPage{}, fmt.Errorf("count inbox: %w", err)
	}
	if err := counting.QueryRowContext(context.WithoutCancel(ctx), append(slices.Clip(args), now, models.StatsCap+1)...).Scan(&page.Count); err != nil {
		return InboxPage{}, fmt.Errorf("count inbox: %w", err)
	}
	if page.Count > models.StatsCap {
		page.Count, page.CountCapped = models.StatsCap, true
	}
	if after.at.Before(now) {
		after = cursor{at: now, id: maxID} // what is past its deadline has expired already (I3)
	}
	query := inboxSelect(from, q.Brief)
	page.Items, err = s.approvals(ctx, query, append(args, after.at, after.id, limit+1)...)
	if err != nil {
		return InboxPage{}, err
	}
	page.Items, page.Next = cut(page.Items, limit, func(a *models.Approval) cursor { return cursor{a.ApprovalTimeoutAt, string(a.ID)} })
	return page, nil
}

// source is where an inbox is read from and by which keys it is ordered.
type source struct{ tables, where, deadline, id string }

// inboxFrom chooses the index that answers the question: a person's own rows in
// deciders, or the partial index on pending rows.
func inboxFrom(actor models.Actor, conv models.ConversationID) (source, []any) {
	pending := source{` FROM responses r INDEXED BY responses_pending`, `r.approval_status = 'pending'`, `r.approval_timeout_at`, `r.id`}
	own := source{` FROM deciders d`, `d.user_id = ?`, `d.deadline`, `d.response_id`}
	inConversation := source{
		` FROM responses r INDEXED BY responses_pending_conversation`,
		`r.approval_status = 'pending' AND r.conversation_id = ?`, `r.approval_timeout_at`, `r.id`,
	}
	switch {
	case conv == "" && actor.Admin:
		return pending, nil
	case conv == "":
		return own, []any{actor.ID}
	case actor.Admin:
		return inConversation, []any{conv}
	}
	inConversation.where += ` AND EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = ? AND d.deadline = r.approval_timeout_at AND d.response_id = r.id)`
	return inConversation, []any{conv, actor.ID}
}

// inboxSelect picks the keys of a page by the index first and joins the rest.
func inboxSelect(from source, brief bool) string {
	columns := approvalColumns
	if brief {
		columns = briefColumns
	}
	return `SELECT ` + columns + ` FROM (SELECT ` + from.id + ` AS id, ` + from.deadline + ` AS deadline` + from.tables +
		` WHERE ` + from.where + ` AND (` + from.deadline + `, ` + from.id + `) > (?, ?) ORDER BY ` + from.deadline + `, ` + from.id + ` LIMIT ?) k
 JOIN responses r ON r.id = k.id` + strings.TrimPrefix(approvalFrom, ` FROM responses r`) + ` ORDER BY k.deadline, k.id`
}
