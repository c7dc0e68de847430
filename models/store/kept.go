package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/ledger"
)

// KeepHead keeps the ledger's head beside the database. The server calls it each second.
func (s *Store) KeepHead(ctx context.Context) error { return s.Ledger.Keep(ctx) }

type lossEntry struct {
	Kept    string `json:"kept_head"`
	Found   string `json:"found_head"`
	Missing int64  `json:"missing"`
}

// checkKept refuses a database that has lost what was acknowledged, until somebody accepts that.
func (s *Store) checkKept(ctx context.Context) error {
	err := s.Ledger.CheckKept(ctx)
	lost, ok := errors.AsType[*models.LostError](err)
	switch {
	case !ok:
		return err
	case s.opts.AcceptLoss != lost.Kept.Seq:
		return fmt.Errorf("%w. Put %s-wal back if there is one, or restore a backup. To go on without what is missing: countersign serve --accept-loss %d, which the ledger records",
			lost, s.db.Path(), lost.Kept.Seq)
	}
	if err := s.writeAnyway(ctx, func(t *tx) error {
		return t.record(s.opts.AcceptedBy, "ledger.loss_accepted", ledger.Subject{}, lossEntry{Kept: lost.Kept.String(), Found: lost.Has.String(), Missing: lost.Missing()})
	}); err != nil {
		return err
	}
	return s.Ledger.Keep(ctx)
}

// headEvery is how often the head is told at most.
const headEvery = 24 * time.Hour

type headEntry struct {
	Head string `json:"head"`
}

// TellHead makes the ledger's head an entry, once a day, if a webhook gets such entries and there
// is something new: so it is kept where whoever writes this database can't change it. The server
// calls it now and then.
func (s *Store) TellHead(ctx context.Context) error {
	const action = "ledger.head"
	if wanted, err := s.Webhooks.AnyWants(ctx, action); err != nil || !wanted {
		return err
	}
	head, err := s.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	last, err := s.Ledger.LastOfAction(ctx, s.db.Reads(), action)
	if err != nil || last == head.Seq {
		return err
	}
	told, err := s.Ledger.EntriesAfter(ctx, last-1, 1)
	if err != nil || last > 0 && s.db.Now().Sub(ledger.TimeOf(told[0])) < headEvery {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if now, err := s.Ledger.LastOfAction(ctx, t, action); err != nil || now != last {
			return err // another process has told it meanwhile
		}
		head, err := s.Ledger.HeadIn(t.Tx)
		if err != nil {
			return err
		}
		return t.record(models.System("server"), action, ledger.Subject{}, headEntry{head.String()})
	})
}
