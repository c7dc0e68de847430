package mcp

import (
	"context"
	"log/slog"
	"sync"

	"countersign/models"
)

// callKey names a call that is under way: ids of calls are unique within one session, or one
// run of the pipe, of one agent.
type callKey struct {
	agent       models.AgentID
	session, id string
}

// call is one call under way, and the requests that it waits for.
type call struct {
	rows      []models.ResponseID
	cancelled bool               // before it had any
	leave     context.CancelFunc // ends its wait without an answer
}

// calls are those under way that their client may cancel.
type calls struct {
	mu  sync.Mutex
	all map[callKey]*call
}

func newCalls() calls { return calls{all: make(map[callKey]*call)} }

// begin notes a call. A client that uses an id again means the later call by it.
func (c *calls) begin(key callKey, leave context.CancelFunc) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &call{leave: leave}
	c.all[key] = one
	return one
}

// end forgets a call: what is cancelled from now on was answered already.
func (c *calls) end(key callKey, one *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] == one {
		delete(c.all, key)
	}
}

// waits notes which requests a call waits for, and reports whether it was cancelled before.
func (c *calls) waits(one *call, rows []models.ResponseID) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.rows = rows
	return one.cancelled
}

// cancel is told that a client gave a call up, and returns the requests that it waits for.
func (c *calls) cancel(key callKey) (rows []models.ResponseID, leave context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[key]
	if one == nil {
		return nil, nil
	}
	one.cancelled = true
	return one.rows, one.leave
}

// cancelled withdraws what a client says that it no longer waits for. A lost connection says
// nothing and withdraws nothing (I8).
func (m *Server) cancelled(x *exchange, sent messages) {
	for _, one := range sent.all {
		if one.Method == methodCancelled && x.scope != "" {
			rows, leave := m.calls.cancel(x.key(one.Params.RequestID))
			if m.withdraw(x, rows, x.wayOf(one.Params.RequestID)) {
				leave() // else it would look as if this way were waited by still
			}
		}
	}
}

// withdraw ends one way in to requests: they are cancelled, as far as they are pending and
// the agent waits for them by no other. It reports whether any is pending still.
func (m *Server) withdraw(x *exchange, rows []models.ResponseID, way string) (pending bool) {
	for _, id := range rows {
		row, err := m.store.GiveUp(context.WithoutCancel(x.ctx), x.actor, id, way)
		switch models.ErrorCode(err) { //nolint:exhaustive // all others are faults
		case "", models.CodeNotFound:
		default:
			m.kit.Log.ErrorContext(x.ctx, "cancel a call", slog.String("approval_id", string(id)), slog.String("error", err.Error()))
		}
		pending = pending || err == nil && row.Status() == models.StatusPending
	}
	return pending
}
