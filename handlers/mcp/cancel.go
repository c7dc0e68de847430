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
	cancelled bool // before it had any
}

// calls are those under way that their client may cancel.
type calls struct {
	mu  sync.Mutex
	all map[callKey]*call
}

func newCalls() calls { return calls{all: make(map[callKey]*call)} }

// begin notes a call. A client that uses an id again means the later call by it.
func (c *calls) begin(key callKey) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := new(call)
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
func (c *calls) cancel(key callKey) []models.ResponseID {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[key]
	if one == nil {
		return nil
	}
	one.cancelled = true
	return one.rows
}

// cancelled withdraws what a client says that it no longer waits for. A lost connection says
// nothing and withdraws nothing (I8).
func (m *Server) cancelled(x *exchange, sent messages) {
	for _, one := range sent.all {
		if one.Method == methodCancelled && x.scope != "" {
			m.withdraw(x.ctx, x.actor, m.calls.cancel(x.key(one.Params.RequestID)))
		}
	}
}

// withdraw cancels requests, as far as they are pending.
func (m *Server) withdraw(ctx context.Context, actor models.Actor, rows []models.ResponseID) {
	for _, id := range rows {
		_, err := m.store.Cancel(context.WithoutCancel(ctx), actor, id)
		switch models.ErrorCode(err) { //nolint:exhaustive // all others are faults
		case "", models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeNotFound:
		default:
			m.kit.Log.ErrorContext(ctx, "cancel a call", slog.String("approval_id", string(id)), slog.String("error", err.Error()))
		}
	}
}
