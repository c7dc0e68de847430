package connect

import (
	"context"

	"countersign/cmd/remote"
)

// WithdrawSample cancels what the sample of a session has left waiting, as `connect` does
// when its hook has ended.
func WithdrawSample(ctx context.Context, server, token, session string) error {
	return (&sample{session: session}).withdrawn(ctx, remote.Credentials{Server: server, Token: token})
}
