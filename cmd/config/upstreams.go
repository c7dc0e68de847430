package config

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"countersign/models"
	"countersign/workers/upstream"
)

// Upstreams says how other systems are polled and told. Zero is the default.
type Upstreams struct {
	PollEvery time.Duration
	Timeout   time.Duration  // of one request to one of them
	Takeover  time.Duration  // after which another server on the database takes over
	Allow     upstream.Hosts // local ones that upstreams may be added at
}

// The default pace, in the words of the settings. A server looks four times in
// the time of a takeover, so that all in all it takes less than half a minute.
const (
	pollEvery       = "5s"
	upstreamTimeout = "30s"
	takeoverAfter   = "20s"
)

// UpstreamAllow is for the server, for adding upstreams and for judging them.
var UpstreamAllow = Setting{
	"upstream-allow", "", "HOST,...",
	"hosts of upstreams, as in their addresses, that may be link-local, unique-local or a cloud's metadata service (default: none)", setUpstreamAllow,
}

func setUpstreamAllow(c *Config, v string) (err error) {
	c.Upstreams.Allow, err = upstream.ParseHosts(v)
	return err
}

// upstreamSettings are the pace of polling and telling other systems.
var upstreamSettings = []Setting{
	{
		"poll-every", pollEvery, "DURATION",
		"pause between two polls of an upstream; what fails is tried again after a fifth of it, then less and less often",
		span(10*time.Millisecond, 5*time.Minute, func(c *Config) *time.Duration { return &c.Upstreams.PollEvery }),
	},
	{
		"upstream-timeout", upstreamTimeout, "DURATION", "longest time for one request to an upstream",
		span(10*time.Millisecond, models.MaxUpstreamTimeout, func(c *Config) *time.Duration { return &c.Upstreams.Timeout }),
	},
	{
		"takeover-after", takeoverAfter, "DURATION",
		"silence of the server that polls upstreams after which another one on the same database does",
		span(100*time.Millisecond, 24*time.Second, func(c *Config) *time.Duration { return &c.Upstreams.Takeover }),
	},
	UpstreamAllow,
}

func span(least, most time.Duration, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < least || d > most {
			return errors.New("must be a time such as 500ms or 5s, from " + least.String() + " to " + most.String())
		}
		*field(c) = d
		return nil
	}
}

// LogValue is how it is logged.
func (u Upstreams) LogValue() slog.Value {
	return slog.GroupValue(slog.Duration("poll_every", u.PollEvery), slog.Duration("timeout", u.Timeout),
		slog.Duration("takeover", u.Takeover), slog.Any("allow", slices.Sorted(maps.Keys(u.Allow))))
}
