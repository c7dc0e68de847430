package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
)

// API is the JSON surface: a router of its own that reads bearer tokens and
// never cookies.
type API struct {
	echo  *echo.Echo
	huma  huma.API
	kit   handlers.Kit
	store *store.Store

	version  string
	document func() ([]byte, error) // built when it is first asked for

	waitRoutes map[route]bool // those on which a caller may wait
	looks      chan struct{}  // held by those who look again
	few        int            // fewWaiters
	keepAlive  time.Duration  // keepAliveEvery

	places places // how events of streams are named

	operations int // registered so far
}

// New makes the surface over a store. version goes into /openapi.json. Stop the
// kit's Streams before the server shuts down.
func New(kit handlers.Kit, s *store.Store, version string) (*API, error) {
	if kit.Streams == nil {
		kit.Streams = handlers.NewStreams(0)
	}
	if kit.Lists == nil {
		kit.Lists = handlers.NewLists()
	}
	a := &API{
		kit: kit, store: s, version: version, waitRoutes: map[route]bool{}, looks: make(chan struct{}, looksAtOnce),
		few: fewWaiters, keepAlive: keepAliveEvery,
	}
	key, err := s.Ledger.PositionKey(context.Background())
	if err != nil {
		return nil, err
	}
	if a.places, err = newPlaces(key); err != nil {
		return nil, err
	}
	a.echo = kit.Router(kit.FailJSON)
	a.echo.Use(handlers.JSONHeaders, handlers.ReadableQuery)
	config := configOf(version)
	config.Components.Schemas = servingSchemas{config.Components.Schemas}
	a.huma = humaecho.New(a.echo, config)
	a.register()
	a.document = sync.OnceValues(a.buildDocument)
	a.echo.GET("/openapi.json", a.openAPI)
	return a, nil
}

// register adds the routes of all surfaces.
func (a *API) register() {
	a.registerApprovals()
	a.registerQueue()
	a.registerPolicy()
	a.registerPolicyJudging()
	a.registerStops()
	a.registerTools()
	a.registerConversations()
	a.registerRuns()
	a.registerStreams()
}

// ServeHTTP answers one request, on a route that may wait after that.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.mayWait(r) {
		a.serveWaiting(w, r)
		return
	}
	a.echo.ServeHTTP(w, r)
}

// Echo is the router, for routes beside the API: health, metrics.
func (a *API) Echo() *echo.Echo { return a.echo }

// Routes lists every route of the router, however it was registered.
func (a *API) Routes() []handlers.Route { return handlers.Routes(a.echo) }

func configOf(version string) huma.Config {
	config := huma.DefaultConfig("Countersign", version)
	config.Info.Description = apiGuide
	config.CreateHooks = nil // no $schema members in answers
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	config.RejectUnknownQueryParameters = true
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer"}}
	return config
}

// input is what handlers take: a struct that embeds caller.
type input[I any] interface {
	*I
	sender() *caller
}

// register adds one route. Its body is read strictly and its errors become
// problem documents.
func register[I, O any, P input[I]](
	a *API, who Capability, op huma.Operation, fn func(context.Context, *I) (*O, error),
) {
	op.MaxBodyBytes = cmp.Or(op.MaxBodyBytes, models.MaxBody+1) // huma refuses a body that reaches the limit
	op.BodyReadTimeout = handlers.BodyTimeout
	op.SkipValidateBody = true
	if op.Method != http.MethodGet {
		op.Errors = append(op.Errors, http.StatusInsufficientStorage)
	}
	if op.Tags == nil {
		op.Tags = []string{"Approvals"}
	}
	a.operations++
	op.Metadata = map[string]any{metadataWho: who, metadataOrder: a.operations}
	op.Security = []map[string][]string{{"bearer": {}}}
	op.Middlewares = huma.Middlewares{a.signIn(who)}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, op.Path, P(in).sender().from.requestID, err)
		}
		return out, nil
	})
}

// problem turns an error into an answer. A conflict carries the request it conflicts with; a spent budget carries the
// budget request to wait for.
func (a *API) problem(ctx context.Context, route, requestID string, err error) *handlers.Problem {
	if ctx.Err() != nil {
		err = context.Canceled // the caller is gone: the cause no longer matters
	}
	err = handlers.InWords(fieldsOf(route), err)
	p := handlers.ProblemOf(err)
	var e *models.Error
	if errors.As(err, &e) && e.Approval != nil {
		p.Approval = a.currentAnswer(route, e.Approval)
	}
	if p.Code == models.CodeInternal {
		p.RequestID = requestID
		a.kit.Log.ErrorContext(ctx, "request failed",
			slog.String("route", route),
			slog.String("error", err.Error()))
	}
	return p
}
