package cmd

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"time"

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
		Out: outward.New(outward.Options{Now: time.Now, Hosts: func(ctx context.Context) (outward.List, error) {
			hosts, err := s.People.HostsForSending(ctx)
			return hostList(hosts), err
		}}),
		RequestURL: func(id models.ResponseID) string {
			return strings.TrimSuffix(public.String(), "/") + views.ApprovalURL(id)
		},
	})
}

func hostList(hosts []models.NotificationHost) outward.List {
	list := make(outward.List, 0, len(hosts))
	for _, h := range hosts {
		list = append(list, h.Host)
	}
	return list
}

// checkTarget refuses an address of a webhook that nothing would be sent to.
func checkTarget(ctx context.Context, field, address string, hosts []models.NotificationHost) error {
	return outward.New(outward.Options{Hosts: func(context.Context) (outward.List, error) { return hostList(hosts), nil }}).Check(ctx, field, address, nil)
}
