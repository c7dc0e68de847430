package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// kit logs to a buffer and is known as sign.example.com.
func kit() (handlers.Kit, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return handlers.Kit{
		Log: slog.New(models.LogHandler(slog.NewJSONHandler(log, nil))), Now: time.Now,
		PublicURL: &url.URL{Scheme: "https", Host: "sign.example.com", Path: "/"},
	}, log
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[models.Code]int{
		models.CodeInvalid: 422, models.CodeDigestRequired: 422, models.CodeWrongDecisionKind: 422, models.CodeCommentRequired: 422,
		models.CodeResponseRequired: 422, models.CodeNoBudget: 422, models.CodeUnauthenticated: 401, models.CodeForbidden: 403,
		models.CodeNotFound: 404, models.CodeAlreadyDecided: 409, models.CodeExpired: 409, models.CodeBeingDecided: 409,
		models.CodeDigestMismatch: 409, models.CodeKeyConflict: 409, models.CodeIDTaken: 409, models.CodeOtherAgent: 409,
		models.CodeConflict: 409, models.CodePreconditionFailed: 412, models.CodePreconditionRequired: 428, models.CodeNoPendingApproval: 409, models.CodeBudgetExhausted: 402, models.CodeTooManyRequests: 429, models.CodeTooManyPending: 429,
		models.CodeTooLarge: 413, models.CodeUnavailable: 503, models.CodeInternal: 500, "of the future": 500,
	} {
		if got := handlers.Status(code); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
}

func TestProblemOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		err    error
		status int
		code   models.Code
		header string
		value  string
	}{
		{"a refusal", models.Invalid("toolName", "must name a tool"), 422, "invalid", "", ""},
		{"a wrapped one", fmt.Errorf("ask: %w", models.Errorf(models.CodeForbidden, "no")), 403, "forbidden", "", ""},
		{"too many", &models.Error{Code: models.CodeTooManyRequests, RetryAfterSeconds: 12}, 429, "too_many_requests", "Retry-After", "12"},
		{"too many without a time", &models.Error{Code: models.CodeTooManyPending}, 429, "too_many_pending", "Retry-After", "1"},
		{"stopping", models.Errorf(models.CodeUnavailable, "x"), 503, "unavailable", "Retry-After", "1"},
		{"no token", models.Errorf(models.CodeUnauthenticated, "x"), 401, "unauthenticated", "Www-Authenticate", `Bearer realm="countersign"`},
		{"the caller left", context.Canceled, 499, "client_closed_request", "", ""},
		{"too slow", context.DeadlineExceeded, 503, "unavailable", "", ""},
		{"anything else", errors.New("disk /data/secret on fire"), 500, "internal", "", ""},
	} {
		p := handlers.ProblemOf(tt.err)
		rec := httptest.NewRecorder()
		handlers.WriteProblem(rec, p)
		if rec.Code != tt.status || p.Code != tt.code || rec.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %s", tt.name, rec.Code, p.Code, rec.Header().Get("Content-Type"))
		}
		if tt.header != "" && rec.Header().Get(tt.header) != tt.value {
			t.Errorf("%s: %s %q, want %q", tt.name, tt.header, rec.Header().Get(tt.header), tt.value)
		}
		if strings.Contains(rec.Body.String(), "fire") {
			t.Errorf("%s: tells what broke: %s", tt.name, rec.Body)
		}
	}
	p := handlers.ProblemOf(models.Invalid("toolName", "must name a tool"))
	if len(p.Errors) != 1 || p.Errors[0].Field != "toolName" || p.Errors[0].Message != "must name a tool" || !strings.Contains(p.Detail, "toolName") {
		t.Errorf("field problem: %+v", p)
	}
}

func TestOneLineARequestAndNoSecrets(t *testing.T) {
	t.Parallel()
	k, log := kit()
	e := k.Router(k.FailJSON)
	e.POST("/things/:id", func(echo.Context) error { return errors.New("the disk is on fire") })
	e.GET("/panics", func(echo.Context) error { panic("at the disco") })
	send := func(method, target string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader("a secret body"))
		r.Host = "sign.example.com"
		r.Header.Set("Authorization", "Bearer a-secret-token")
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, r)
		return rec
	}
	rec := send("POST", "/things/a-secret-id?key=a-secret-key")
	id := rec.Header().Get("X-Request-Id")
	if rec.Code != 500 || len(id) != 16 || !strings.Contains(rec.Body.String(), `"requestId":"`+id+`"`) || strings.Contains(rec.Body.String(), "fire") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if rec := send("GET", "/panics"); rec.Code != 500 || strings.Contains(rec.Body.String(), "disco") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	var requests []map[string]any
	for line := range strings.Lines(log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if entry["msg"] == "request" {
			requests = append(requests, entry)
		}
	}
	if len(requests) != 2 || requests[0]["route"] != "/things/:id" || requests[0]["request_id"] != id || requests[0]["status"] != 500.0 ||
		requests[0]["method"] != "POST" || requests[0]["took"] == nil || requests[1]["route"] != "/panics" {
		t.Errorf("requests logged: %v", requests)
	}
	for _, want := range []string{"the disk is on fire", "at the disco", "handlers_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
	if strings.Contains(log.String(), "secret") {
		t.Errorf("the log holds what was sent: %s", log)
	}
}

