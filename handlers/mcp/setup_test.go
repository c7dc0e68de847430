package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/handlers"
	"countersign/handlers/mcp"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' client
}

// world is one server, which may be down and come back, with an owner's agents and a
// stranger's.
type world struct {
	tb    testing.TB
	dir   string
	clock *storetest.Clock
	wait  time.Duration
	aside bool // as if many waited

	store *store.Store
	kit   handlers.Kit
	url   string
	on    atomic.Pointer[http.Handler] // nil: the server is down

	owner    models.Actor
	admin    models.Actor
	agentAs  models.Actor
	agent    string
	second   string // another agent of the owner's
	foreign  string // a stranger's agent
	reviewer string // the owner's token
}

func newWorld(tb testing.TB, opts ...func(*world)) *world {
	tb.Helper()
	w := &world{tb: tb, dir: storetest.Dir(tb), clock: storetest.NewClock(), wait: time.Minute}
	for _, opt := range opts {
		opt(w)
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if h := w.on.Load(); h != nil {
			(*h).ServeHTTP(rw, r)
			return
		}
		panic(http.ErrAbortHandler) // the connection is dropped
	}))
	tb.Cleanup(server.Close)
	w.url = server.URL
	w.up()
	tb.Cleanup(func() { w.store.EndWaits() })
	w.owner = storetest.Reviewer(tb, w.store, "owner@example.com")
	w.admin = storetest.Admin(tb, w.store)
	stranger := storetest.Reviewer(tb, w.store, "stranger@example.com")
	w.agentAs, w.agent = storetest.AgentToken(tb, w.store, w.owner, "coder")
	_, w.second = storetest.AgentToken(tb, w.store, w.owner, "second")
	_, w.foreign = storetest.AgentToken(tb, w.store, stranger, "coder")
	_, w.reviewer = storetest.ReviewerToken(tb, w.store, w.owner)
	return w
}

// up starts a server over the folder, as a new process would.
func (w *world) up() {
	w.tb.Helper()
	w.store = storetest.New(w.tb, storetest.WithDir(w.dir), storetest.WithClock(w.clock), func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 })
	w.kit = handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: time.Now, Streams: handlers.NewStreams(0)}
	surface, err := mcp.New(w.kit, w.store, mcp.Options{Version: "test", Wait: w.wait})
	if err != nil {
		w.tb.Fatal(err)
	}
	if w.aside {
		surface.RunAside()
	}
	e := w.kit.Router(w.kit.FailJSON)
	surface.Register(e)
	h := http.Handler(e)
	w.on.Store(&h)
}

// down stops the server as a restart does: waits are ended first.
func (w *world) down() {
	w.tb.Helper()
	w.on.Store(nil)
	w.store.EndWaits()
	w.kit.Streams.Stop()
	w.until("waits end", func() bool { return w.store.Waiters() == 0 })
	if err := w.store.Close(); err != nil {
		w.tb.Fatal(err)
	}
}

// until waits for what happens on another goroutine.
func (w *world) until(what string, ok func() bool) {
	w.tb.Helper()
	look, over := time.NewTicker(time.Millisecond), time.After(time.Minute)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-over:
			w.tb.Fatalf("%s: not within a minute", what)
		}
	}
}

// client is a client of one token and, once it has begun one, a session.
type client struct {
	w        *world
	token    string
	path     string
	session  string
	protocol string
	header   http.Header
}

func (w *world) client(token string) *client {
	return &client{w: w, token: token, path: mcp.Path, protocol: "2025-11-25", header: http.Header{}}
}

// begin begins a session.
func (w *world) begin(token string) *client {
	w.tb.Helper()
	c := w.client(token)
	s := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`)
	s.answer()
	if c.session = s.header.Get("Mcp-Session-Id"); c.session == "" {
		w.tb.Fatal("no session was begun")
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`).want(http.StatusAccepted)
	return c
}

