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

// way is the name of the waits of a call, see store.ByWay: one that is resumed or sent again
// goes on by it.
func (k callKey) way() string { return k.session + " " + k.id }

// call is one call under way, and the requests that it waits for.
type call struct {
	rows      []models.ResponseID
	cancelled bool               // before it had any
	end       context.CancelFunc // of its wait
}

// calls are those under way that their client may cancel.
type calls struct {
	mu  sync.Mutex
	all map[callKey]*call
}

func newCalls() calls { return calls{all: make(map[callKey]*call)} }

// begin notes a call. A client that uses an id again means the later call by it.
func (c *calls) begin(key callKey, end context.CancelFunc) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &call{end: end}
	c.all[key] = one
	return one
}

// end forgets a call: a later cancellation comes after its answer.
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

// cancel takes a client's word that it gave a call up, and returns the requests that the call waits for; end ends the
// wait. Both nil: there is no such call.
func (c *calls) cancel(key callKey) (rows []models.ResponseID, end context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[key]
	if one == nil {
		return nil, nil
	}
	one.cancelled = true
	return one.rows, one.end
}

// errGivenUp answers a call that its client gave up, where its request stays.
var errGivenUp = models.Errorf(models.CodeUnavailable,
	"This call was cancelled. The agent still waits for its request in another way.")

// cancelled withdraws what a client says that it no longer waits for, unless the agent waits
// for it in another way too. A lost connection says nothing and withdraws nothing (I8).
func (m *Server) cancelled(x *exchange, sent messages) {
	for _, one := range sent.all {
		if one.Method != methodCancelled || x.scope == "" {
			continue
		}
		key := x.key(one.Params.RequestID)
		rows, end := m.calls.cancel(key)
		if end != nil && m.withdraw(x.ctx, x.actor, rows, key.way()) {
			end()
		}
	}
}

// withdraw gives requests up, and reports whether one stays pending. way is the name of the
// waits of the call that gives them up.
func (m *Server) withdraw(ctx context.Context, actor models.Actor, rows []models.ResponseID, way string) (stays bool) {
	for _, id := range rows {
		a, err := m.store.GiveUp(context.WithoutCancel(ctx), actor, id, way)
		switch {
		case err == nil:
			stays = stays || a.Status() == models.StatusPending
		case models.ErrorCode(err) != models.CodeNotFound:
			stays = true
			m.kit.Log.ErrorContext(ctx, "cancel a call", slog.String("approval_id", string(id)),
				slog.String("error", err.Error()))
		}
	}
	return stays
}
