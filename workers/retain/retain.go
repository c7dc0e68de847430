// Package retain removes the contents of requests and runs that ended longer ago than the policy keeps them, a few rows
// at a time.
package retain

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/upkeep"
)

// Pause is left between two steps, so that those who ask and decide go first.
const Pause = 20 * time.Millisecond

// Worker applies the policy's retention_days, once they have begun.
type Worker struct {
	Store *store.Store
	Log   *slog.Logger
	Pause time.Duration

	applies bool // the rule has been applied
	residue bool // the log of the database may still hold removed contents
}

// Once removes all that is due now.
func (w *Worker) Once(ctx context.Context) error {
	now, err := w.Store.Retention(ctx)
	if err != nil {
		return err
	}
	if days := now.Days; days > 0 {
		if !w.applies {
			w.applies, w.residue = true, true // a process that died may have removed, and not emptied the log
		}
		n, err := upkeep.New(w.Store).Numbers(ctx)
		if err != nil {
			return err
		}
		if n.RowCheck.Failed() {
			return fmt.Errorf("retention_days is not applied, because that would remove evidence: %s", n.RowCheck.Problem)
		}
		if err := w.remove(ctx, w.Store.Now().AddDate(0, 0, -days)); err != nil {
			return fmt.Errorf("remove what the policy keeps no longer: %w", err)
		}
	}
	if !w.residue {
		return nil
	}
	done, err := upkeep.New(w.Store).TruncateLog(ctx)
	if err != nil {
		return err
	}
	if w.residue = !done; w.residue {
		w.Log.WarnContext(ctx,
			"the write-ahead log could not be emptied, since somebody reads from it: it may still hold what was removed, and is tried again")
	}
	return nil
}

func (w *Worker) remove(ctx context.Context, before time.Time) error {
	p, err := upkeep.New(w.Store).NewPurge(ctx, models.System(models.RetentionActor), models.PurgeQuery{Before: before})
	if err != nil {
		return err
	}
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		more, err := p.Step(ctx)
		w.residue = w.residue || p.Report.Rows() > 0
		if err != nil {
			return err
		}
		if !more {
			break
		}
		pause.Reset(w.Pause)
	}
	if p.Report.Rows() > 0 {
		w.Log.InfoContext(ctx, "contents were removed by the policy's retention_days", slog.Time("before", before),
			slog.Any("rows", p.Report.Removed))
	}
	if p.Report.Kept > 0 {
		w.Log.ErrorContext(ctx,
			"requests that differ from their digest keep their contents: run `countersign audit verify --rows`",
			slog.Int64("requests", p.Report.Kept))
	}
	return nil
}
