package mcp

import (
	"context"
	"errors"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
)

// noLimit is how long a permission prompt waits: until the deadline of its request. To a
// client that goes on without it, waiting is the only answer that is not a no.
const noLimit = 10 * 365 * 24 * time.Hour

// fewWaiters is how many may wait before the size of their stacks counts, see aside.
const fewWaiters = 1000

// waiter is one call whose answer depends on requests.
type waiter struct {
	tool  *tool
	rows  []*models.Approval
	limit time.Duration
}

// settle answers a call once its requests are settled. It puts off waiting: the SDK keeps three goroutines for a call,
// and thousands may wait.
func (m *Server) settle(x *exchange, w waiter) (*sdk.CallToolResult, error) {
	pending := slices.ContainsFunc(w.rows, func(a *models.Approval) bool { return a.Status() == models.StatusPending })
	switch {
	case !pending:
		return w.tool.answer(x, w.rows)
	case x.one == nil: // one of several in a batch
		return m.waitFor(x, w)
	}
	x.putOff(w)
	return &sdk.CallToolResult{}, nil // which is dropped
}

// finish does the wait that was put off, and answers.
func (m *Server) finish(x *exchange, w waiter) {
	result, err := m.waitFor(x, w)
	if err != nil {
		m.logFailure(x, w.tool, err)
		result = failed(err)
	}
	x.respond(m.respondedIn(x, result))
}

// waitFor waits for the requests of a call and makes its answer. An answer of which the
// client is not to hear is written to a stream that takes nothing any more.
func (m *Server) waitFor(x *exchange, w waiter) (*sdk.CallToolResult, error) {
	done, err := m.await(x, w)
	x.rest()
	switch {
	case errors.Is(context.Cause(x.ctx), errGivenUp):
		return nil, errGivenUp
	case x.ctx.Err() != nil:
		x.mute() // the client is gone
		return nil, x.ctx.Err()
	case err != nil:
		return nil, err
	case !done && w.limit == noLimit:
		if x.survives() {
			x.begin(m.resumableAs(x, w, idsOf(w.rows)), m.waitingText(w.rows[0])) // or nothing says where to go on
			x.mute()
		}
		return nil, models.Errorf(models.CodeUnavailable,
			"The server is restarting and nobody has decided yet. The request is still pending: make the same call again to wait for it.")
	}
	if err := m.stillGood(x); err != nil {
		return nil, err
	}
	return w.tool.answer(x, w.rows)
}

// stillGood looks at the token again once its call has waited, which may be for days: a token that was revoked or has
// expired meanwhile hears no outcome.
func (m *Server) stillGood(x *exchange) (err error) {
	m.aside(func() { _, err = handlers.Principal(x.ctx, m.store.People, x.bearer) })
	return err
}

// await waits until all requests are settled, and reports whether they are. It ends early
// with the limit, and when the server stops.
func (m *Server) await(x *exchange, w waiter) (settled bool, err error) {
	var open []int
	ids := idsOf(w.rows)
	for i, row := range w.rows {
		if row.Status() == models.StatusPending {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return true, nil
	}
	if x.standing != nil && m.calls.waits(x.standing, ids) {
		if m.withdraw(x.ctx, x.actor, ids, x.way()) {
			return false, errGivenUp
		}
	}
	watches := make([]*store.Watch, len(open))
	defer func() {
		for _, watch := range watches {
			watch.Close()
		}
	}()
	for at, i := range open {
		watches[at] = m.store.Watch(x.ctx, x.actor, ids[i], w.limit, store.ByWay(x.way()))
	}
	// Each is looked at before any is waited for: it is seen then that the agent waits.
	done := make([]bool, len(open))
	for at, i := range open {
		if done[at], err = m.look(x.ctx, watches[at], &w.rows[i]); err != nil {
			return false, err
		}
	}
	for at, i := range open {
		if !done[at] {
			x.begin(m.resumableAs(x, w, ids), m.waitingText(w.rows[i]))
		}
	}
	settled = true
	for at, i := range open {
		if !done[at] {
			if err := m.sleep(x.ctx, watches[at], &w.rows[i]); err != nil {
				return false, err
			}
		}
		settled = settled && w.rows[i].Status() != models.StatusPending
		if settled && !w.rows[i].MayRun() && len(w.rows) > 1 {
			m.withdraw(x.ctx, x.actor, ids, x.way()) // the call is refused: the other requests would be in vain
			return true, nil
		}
	}
	return settled, nil
}

// sleep waits for one request. The goroutine holds little while it sleeps.
func (m *Server) sleep(ctx context.Context, watch *store.Watch, row **models.Approval) error {
	for {
		again, err := watch.Sleep(ctx)
		if err != nil {
			return err
		}
		if again != nil {
			*row = again
			return nil
		}
		if done, err := m.look(ctx, watch, row); done || err != nil {
			return err
		}
	}
}

// look reads a request again; done says that this is the answer.
func (m *Server) look(ctx context.Context, watch *store.Watch, row **models.Approval) (done bool, err error) {
	m.aside(func() {
		var a *models.Approval
		if a, done, err = watch.Look(ctx); done {
			*row = a
		}
	})
	return done, err
}

// aside runs fn so that the caller can sleep on a small stack.
func (m *Server) aside(fn func()) { handlers.Aside(m.store.Waiters(), m.few, fn) }

// resumableAs is the id by which a stream is resumed; empty: it is not.
func (m *Server) resumableAs(x *exchange, w waiter, ids []models.ResponseID) string {
	if x.one == nil || x.session == "" {
		return ""
	}
	return m.seal.event(x.actor, x.session,
		place{Tool: w.tool.name, Rows: ids, Call: x.one.ID, Progress: x.one.Params.Meta.Progress})
}

// waitingText is what a client may show of a wait.
func (m *Server) waitingText(row *models.Approval) string {
	return "Waiting for a decision: " + m.kit.ApprovalURL(row.ID)
}
