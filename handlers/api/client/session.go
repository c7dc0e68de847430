package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"countersign/handlers/api/wire"
)

// SessionPending lists the first page of a session's pending requests, soonest deadline first.
func (c *Client) SessionPending(ctx context.Context, session string) ([]*wire.Invocation, error) {
	var out wire.PendingInvocations
	if err := c.send(ctx, http.MethodGet, "/api/approval/pending/"+url.PathEscape(session), nil, &out, 0); err != nil {
		return nil, err
	}
	return out.Pending, nil
}

// CheckHooks checks that the server answers hooks with this token, without opening a request: it sends an event that
// names no moment. Nil: it does.
func (c *Client) CheckHooks(ctx context.Context) error {
	err := c.send(ctx, http.MethodPost, hookPath+"?wait=0s", wire.HookEvent{SessionID: "check"}, new(wire.HookResult), 0)
	if answer, ok := errors.AsType[*AnswerError](err); ok && answer.Code == wire.CodeInvalid {
		return nil
	}
	if err == nil {
		return notOurs(http.StatusOK)
	}
	return err
}
