package workers

import (
	"context"
	"log/slog"
	"sync"

	"countersign/models"
)

// Group holds workers that stop together.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// NewGroup makes a group that ends with ctx, or by Stop.
func NewGroup(ctx context.Context) *Group {
	g := &Group{}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// Go starts a worker, which must return when its context ends. Each of its log lines has its name.
func (g *Group) Go(name string, work func(ctx context.Context)) {
	g.wg.Go(func() { work(models.Logged(g.ctx, slog.String("worker", name))) })
}

// Stop ends the context of all workers and waits until each has returned.
func (g *Group) Stop() {
	g.cancel()
	g.wg.Wait()
}
