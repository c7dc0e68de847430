package handlers_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// tokens knows three people by what their tokens are called.
type tokens struct{}

func (tokens) AuthenticateToken(_ context.Context, secret string) (models.Actor, error) {
	actor := models.Actor{Kind: models.ActorUser, ID: secret}
	switch secret {
	case "admin":
		actor.Admin = true
	case "reviewer":
	case "agent":
		actor.Kind = models.ActorAgent
	default:
		return models.Actor{}, models.Errorf(models.CodeUnauthenticated, "unknown")
	}
	return actor, nil
}

// measured is a router with metrics, some requests and figures behind it.
func measured(t *testing.T, numbers error) *echo.Echo {
	t.Helper()
	k, _ := kit()
	now := time.Unix(1_800_000_000, 0)
	k.Metrics = handlers.NewMetrics("v1.2.3")
	nodes := []models.Node{ // two of one name: the one that was killed has left its row
		{ID: "a", Name: "one", Version: "v1", SeenAt: time.Unix(1_650_000_000, 0)},
		{ID: "b", Name: "one", Version: "v2", StartedAt: time.Unix(1_600_000_000, 0), SeenAt: time.Unix(1_700_000_000, 0), LagMS: 12, Leases: []string{"poll"}},
	}
	k.Metrics.Follow(func(context.Context) (models.Numbers, error) {
		return models.Numbers{Pending: 7, Oldest: now.Add(-90 * time.Second), Waiters: 3, LedgerSeq: 1234, RowCheck: models.RowCheck{EndedAt: new(time.Unix(1_700_000_000, 0)), Found: 5}, UnsentVerdicts: 4, FailingUpstreams: 2, UnsentNotices: 9, FailingChannels: 6, Nodes: nodes}, numbers
	}, func() time.Time { return now })
	e := k.Router(k.FailJSON)
	e.GET("/things/:id", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	k.RegisterMetrics(e, tokens{})
	for _, path := range []string{"/things/a-secret", "/things/another", "/nothing/of-the-kind"} {
		ask(e, "GET", path, nil)
	}
	ask(e, "BREW", "/things/a-secret", nil)
	k.Metrics.Committed(12, 3*time.Millisecond)
	k.Metrics.Settled(models.Outcome{Status: models.StatusApproved, Cause: models.CauseReviewer, Wait: 45 * time.Second})
	k.Metrics.Settled(models.Outcome{Cause: models.CauseGateOff})
	left := k.Metrics.Stream(handlers.StreamsOfPages)
	k.Metrics.Stream(handlers.StreamsOfPages)
	left()
	return e
}

// ask sends a request from this machine to this machine, unless change says
// otherwise.
func ask(e http.Handler, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:40000"
	if change != nil {
		change(r)
	}
	rec := httptest.NewRecorder()
	e.ServeHTTP(rec, r)
	return rec
}

func TestMetricsTellWhatHappens(t *testing.T) {
	t.Parallel()
	rec := ask(measured(t, nil), "GET", "/metrics", nil)
	text := rec.Body.String()
	for _, want := range []string{
		`countersign_http_requests_total{method="GET",route="/things/:id",status="204"} 2`,
		`countersign_http_requests_total{method="GET",route="none",status="404"} 1`,
		`countersign_http_requests_total{method="other",route="/things/:id",status="405"} 1`,
		`countersign_approvals_settled_total{cause="reviewer",status="approved"} 1`,
		`countersign_approvals_settled_total{cause="gate_off",status="approved"} 1`,
		`countersign_approval_decision_seconds_bucket{le="60"} 1`,
		`countersign_approval_decision_seconds_bucket{le="30"} 0`,
		`countersign_approval_decision_seconds_count 1`,
		`countersign_approvals_pending 7`,
		`countersign_approvals_oldest_pending_seconds 90`,
		`countersign_commit_callers_sum 12`,
		`countersign_commit_seconds_sum 0.003`,
		`countersign_waiters 3`,
		`countersign_verdicts_untold 4`,
		`countersign_upstreams_failing 2`,
		`countersign_notifications_unsent 9`,
		`countersign_notification_channels_failing 6`,
		`countersign_stream_clients{surface="pages"} 1`,
		`countersign_stream_clients{surface="api"} 0`,
		`countersign_ledger_entry 1234`,
		`countersign_node_last_commit_timestamp_seconds{node="one",version="v2"} 1.7e+09`,
		`countersign_node_start_timestamp_seconds{node="one"} 1.6e+09`,
		`countersign_node_lag_seconds{node="one"} 0.012`,
		`countersign_node_lease{lease="poll",node="one"} 1`,
		`countersign_rows_differing 5`,
		`countersign_rows_compared_timestamp_seconds 1.7e+09`,
		`countersign_build_info{version="v1.2.3"} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(text, want+"\n") && !strings.Contains(text, "\n"+want) {
			t.Errorf("%s is not told", want)
		}
	}
	if rec.Code != 200 || strings.Contains(text, "secret") || strings.Contains(text, "BREW") || strings.Contains(text, "of-the-kind") {
		t.Errorf("%d, or a label comes from outside:\n%s", rec.Code, text)
	}
}

func TestMetricsTellTheRestWhenTheStoreIsSilent(t *testing.T) {
	t.Parallel()
	rec := ask(measured(t, errors.New("the disk is on fire")), "GET", "/metrics", nil)
	text := rec.Body.String()
	if rec.Code != 200 || !strings.Contains(text, "countersign_commit_callers_sum 12") || strings.Contains(text, "countersign_approvals_pending 7") ||
		strings.Contains(text, "fire") {
		t.Errorf("%d\n%s", rec.Code, text)
	}
}

func TestWhoMayReadMetrics(t *testing.T) {
	t.Parallel()
	e := measured(t, nil)
	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	far := func(r *http.Request) { r.RemoteAddr = "192.0.2.7:40000" }
	for _, tt := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"from this machine", nil, 200},
		{"by IPv6", func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:4000", "[::1]:8080" }, 200},
		{"to localhost", func(r *http.Request) { r.Host = "localhost" }, 200},
		{"from elsewhere", far, 401},
		{"from elsewhere, saying it is not", func(r *http.Request) { far(r); r.Header.Set("X-Forwarded-For", "127.0.0.1") }, 401},
		{"to the public name", func(r *http.Request) { r.Host = "sign.example.com" }, 401},
		{"to a name that begins like this machine", func(r *http.Request) { r.Host = "127.0.0.1.example.com" }, 401},
		{"forwarded", with("Forwarded", "for=192.0.2.7"), 401},
		{"past a proxy, old form", with("X-Forwarded-For", "127.0.0.1"), 401},
		{"past a proxy that tells the host only", with("X-Forwarded-Host", "localhost"), 401},
		{"past a proxy that tells its name only", with("Via", "1.1 proxy"), 401},
		{"past nginx", with("X-Real-IP", "127.0.0.1"), 401},
		{"past a proxy of Cloudflare", with("CF-Connecting-IP", "192.0.2.7"), 401},
		{"past a proxy of Akamai", with("True-Client-IP", "192.0.2.7"), 401},
		{"past a proxy of Fastly", with("Fastly-Client-IP", "192.0.2.7"), 401},
		{"past a proxy of Azure", with("X-Azure-ClientIP", "192.0.2.7"), 401},
		{"past a proxy that tells a cluster's address", with("X-Cluster-Client-IP", "192.0.2.7"), 401},
		{"past Envoy", with("X-Envoy-External-Address", "192.0.2.7"), 401},
		{"past a proxy that nobody knows", with("X-Somebody", "192.0.2.7"), 401},
		{"from Prometheus", func(r *http.Request) {
			for name, value := range map[string]string{"Accept": "application/openmetrics-text", "Accept-Encoding": "gzip", "User-Agent": "Prometheus/3.5", "X-Prometheus-Scrape-Timeout-Seconds": "10"} {
				r.Header.Set(name, value)
			}
		}, 200},
		{"from a browser", func(r *http.Request) {
			for name, value := range map[string]string{"Accept-Language": "en", "Sec-Fetch-Mode": "navigate", "Sec-Ch-Ua": "x", "Upgrade-Insecure-Requests": "1", "Cookie": "a=b"} {
				r.Header.Set(name, value)
			}
		}, 200},
		{"admin from elsewhere", func(r *http.Request) { far(r); r.Header.Set("Authorization", "Bearer admin") }, 200},
		{"admin past a proxy", func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer admin")
			r.Header.Set("X-Forwarded-For", "192.0.2.7")
		}, 200},
		{"reviewer", with("Authorization", "Bearer reviewer"), 403},
		{"agent", with("Authorization", "Bearer agent"), 403},
		{"unknown token", with("Authorization", "Bearer nobody"), 401},
		{"another scheme", with("Authorization", "Basic YTpi"), 401},
		{"a cookie from elsewhere", func(r *http.Request) { far(r); r.Header.Set("Cookie", "countersign=admin") }, 401},
	} {
		if got := ask(e, "GET", "/metrics", tt.change); got.Code != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, got.Code, tt.status)
		}
	}
}

func BenchmarkCountingARequest(b *testing.B) {
	k, _ := kit()
	k.Log, k.Metrics = slog.New(slog.DiscardHandler), handlers.NewMetrics("test")
	e := k.Router(k.FailJSON)
	e.GET("/things/:id", func(echo.Context) error { return nil })
	r := httptest.NewRequestWithContext(b.Context(), "GET", "/things/1", http.NoBody)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	for b.Loop() {
		e.ServeHTTP(w, r)
	}
}
