package server

import (
	"log/slog"

	"countersign/cmd/config"
	"countersign/models/store"
	"countersign/workers/deliver"
	"countersign/workers/poll"
)

// newPoller makes what fetches other systems' approvals.
func newPoller(u config.Upstreams, s *store.Store, log *slog.Logger) *poll.Poller {
	return poll.New(poll.Options{
		Store: s, Log: log, Holder: holderOf(s, log), Allow: u.Allow, Every: u.PollEvery, Timeout: u.Timeout,
		LeaseTTL: u.Takeover,
	})
}

// newDeliverer makes what tells them verdicts. It keeps pace with the polls.
func newDeliverer(u config.Upstreams, s *store.Store, log *slog.Logger) *deliver.Deliverer {
	return deliver.New(deliver.Options{
		Store: s, Log: log, Holder: holderOf(s, log), Allow: u.Allow, Timeout: u.Timeout, LeaseTTL: u.Takeover,
		FirstRetry: u.PollEvery / 5,
	})
}

// holderOf names this process as holder of leases, so that another one need not wait for their end
// after a kill; empty: its name is made up, and another one has to.
func holderOf(s *store.Store, log *slog.Logger) string {
	name, err := s.Nodes.Holder()
	if err != nil {
		log.Warn("other servers won't see at once that this one has ended", slog.String("error", err.Error()))
		return ""
	}
	return name
}
