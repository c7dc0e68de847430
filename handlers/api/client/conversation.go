package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"countersign/handlers/api/wire"
)

// historyPage is how many entries Conversation reads at a time: with the largest
// contents they stay below maxAnswer.
const historyPage = 10

// Send says something into a conversation, or begins one; the token must be a
// reviewer's.
func (c *Client) Send(ctx context.Context, m wire.MessageRequest) (*wire.MessageAnswer, error) {
	var out wire.MessageAnswer
	if err := c.send(ctx, http.MethodPost, "/message", m, &out, 0); err != nil {
		return nil, err
	}
	if out.ID == "" {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Conversation reads the entries after a sequence number, and waits up to wait for one. 0 is the beginning.
func (c *Client) Conversation(
	ctx context.Context, id wire.ConversationID, after int64, wait time.Duration,
) (*wire.ConversationHistory, error) {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}, "limit": {strconv.Itoa(historyPage)}}
	if wait > 0 {
		query.Set("wait", strconv.FormatInt(int64(wait/time.Millisecond), 10)+"ms")
	}
	var out wire.ConversationHistory
	if err := c.send(ctx, http.MethodGet, conversationPath(id)+"?"+query.Encode(), nil, &out, wait); err != nil {
		return nil, err
	}
	if out.ID == "" {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// Say stores an agent's reply or proposal, or the same again, and waits up to
// wait for a proposal's outcome.
func (c *Client) Say(
	ctx context.Context, id wire.ConversationID, r wire.ResponseRequest, wait time.Duration,
) (*wire.ConversationResponse, error) {
	var out wire.ConversationResponse
	if err := c.send(ctx, http.MethodPost, conversationPath(id)+"/responses"+waitQuery(wait), r, &out, wait); err != nil {
		return nil, err
	}
	// Nothing may be done on the word of another server that answers at the address.
	settled := out.Status != nil && *out.Status != wire.StatusPending
	if out.ResponseID == "" || settled != (out.Decision != nil) || (r.Kind == wire.KindProposal && out.Status == nil) {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

// ChangeBudget sets a conversation's budget or changes it by a step.
func (c *Client) ChangeBudget(
	ctx context.Context, id wire.ConversationID, change wire.BudgetRequest,
) (*wire.BudgetAnswer, error) {
	var out wire.BudgetAnswer
	if err := c.send(ctx, http.MethodPut, conversationPath(id)+"/budget", change, &out, 0); err != nil {
		return nil, err
	}
	if out.RequestID == "" {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}

func conversationPath(id wire.ConversationID) string { return "/conversations/" + string(id) }