// stream is an answer, as it arrives.
type stream struct {
	tb     testing.TB
	status int
	header http.Header
	body   io.ReadCloser
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

type event struct{ name, id, retry, data string }

func (c *client) send(method, body string, header map[string]string) (*stream, error) {
	ctx, cancel := context.WithCancel(c.w.tb.Context())
	req, err := http.NewRequestWithContext(ctx, method, c.w.url+c.path, strings.NewReader(body))
	if err != nil {
		cancel()
		return nil, err
	}
	req.Header = c.header.Clone()
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.protocol != "" {
		req.Header.Set("Mcp-Protocol-Version", c.protocol)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // closed with the stream
	if err != nil {
		cancel()
		return nil, err
	}
	s := &stream{tb: c.w.tb, status: res.StatusCode, header: res.Header, body: res.Body, lines: bufio.NewScanner(res.Body), cancel: cancel}
	s.lines.Buffer(nil, 4<<20)
	c.w.tb.Cleanup(s.close)
	return s, nil
}

func (s *stream) close() {
	s.cancel()
	s.body.Close()
}

// post sends a message.
func (c *client) post(body string) *stream {
	c.w.tb.Helper()
	s, err := c.send(http.MethodPost, body, nil)
	if err != nil {
		c.w.tb.Fatal(err)
	}
	return s
}

// resume goes on with a stream that was cut off.
func (c *client) resume(id string) *stream {
	c.w.tb.Helper()
	s, err := c.send(http.MethodGet, "", map[string]string{"Last-Event-ID": id})
	if err != nil {
		c.w.tb.Fatal(err)
	}
	return s
}

// call calls a tool under an id.
func (c *client) call(id int, tool, arguments string) *stream {
	c.w.tb.Helper()
	return c.post(callOf(id, tool, arguments, `{"progressToken":7}`, c.protocol))
}

func callOf(id int, tool, arguments, meta, protocol string) string {
	if protocol == modern {
		meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` + meta[1:]
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`, id, tool, arguments, meta)
}

const modern = "2026-07-28"

// modern speaks the protocol without sessions.
func (w *world) modern(token, tool string) *client {
	c := w.client(token)
	c.protocol = modern
	c.header.Set("Mcp-Method", "tools/call")
	c.header.Set("Mcp-Name", tool)
	return c
}

func (s *stream) want(status int) {
	s.tb.Helper()
	if s.status != status {
		raw, _ := io.ReadAll(s.body)
		s.tb.Fatalf("status %d, want %d: %s", s.status, status, raw)
	}
}

// next is the next event; false at the end. Comments are events without a name.
func (s *stream) next() (e event, ok bool) {
	for s.lines.Scan() {
		line := s.lines.Text()
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "retry":
			e.retry = value
		case "data":
			e.data = value
		}
		if line == "" {
			return e, true
		}
	}
	return e, false
}

// answer reads up to the response.
func (s *stream) answer() result {
	s.tb.Helper()
	s.want(http.StatusOK)
	for {
		e, ok := s.next()
		if !ok {
			s.tb.Fatalf("the stream ended without an answer: %v", s.lines.Err())
		}
		var r result
		if json.Unmarshal([]byte(e.data), &r) == nil && (r.Result != nil || r.Error != nil) {
			r.tb = s.tb
			return r
		}
	}
}

// result is a response of the protocol.
type result struct {
	tb     testing.TB
	ID     int `json:"id"`
	Result *struct {
		IsError           bool            `json:"isError"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		Content           []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// text is what the answer says; a call that failed begins with "error: ".
func (r result) text() string {
	r.tb.Helper()
	if r.Error != nil {
		return fmt.Sprintf("protocol error: %d %s", r.Error.Code, r.Error.Message)
	}
	if len(r.Result.Content) != 1 {
		r.tb.Fatalf("%d contents", len(r.Result.Content))
	}
	if r.Result.IsError {
		return "error: " + r.Result.Content[0].Text
	}
	return r.Result.Content[0].Text
}

// member is one of the structured answer's.
func (r result) member(name string) any {
	r.tb.Helper()
	var object map[string]any
	if err := json.Unmarshal(r.Result.StructuredContent, &object); err != nil {
		r.tb.Fatalf("structured content: %v: %s", err, r.text())
	}
	return object[name]
}

// pending is what waits for the owner, once there are so many.
func (w *world) pending(n int) []models.Approval {
	w.tb.Helper()
	var items []models.Approval
	w.until(fmt.Sprintf("%d pending", n), func() bool {
		got, err := w.store.Requests.PendingList(w.tb.Context(), w.owner, "", 50)
		if err != nil {
			w.tb.Fatal(err)
		}
		items = got.Items
		return len(items) == n
	})
	return items
}

// decide decides as the owner.
func (w *world) decide(id models.ResponseID, in models.DecisionInput) {
	w.tb.Helper()
	a, err := w.store.Requests.Approval(w.tb.Context(), w.owner, id)
	if err != nil {
		w.tb.Fatal(err)
	}
	in.Digest, in.Page = a.Digest, models.NoPage
	if _, err := w.store.Decide(w.tb.Context(), w.owner, id, in); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) policy(document string) {
	w.tb.Helper()
	if _, err := w.store.ApplyPolicy(w.tb.Context(), w.admin, []byte(document), "", 0); err != nil {
		w.tb.Fatal(err)
	}
}
