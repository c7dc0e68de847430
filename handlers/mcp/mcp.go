package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
)

// Where the surface lives.
const (
	Path        = "/mcp"         // every protocol, each request by its own
	SessionPath = "/mcp/session" // only those with sessions, which survive a restart
)

// The protocols. Those before stateless have sessions.
const stateless = "2026-07-28"

var sessionProtocols = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// The headers of the protocol.
const (
	headerProtocol  = "Mcp-Protocol-Version"
	headerSession   = "Mcp-Session-Id"
	headerLastEvent = "Last-Event-ID"
)

// HeaderPipe names one run of `countersign mcp`. Its calls can be cancelled like those of a
// session, and a restart breaks them off, for the pipe sends them again.
const HeaderPipe = "Countersign-Pipe"

// MetaKey is the member of a call's _meta by which the pipe names the call, so that it can be
// sent again (I9) where the client gave it no name.
const MetaKey = "countersign/key"

// DefaultWait is how long a call waits for a person before it answers that the request is
// pending: below the minute after which many clients give up.
const DefaultWait = 45 * time.Second

// MaxWait is the most that the setting may be.
const MaxWait = 30 * time.Minute

// Options are what a Server may be made with.
type Options struct {
	Version string
	// Wait is how long calls other than permission prompts wait; 0: DefaultWait.
	Wait time.Duration
}

// Server is the surface.
type Server struct {
	kit   handlers.Kit
	store *store.Store
	wait  time.Duration
	seal  sealer
	calls calls
	tools map[string]*tool
	any   http.Handler // every protocol
	old   http.Handler // those with sessions
	few   int          // fewWaiters
	self  *sdk.Implementation
}

// New makes the surface over a store. Its waits end with the store's.
func New(kit handlers.Kit, s *store.Store, o Options) (*Server, error) {
	if kit.Streams == nil {
		kit.Streams = handlers.NewStreams(0)
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	key, err := s.Ledger.PositionKey(context.Background())
	if err != nil {
		return nil, err
	}
	m := &Server{
		kit: kit, store: s, wait: o.Wait, seal: newSealer(key), calls: newCalls(), tools: make(map[string]*tool),
		few: fewWaiters,
	}
	m.self = &sdk.Implementation{Name: "countersign", Title: "Countersign", Version: o.Version}
	m.any, m.old = m.handler(nil), m.handler(sessionProtocols)
	return m, nil
}

// handler is the SDK's, which answers each request separately. protocols are those that it offers; nil: all.
func (m *Server) handler(protocols []string) http.Handler {
	server := sdk.NewServer(m.self, &sdk.ServerOptions{
		Instructions:              instructions,
		SupportedProtocolVersions: protocols,
		Capabilities:              &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // which do not change
	})
	m.addTools(server)
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, // sessions are ours, see session.go
		// Host and Origin are checked by us, so that it works behind a proxy.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        models.MaxBody,
	})
}

// Register adds the routes to the API's router.
func (m *Server) Register(e *echo.Echo) {
	e.POST(Path, m.post)
	e.GET(Path, m.get)
	e.POST(SessionPath, m.postSession)
	e.GET(SessionPath, m.get)
}

// admit finds out which agent sends a request. Only agents have calls here (I4), and no page of another origin may send
// one.
func (m *Server) admit(c echo.Context) (models.Actor, error) {
	r := c.Request()
	if !m.ownOrigin(r) {
		return models.Actor{}, models.Errorf(models.CodeForbidden, "Pages of another origin may not use this address.")
	}
	actor, err := handlers.Principal(r.Context(), m.store.People, r.Header.Get(echo.HeaderAuthorization))
	if err != nil {
		return models.Actor{}, err
	}
	if !actor.IsAgent() {
		return models.Actor{}, models.Errorf(models.CodeForbidden, "Only an agent's token may use this address.")
	}
	return actor, nil
}

// ownOrigin reports whether a request was sent by no page, or by one of this server.
func (m *Server) ownOrigin(r *http.Request) bool {
	origins := r.Header.Values(echo.HeaderOrigin)
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	if len(origins) > 1 || err != nil || u.Host == "" {
		return false
	}
	if p := m.kit.PublicURL; p != nil && strings.EqualFold(u.Scheme, p.Scheme) && strings.EqualFold(u.Host, p.Host) {
		return true
	}
	return strings.EqualFold(u.Host, r.Host)
}

// post answers messages in the protocol that each says.
func (m *Server) post(c echo.Context) error {
	if c.Request().Header.Get(headerProtocol) >= stateless {
		return m.answer(c, m.any, false)
	}
	return m.answer(c, m.old, true)
}

// postSession answers messages in protocols with sessions only.
func (m *Server) postSession(c echo.Context) error { return m.answer(c, m.old, true) }

// answer has the SDK answer the posted message.
func (m *Server) answer(c echo.Context, protocol http.Handler, sessions bool) error {
	actor, err := m.admit(c)
	if err != nil {
		return err
	}
	r := c.Request()
	handlers.ReadWithin(c.Response())
	body, err := bodyOf(r)
	if err != nil {
		return err
	}
	sent, err := parseMessages(body)
	if err != nil {
		return c.JSONBlob(http.StatusBadRequest, parseError)
	}
	if len(sent.all) > maxBatch {
		return models.Errorf(models.CodeTooLarge, "A batch may have at most %d messages.", maxBatch)
	}
	session := ""
	if sessions {
		if session = r.Header.Get(headerSession); session != "" && !m.seal.isSession(actor, session) {
			return noSession()
		}
		if session == "" && sent.only(methodInitialize) {
			c.Response().Header().Set(headerSession, m.seal.session(actor))
		}
	}
	if sent.only(methodListen) {
		var leave func()
		if r, leave, err = m.listening(actor, r); err != nil {
			return err
		}
		defer leave()
	}
	x := m.exchange(c.Response(), r, actor, session, sent)
	defer x.end()
	m.cancelled(x, sent)
	r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.aside(func() { protocol.ServeHTTP(x, r) })
	if w, ok := x.putOffFor(); ok {
		m.finish(x, w)
	}
	return nil
}

// listening counts a subscription among the agent's streams, and ends it with them. Nothing
// is ever told on one: the tools do not change.
func (m *Server) listening(actor models.Actor, r *http.Request) (*http.Request, func(), error) {
	leave, err := m.kit.Streams.Enter(actor)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	go func() {
		select {
		case <-m.kit.Streams.Stopped():
			cancel()
		case <-ctx.Done():
		}
	}()
	return r.WithContext(ctx), func() { cancel(); leave() }, nil
}

// bodyOf reads the body, up to the limit.
func bodyOf(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, models.MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, models.Errorf(models.CodeTooLarge, "The body may have at most %d bytes.", models.MaxBody)
	}
	return body, err
}

// noSession tells a client to begin a new one.
func noSession() error {
	return models.Errorf(models.CodeNotFound, "There is no such session: initialize a new one.")
}
