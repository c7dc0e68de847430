package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"countersign/handlers/api/wire"
)

// hookPath is where hooks of Claude Code are answered.
const hookPath = "/hooks/claude-code"

// HookOptions say how a hook is answered.
type HookOptions struct {
	// Connect is how long a hook that no server has answered is tried.
	Connect time.Duration
	// OnPending is called with each request that is waited for: that of the call, and of
	// more energy before it; may be nil.
	OnPending func(*wire.HookPending)
}

// Hook hands the server what a coding agent handed to its hook, and repeats it until there
// is an answer, through restarts of the server. The context ends the wait. Errors are those
// of AskUntilDecided; a caller that gets one denies the call.
func (c *Client) Hook(ctx context.Context, name wire.HookName, event []byte, p HookOptions) (*wire.HookAnswer, error) {
	query := url.Values{"wait": {"0s"}} // at first, to learn which request to wait for
	if name == wire.HookPermissionRequest {
		query.Set("approvalId", newID()) // it has no tool_use_id: a repeat is known by this
	}
	timeLimit, cancel := context.WithTimeout(ctx, p.Connect)
	defer cancel()
	heard, told := false, wire.ResponseID("")
	for pause := firstPause; ; {
		turn := timeLimit
		if heard {
			turn = ctx
		}
		a, err := c.hookOnce(turn, name, query, event)
		after, again := Retryable(err)
		heard = heard || err == nil || again && Answered(err)
		switch {
		case err == nil && a.Answer != nil:
			return a.Answer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		case err == nil:
			if told != a.Pending.ApprovalID && p.OnPending != nil {
				p.OnPending(a.Pending)
			}
			if told = a.Pending.ApprovalID; query.Get("wait") != "0s" {
				rest(ctx, firstPause) // a server that is stopping answers at once
			}
			query.Set("wait", pollWait.String())
			pause = firstPause
			continue
		case noSpace(err), !again && (timeLimit.Err() == nil || Answered(err)):
			return nil, err
		case heard:
			rest(ctx, max(after, jittered(pause)))
		case !rest(timeLimit, max(after, jittered(pause))):
			return nil, fmt.Errorf("%w: %w", ErrNeverAnswered, err)
		}
		pause = min(2*pause, lastPause)
	}
}

// hookOnce sends it once.
func (c *Client) hookOnce(
	ctx context.Context, name wire.HookName, query url.Values, event []byte,
) (*wire.HookResult, error) {
	timeLimit, cancel := context.WithTimeout(ctx, pollWait+grace)
	defer cancel()
	req, err := c.request(timeLimit, http.MethodPost, hookPath+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(event))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(event)), nil }
	req.Body, _ = req.GetBody()
	req.Header.Set("Content-Type", "application/json")
	var out wire.HookResult
	if err := c.exchange(ctx, req, &out); err != nil {
		return nil, err
	}
	// Nothing may be released on the word of another server that answers at the address.
	pending := out.Pending != nil && out.Pending.ApprovalID != ""
	if answered := out.Answer != nil; answered == pending || answered && !out.Answer.Answers(name) {
		return nil, notOurs(http.StatusOK)
	}
	return &out, nil
}
