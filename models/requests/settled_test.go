package requests_test

import (
	"context"
	"errors"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// TestAnExportEndsWhenItsReaderDoes: an error of the reader is what comes back, and
// a context that has ended stops it.
func TestAnExportEndsWhenItsReaderDoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 300})
	full := errors.New("the disk is full")
	n := 0
	err := b.Requests.EachSettled(t.Context(), b.Owner, requests.SettledQuery{}, atOnce, func(*models.Approval) error {
		if n++; n == 70 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || n != 70 {
		t.Errorf("%d rows, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n = 0
	err = b.Requests.EachSettled(ctx, b.Owner, requests.SettledQuery{}, atOnce, func(*models.Approval) error {
		if n++; n == 70 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 70 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// TestAnExportHoldsNothingWhileItsReaderTakesItsTime: what is settled meanwhile can
// be, and does not disturb it.
func TestAnExportHoldsNothingWhileItsReaderTakesItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	storetest.Seed(t, b.Store, b.Agent, storetest.Rows{Settled: 300})
	seen := map[models.ResponseID]bool{}
	err := b.Requests.EachSettled(t.Context(), b.Owner, requests.SettledQuery{}, atOnce, func(a *models.Approval) error {
		if seen[a.ID] {
			t.Errorf("%s comes twice", a.ID)
		}
		if seen[a.ID] = true; len(seen)%50 == 7 {
			b.Settle(t, `{}`, storetest.Yes())
			if dbtest.OnPostgres() {
				return nil // it has no log that a reader holds
			}
			// The whole log goes into the database only while nobody reads.
			var busy, log, moved int
			db := storetest.Tamper(t, b.Store)
			storetest.Must(t, db.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &moved))
			if busy != 0 {
				t.Error("a read transaction is open")
			}
		}
		return nil
	})
	if storetest.Must(t, err); len(seen) != 300 {
		t.Errorf("%d rows", len(seen))
	}
}

// atOnce is for exports that need not know when they begin.
func atOnce() error { return nil }
