package cmd

import (
	"log/slog"

	"countersign/models/store"
	"countersign/workers/deliver"
	"countersign/workers/poll"
)

// newPoller makes what fetches other systems' approvals.
func newPoller(u Upstreams, s *store.Store, log *slog.Logger) *poll.Poller {
	return poll.New(poll.Options{Store: s, Log: log, Allow: u.Allow, Every: u.PollEvery, Timeout: u.Timeout, LeaseTTL: u.Takeover})
}

// newDeliverer makes what tells them verdicts. It keeps pace with the polls.
func newDeliverer(u Upstreams, s *store.Store, log *slog.Logger) *deliver.Deliverer {
	return deliver.New(deliver.Options{Store: s, Log: log, Allow: u.Allow, Timeout: u.Timeout, LeaseTTL: u.Takeover, FirstRetry: u.PollEvery / 5})
}
