package handlers

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"countersign/models"
)

// Surfaces that have streams, as metrics call them.
const (
	StreamsOfPages = "pages"
	StreamsOfAPI   = "api"
)

// Metrics is what the server tells Prometheus. No value of a label comes from
// outside: routes are told as registered, methods and statuses are those of
// HTTP. A nil Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	requests cache[requestKey, prometheus.Counter]
	outcomes cache[settledKey, prometheus.Counter]
	took     cache[routeKey, prometheus.Observer]
	decided  prometheus.Histogram
	told     prometheus.Histogram
	callers  prometheus.Histogram
	commits  prometheus.Histogram
	streams  *prometheus.GaugeVec
	signIns  *prometheus.CounterVec
	webhooks *prometheus.CounterVec // attempts, by class
	notices  *prometheus.CounterVec // attempts, by kind of channel and class
}

// NewMetrics makes the metrics of one server.
func NewMetrics(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_http_requests_total", Help: "Requests answered, by route and status.",
	}, []string{"method", "route", "status"})
	m.requests.make = func(k requestKey) prometheus.Counter {
		return requests.WithLabelValues(k.method, k.route, strconv.Itoa(k.status))
	}
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_approvals_settled_total",
		Help: "Requests settled since the start, by status and cause; approved includes what was let through.",
	}, []string{"status", "cause"})
	m.outcomes.make = func(k settledKey) prometheus.Counter {
		return outcomes.WithLabelValues(string(k.status), string(k.cause))
	}
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "countersign_http_request_seconds",
		Help:    "Duration of requests by route. Where callers wait for a person, that is in it.",
		Buckets: []float64{0.005, 0.02, 0.05, 0.1, 0.25, 1, 5, 60},
	}, []string{"method", "route"})
	m.took.make = func(k routeKey) prometheus.Observer { return took.WithLabelValues(k.method, k.route) }
	m.told = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "countersign_decision_told_seconds",
		Help:    "Time from a person's decision until a caller that waits has it, its commit included.",
		Buckets: []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5},
	})
	m.decided = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "countersign_approval_decision_seconds", Help: "Time from an ask to the decision of a person.",
		Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600},
	})
	m.callers = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "countersign_commit_callers", Help: "Callers that shared one commit.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 9),
	})
	m.commits = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "countersign_commit_seconds", Help: "Duration of a commit, fsync included.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 13),
	})
	m.streams = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "countersign_stream_clients", Help: "Open event streams, by surface.",
	}, []string{"surface"})
	m.streams.WithLabelValues(StreamsOfPages)
	m.streams.WithLabelValues(StreamsOfAPI)
	m.signIns = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_signin_failures_total", Help: "Sign-ins that failed, by reason.",
	}, []string{"reason"})
	m.webhooks = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_webhook_attempts_total", Help: "Attempts to send an event to a webhook, by how they ended.",
	}, []string{"class"})
	m.notices = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "countersign_notification_attempts_total",
		Help: "Attempts to send a notification, by kind of channel and by how they ended.",
	}, []string{"channel", "class"})
	for _, class := range models.SendClasses() {
		m.webhooks.WithLabelValues(string(class))
		for _, kind := range models.ChannelKinds() {
			m.notices.WithLabelValues(string(kind), string(class))
		}
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "countersign_build_info", Help: "Always 1; the version is in the label.",
	}, []string{"version"})
	build.WithLabelValues(version).Set(1)
	m.registry.MustRegister(requests, outcomes, took, m.decided, m.told, m.callers, m.commits, m.streams, m.signIns,
		m.webhooks, m.notices, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Follow adds the figures of the store, which are read when they are asked for.
// Call it once.
func (m *Metrics) Follow(read func(context.Context) (models.Numbers, error), now func() time.Time) {
	m.registry.MustRegister(&numbers{read: read, now: now})
}

// Committed counts one commit; it is made for store.Options.Observe.
func (m *Metrics) Committed(callers int, took time.Duration) {
	m.callers.Observe(float64(callers))
	m.commits.Observe(took.Seconds())
}

// SignInFailed counts a failed sign-in; it is made for
// store.Options.ObserveSignInFailure.
func (m *Metrics) SignInFailed(reason string) { m.signIns.WithLabelValues(reason).Inc() }

// WebhookTried counts an attempt to send an event.
func (m *Metrics) WebhookTried(class models.SendClass) {
	m.webhooks.WithLabelValues(string(class)).Inc()
}

// NotificationTried counts an attempt to send a notification.
func (m *Metrics) NotificationTried(kind models.ChannelKind, class models.SendClass) {
	m.notices.WithLabelValues(string(kind), string(class)).Inc()
}

// ObserveOutcome counts how long after its decision a caller had an outcome; it is made for
// store.Options.ObserveTold.
func (m *Metrics) ObserveOutcome(after time.Duration) { m.told.Observe(max(0, after.Seconds())) }

// Settled counts one outcome; it is made for store.Options.ObserveOutcome.
func (m *Metrics) Settled(o models.Outcome) {
	status := o.Status
	if status == models.StatusNone {
		status = models.StatusApproved
	}
	m.outcomes.get(settledKey{status, o.Cause}).Inc()
	if o.Cause == models.CauseReviewer {
		m.decided.Observe(o.Wait.Seconds())
	}
}

// Stream counts an open stream until left is called.
func (m *Metrics) Stream(surface string) (left func()) {
	if m == nil {
		return func() {}
	}
	gauge := m.streams.WithLabelValues(surface)
	gauge.Inc()
	return gauge.Dec
}

// answered counts one request.
func (m *Metrics) answered(method, route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	if route == "" {
		route = "none"
	}
	method = knownMethod(method)
	m.requests.get(requestKey{method, route, status}).Inc()
	m.took.get(routeKey{method, route}).Observe(took.Seconds())
}

// knownMethod keeps methods of a caller's own making out of labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

type requestKey struct {
	method, route string
	status        int
}

type routeKey struct{ method, route string }

type settledKey struct {
	status models.Status
	cause  models.Cause
}

// cache keeps the metrics of label values: after the first use, counting costs one look-up and
// allocates nothing.
type cache[K comparable, M any] struct {
	make func(K) M

	mu    sync.RWMutex
	known map[K]M
}

func (r *cache[K, M]) get(k K) M {
	r.mu.RLock()
	m, ok := r.known[k]
	r.mu.RUnlock()
	if ok {
		return m
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[K]M)
	}
	if m, ok = r.known[k]; !ok {
		m = r.make(k)
		r.known[k] = m
	}
	return m
}
