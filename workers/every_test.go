package workers_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"countersign/workers"
)

func TestEveryRunsAtOnceAndGoesOnAfterFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failures countingHandler
		ctx, cancel := context.WithCancel(t.Context())
		var at []time.Duration
		start := time.Now()
		workers.Every(ctx, slog.New(&failures), time.Minute, func(context.Context) error {
			at = append(at, time.Since(start))
			if len(at) == 4 {
				cancel()
			}
			return errors.New("each round fails")
		})
		if len(at) != 4 || at[0] != 0 {
			t.Fatalf("rounds at %v, want four, the first at once", at)
		}
		for i := 1; i < len(at); i++ {
			if pause := at[i] - at[i-1]; pause < 54*time.Second || pause > time.Minute {
				t.Errorf("pause %d was %v, want 54 s to 60 s", i, pause)
			}
		}
		if failures.n != 3 {
			t.Errorf("%d failures logged, want 3: the one after the end is none", failures.n)
		}
	})
}

func TestGroupStopsAndJoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := workers.NewGroup(t.Context())
		done := 0
		ended := make(chan struct{}, 2)
		for range 2 {
			g.Go("test", func(ctx context.Context) {
				<-ctx.Done()
				ended <- struct{}{}
			})
		}
		g.Stop()
		for range 2 {
			select {
			case <-ended:
				done++
			default:
			}
		}
		if done != 2 {
			t.Errorf("Stop returned after %d of 2 workers", done)
		}
	})
}

// countingHandler counts the lines that are logged.
type countingHandler struct{ n int }

func (*countingHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h *countingHandler) Handle(context.Context, slog.Record) error {
	h.n++
	return nil
}
func (h *countingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *countingHandler) WithGroup(string) slog.Handler      { return h }