func TestHealthAnswersToAnyHost(t *testing.T) {
	t.Parallel()
	k, _ := kit()
	e := k.Router(k.FailJSON)
	ready := errors.New("not yet")
	handlers.RegisterHealth(e, func(context.Context) error { return ready })
	get := func(path string) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, http.NoBody)
		r.Host = "10.0.0.7:8080"
		rec := httptest.NewRecorder()
		e.ServeHTTP(rec, r)
		return rec.Code
	}
	if got := get("/healthz"); got != 200 {
		t.Errorf("healthz: %d", got)
	}
	if got := get("/readyz"); got != 503 {
		t.Errorf("readyz while not ready: %d", got)
	}
	ready = models.Errorf(models.CodeUnavailable, "Not ready: the clock stands still.")
	rec := httptest.NewRecorder()
	e.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", http.NoBody))
	if rec.Code != 503 || !strings.Contains(rec.Body.String(), "the clock stands still") {
		t.Errorf("what is not ready is not told: %d %s", rec.Code, rec.Body)
	}
	ready = nil
	if got := get("/readyz"); got != 200 {
		t.Errorf("readyz: %d", got)
	}
	if got := get("/else"); got != 421 {
		t.Errorf("another path under a foreign host: %d", got)
	}
}

func TestBearerRequestsAreTheAPIs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, authorization string
		want                bool
	}{
		{"/", "", false},
		{"/", "Bearer x", true},
		{"/", "bearer x", true},
		{"/", "Basic x", false},
		{"/", "Bearer", false},
		{"/v1/approvals", "", true},
		{"/v1", "", true},
		{"/v12", "", false},
		{"/api/approval/list", "", true},
		{"/mcp", "", true},
		{"/approvals/x", "", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", tt.path, http.NoBody)
		if tt.authorization != "" {
			r.Header.Set("Authorization", tt.authorization)
		}
		if got := handlers.WantsBearer(r); got != tt.want {
			t.Errorf("%s with %q: %v, want %v", tt.path, tt.authorization, got, tt.want)
		}
	}
}

// The paths of conversations are the pages' and the API's: a program that has no
// token is told so in JSON, a browser is shown the page or the way in.
func TestConversationsAreAPagesOrTheAPIs(t *testing.T) {
	t.Parallel()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, tt := range []struct {
		name, method, path string
		header             map[string]string
		want               bool
	}{
		{"a browser", "GET", "/conversations/x", map[string]string{"Accept": browser}, false},
		{"a browser with a token", "GET", "/conversations/x", map[string]string{"Accept": browser, "Authorization": "Bearer x"}, true},
		{"a browser with a session", "GET", "/conversations", map[string]string{"Accept": "*/*", "Cookie": "session=x"}, false},
		{"a stream of a page", "GET", "/conversations/x", map[string]string{"Accept": "text/event-stream"}, false},
		{"htmx", "GET", "/conversations/x", map[string]string{"Accept": "*/*", "HX-Request": "true"}, false},
		{"a form", "POST", "/conversations/x", map[string]string{"Accept": browser, "Content-Type": "application/x-www-form-urlencoded"}, false},
		{"a script of a page", "GET", "/conversations", map[string]string{"Accept": "*/*", "Sec-Fetch-Mode": "cors"}, false},
		{"a program", "GET", "/conversations", map[string]string{"Accept": "*/*"}, true},
		{"a program that says nothing", "GET", "/conversations/x", nil, true},
		{"a program that wants JSON", "GET", "/conversations/x", map[string]string{"Accept": "application/json"}, true},
		{"with cookies", "GET", "/conversations/x", map[string]string{"Accept": "application/json", "Cookie": "session=x"}, true},
		{"a program that sends JSON", "PUT", "/conversations/x/budget", map[string]string{"Content-Type": "application/json", "Cookie": "session=x"}, true},
		{"a message", "POST", "/message", map[string]string{"Accept": browser}, true},
		{"another word", "GET", "/messages", nil, false},
		{"another path", "GET", "/conversationsx", nil, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, http.NoBody)
		for name, value := range tt.header {
			r.Header.Set(name, value)
		}
		if got := handlers.WantsBearer(r); got != tt.want {
			t.Errorf("%s: the API's: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAProblemOfTheBudgetNamesTheRequest(t *testing.T) {
	t.Parallel()
	standing := &models.Approval{Response: models.Response{ID: "0190f5a0-0000-7000-8000-000000000001"}}
	for code, want := range map[models.Code]models.ResponseID{models.CodeBudgetExhausted: standing.ID, models.CodeAlreadyDecided: ""} {
		if p := handlers.ProblemOf(&models.Error{Code: code, Approval: standing}); p.ApprovalID != want {
			t.Errorf("%s: approvalId %q, want %q", code, p.ApprovalID, want)
		}
	}
}

func TestLinksUseThePublicURL(t *testing.T) {
	t.Parallel()
	k, _ := kit()
	if got, want := k.ApprovalURL("a"), "https://sign.example.com/approvals/a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
