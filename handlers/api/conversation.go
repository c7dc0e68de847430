package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
)

const conversationsPath, onePath = "/conversations", "/conversations/{requestId}"

func (a *API) registerConversations() {
	a.registerMessages()
	register(a, Anyone, huma.Operation{
		OperationID: "list-conversations", Method: http.MethodGet, Path: conversationsPath, Tags: conversationTags,
		Summary: "List conversations, newest activity first", Description: "An agent's own, a person's, all for admins.",
		Errors: []int{401, 422},
	}, a.conversations)
	register(a, Anyone, huma.Operation{
		OperationID: "get-conversation", Method: http.MethodGet, Path: onePath, Tags: conversationTags,
		Summary: "Read a conversation and its history, or wait for what comes",
		Description: "Without after and before, the last entries. With after, those that come after a sequence, and with wait the answer comes when there is one: " +
			"an agent waits here for what a person says. Entries are always oldest first. " +
			"A page ends at its limit or after 1 MiB, with at least one entry: go on with before or after.",
		Errors: []int{401, 404, 422, 429},
	}, a.conversation)
	a.registerConversationDecisions()
	a.registerResponses()
}

type conversationsIn struct {
	caller

	Status   string `query:"status" enum:"running,waiting_input,completed,failed" doc:"Only these"`
	Archived bool   `query:"archived" doc:"Those that were archived, in place of those that were not"`
	Cursor   string `query:"cursor" maxLength:"200" doc:"The next of the previous page"`
	Limit    int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type conversationsOut struct {
	Body *wire.ConversationPage
}

func (a *API) conversations(ctx context.Context, in *conversationsIn) (*conversationsOut, error) {
	got, err := a.store.Requests.Conversations(ctx, in.actor, requests.ConversationQuery{
		Status: models.ConversationStatus(in.Status), Archived: in.Archived, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return nil, err
	}
	page := &wire.ConversationPage{Conversations: make([]wire.Conversation, 0, len(got.Items)), Next: got.Next}
	for i := range got.Items {
		page.Conversations = append(page.Conversations, conversationOf(&got.Items[i]))
	}
	return &conversationsOut{Body: page}, nil
}

type conversationIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	After     string `query:"after" maxLength:"20" doc:"Only what comes after this sequence; 0: from the beginning"`
	Before    string `query:"before" maxLength:"20" doc:"Only what comes before this sequence: the before of the page after it"`
	Wait      string `query:"wait" maxLength:"20" doc:"With after, how long to wait for an entry, as 50s or in seconds; cut to 55s"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type conversationOut struct {
	Body *wire.ConversationHistory
}

// conversation waits, where it does, on the goroutine of its caller: those who
// wait for what people say are fewer than those who wait for approvals.
func (a *API) conversation(ctx context.Context, in *conversationIn) (*conversationOut, error) {
	id, err := conversationID(in.RequestID)
	if err != nil {
		return nil, err
	}
	wait, err := waitOf(in.Wait)
	if err != nil {
		return nil, err
	}
	after, before, err := in.place()
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		handlers.ExtendDeadlines(ctx, humaecho.Unwrap(in.from).Response(), wait)
		if _, err := a.store.AwaitHistory(ctx, in.actor, id, after, 1, wait); err != nil {
			return nil, err
		}
	}
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	history, err := a.store.Requests.History(ctx, in.actor, id,
		requests.HistoryQuery{Before: before, After: after, Limit: in.Limit, MaxBytes: requests.MaxListBytes})
	if err != nil {
		return nil, err
	}
	if wait > 0 && len(history.Entries) == 0 {
		handlers.HintRetry(humaecho.Unwrap(in.from).Response().Header(), a.store.WaitsEnded())
	}
	var responses []*models.Approval
	for i := range history.Entries {
		if r := history.Entries[i].Response; r != nil {
			responses = append(responses, r)
		}
	}
	if err := a.store.Requests.HeldVerdicts(ctx, in.actor, responses...); err != nil {
		return nil, err
	}
	waits, err := a.store.WaitsFor(ctx, in.actor, responses...)
	if err != nil {
		return nil, err
	}
	agents, err := a.presences(ctx, in.actor, responses...)
	if err != nil {
		return nil, err
	}
	out := historyOf(a.kit, history.Conversation, history, max(after, 0))
	for i := range out.Entries {
		r := out.Entries[i].Response
		if r == nil {
			continue
		}
		r.Reviewers, r.WaitingFor, r.Signatures, waits = waits[0].Reviewers, waits[0].Text, signaturesOf(waits[0]), waits[1:]
		r.Waiting = agents.waiting(models.ResponseID(r.ResponseID))
	}
	return &conversationOut{Body: out}, nil
}

// place is where in a history to read: after is -1 for its beginning and 0 for
// its end.
func (in *conversationIn) place() (after, before int64, err error) {
	switch {
	case in.After != "" && in.Before != "":
		return 0, 0, models.Invalid("before", "can't be combined with after; send one of the two")
	case in.After == "" && in.Wait != "":
		return 0, 0, models.Invalid("after", "is required with wait: the after of the last read, or 0")
	case in.After != "":
		if after, err = sequenceOf("after", in.After, 0); after == 0 {
			after = -1
		}
	case in.Before != "":
		before, err = sequenceOf("before", in.Before, 1)
	}
	return after, before, err
}

func sequenceOf(field, s string, least int64) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least {
		return 0, models.Invalid(field, "must be a whole number, at least %d", least)
	}
	return n, nil
}
