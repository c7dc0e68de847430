package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

const (
	// beatEvery is how often who waits hears that the wait goes on.
	beatEvery = 15 * time.Second
	// retryAfter is when a client comes back whose stream broke: Claude Code does so twice,
	// so that it gets over an outage of twice as long.
	retryAfter = 10 * time.Second
)

// exchange is one request whose answer may take long, and the stream of its answer: the SDK
// writes messages to it and, while a call waits, so do we.
type exchange struct {
	http.ResponseWriter

	m       *Server
	ctx     context.Context
	actor   models.Actor
	bearer  string // the header that said who it is
	session string // its id; empty: there is none
	scope   string // what ids of calls are unique in: the session, or a run of the pipe
	pipe    bool   // by `countersign mcp`

	single   string                  // names the call where it can't come again
	stop     context.CancelCauseFunc // ends ctx
	modern   bool                    // the protocol has no sessions
	one      *message                // the call, if one was sent
	standing *call                   // as it is noted for cancelling

	mu     sync.Mutex // guards the writer and what follows
	wrote  bool       // something was written before the answer
	silent bool       // later writes are dropped
	beat   *time.Timer
	beats  int
	later  *waiter // the wait that begins once the SDK has done its part
}

type exchangeKey struct{}

// exchangeOf is the exchange in which the SDK handles a call.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func (m *Server) exchange(
	w http.ResponseWriter, r *http.Request, actor models.Actor, session string, sent messages,
) *exchange {
	x := &exchange{
		ResponseWriter: w, m: m, ctx: r.Context(), actor: actor, bearer: r.Header.Get(echo.HeaderAuthorization),
		session: session, scope: session, modern: r.Header.Get(headerProtocol) >= stateless,
	}
	if pipe := r.Header.Get(HeaderPipe); pipe != "" && len(pipe) <= models.MaxName {
		x.scope, x.pipe = "pipe "+pipe, true
	}
	if sent.only(methodCall) && len(sent.all[0].ID) > 0 {
		x.one = &sent.all[0]
		if x.scope != "" && len(x.one.ID) <= models.MaxName { // which is kept as long as it waits
			x.ctx, x.stop = context.WithCancelCause(x.ctx)
			x.standing = m.calls.begin(x.key(x.one.ID), func() { x.stop(errGivenUp) })
		}
	}
	return x
}

func (x *exchange) key(id jsontext.Value) callKey {
	return callKey{x.actor.AgentID(), x.scope, string(id)}
}

// way is the name of the call's waits; empty: it has none.
func (x *exchange) way() string {
	if x.standing == nil {
		return ""
	}
	return x.key(x.one.ID).way()
}

// taker names the call as the one that takes an answer: it is the same again only where the
// same call is resumed or sent again.
func (x *exchange) taker() string {
	if way := x.way(); way != "" {
		return way
	}
	if x.single == "" {
		x.single = "once " + rand.Text()
	}
	return x.single
}

// end is called when nothing more may be written.
func (x *exchange) end() {
	x.mute()
	if x.standing != nil {
		x.stop(nil)
		x.m.calls.end(x.key(x.one.ID), x.standing)
	}
}

// survives reports whether a call that is broken off comes back: its session is resumed, or
// the pipe sends it again.
func (x *exchange) survives() bool { return x.one != nil && (x.session != "" || x.pipe) }

// Write is whole events, as the SDK writes them.
func (x *exchange) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.silent {
		return len(p), nil
	}
	return x.ResponseWriter.Write(p)
}

// WriteHeader sends the status, unless the stream has begun.
func (x *exchange) WriteHeader(status int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.silent && !x.wrote {
		x.ResponseWriter.WriteHeader(status)
	}
}

// FlushError is for http.ResponseController.
func (x *exchange) FlushError() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.silent {
		return nil
	}
	return http.NewResponseController(x.ResponseWriter).Flush()
}

// begin writes the first byte of an answer that is waited for, and sees to it that the
// caller hears of the wait from then on. id, if not empty, is what the stream is resumed by.
func (x *exchange) begin(id, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.wrote || x.silent {
		return
	}
	x.wrote = true
	first := ": waiting\n\n"
	if id != "" {
		first = fmt.Sprintf("event: prime\nid: %s\nretry: %d\ndata: \n\n", id, retryAfter.Milliseconds())
	}
	x.write(first + x.progress(text))
	x.beat = time.AfterFunc(beatEvery, func() { x.goOn(text) })
}

// goOn tells the caller that the wait goes on.
func (x *exchange) goOn(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.silent {
		return
	}
	x.beats++
	if event := x.progress(text); event != "" {
		x.write(event)
	} else {
		x.write(": waiting\n\n")
	}
	x.beat.Reset(beatEvery)
}

// rest ends what begin began; the answer comes next. Of a batch others may still wait.
func (x *exchange) rest() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.beat != nil && x.one != nil {
		x.beat.Stop()
	}
}

// putOff has the call answered after the SDK has done its part, whose answer is dropped.
func (x *exchange) putOff(w waiter) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.later, x.silent = &w, true
}

// putOffFor is the wait that was put off, now that the SDK is done.
func (x *exchange) putOffFor() (w waiter, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.later == nil {
		return w, false
	}
	w, x.later, x.silent = *x.later, nil, false
	return w, true
}

// respond writes the answer to the call.
func (x *exchange) respond(event string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.silent {
		x.write(event)
	}
}

// mute ends the stream without an answer.
func (x *exchange) mute() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = true
	if x.beat != nil {
		x.beat.Stop()
	}
}

// write sends events. Who takes none is found out by the deadline.
func (x *exchange) write(events string) {
	handlers.ExtendDeadlines(x.ctx, x.ResponseWriter, 2*beatEvery)
	_, _ = x.ResponseWriter.Write([]byte(events))
	_ = http.NewResponseController(x.ResponseWriter).Flush()
}

// progress is an event for a client that wants to hear of progress; else empty.
func (x *exchange) progress(text string) string {
	if x.one == nil || len(x.one.Params.Meta.Progress) == 0 || len(x.one.Params.Meta.Progress) > models.MaxName {
		return ""
	}
	return messageEvent(notification{JSONRPC: "2.0", Method: "notifications/progress", Params: progressed{
		Token: x.one.Params.Meta.Progress, Progress: x.beats, Message: text,
	}})
}
