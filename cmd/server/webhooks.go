package server

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"countersign/cmd/data"
	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
	"countersign/views"
	"countersign/workers/outward"
	"countersign/workers/webhooks"
)

// newWebhooks makes the worker that sends the ledger's events to endpoints, by the same list of
// hosts as notifications.
func newWebhooks(public *url.URL, s *store.Store, log *slog.Logger, metrics *handlers.Metrics) *webhooks.Worker {
	return webhooks.New(webhooks.Options{
		Store: s, Log: log, Holder: holderOf(s, log), Observe: metrics.WebhookTried,
		Out: outward.New(outward.Options{Now: time.Now, Hosts: hostsOf(s)}),
		RequestURL: func(id models.ResponseID) string {
			return strings.TrimSuffix(public.String(), "/") + views.ApprovalURL(id)
		},
	})
}

// hostsOf reads the hosts that may be sent to as they are now.
func hostsOf(s *store.Store) func(context.Context) (outward.List, error) {
	return func(ctx context.Context) (outward.List, error) {
		hosts, err := s.People.HostsForSending(ctx)
		return data.HostList(hosts), err
	}
}
