package cmd

import (
	"context"
	"time"

	"countersign/workers"
	"countersign/workers/retain"
)

const retainEvery = time.Hour

// retain removes what the policy keeps no longer.
func (a *App) retain(ctx context.Context) {
	w := &retain.Worker{Store: a.store, Log: a.log, Pause: retain.Pause}
	workers.Every(ctx, a.log, "retention", retainEvery, w.Once)
}
