package config

import (
	"context"

	"countersign/workers/upstream"
)

// UpstreamCheck returns a function that reports mistakes in a new upstream before it is stored. It looks up the
// upstream's host and does not speak to it.
func UpstreamCheck(allow upstream.Hosts) func(ctx context.Context, baseURL, dialect, key string) error {
	reach := upstream.Reach{Allow: allow}
	return func(ctx context.Context, baseURL, dialect, key string) error {
		if err := CheckUpstream(baseURL, dialect, key, reach); err != nil {
			return err
		}
		return upstream.CheckHost(ctx, "baseUrl", baseURL, reach)
	}
}

// CheckUpstream is the part of it that needs no network.
func CheckUpstream(baseURL, dialect, key string, reach upstream.Reach) error {
	c, err := upstream.New(upstream.Options{BaseURL: baseURL, Dialect: upstream.Dialect(dialect), Key: key, Reach: reach})
	if err != nil {
		return err
	}
	c.Close()
	return nil
}
