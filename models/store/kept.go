package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

// KeepHead keeps the ledger's head beside the database. The server calls it each second.
func (s *Store) KeepHead(ctx context.Context) error { return s.Ledger.Keep(ctx) }

type lossEntry struct {
	Kept    string `json:"kept_head"`
	Found   string `json:"found_head"`
	Missing int64  `json:"missing"`
}

// checkKept refuses a database that has lost acknowledged entries, until the operator accepts that.
func (s *Store) checkKept(ctx context.Context) error {
	err := s.Ledger.CheckKept(ctx)
	lost, ok := errors.AsType[*models.LostError](err)
	switch {
	case !ok:
		return err
	case s.opts.AcceptLoss != lost.Kept.Seq:
		advice := fmt.Sprintf("Put %s-wal back if there is one, or restore a backup", s.db.Path())
		if s.db.Shared() {
			advice = "Check --database-url and --data: the folder may belong to another database; else restore a backup"
		}
		return fmt.Errorf("%w. %s. To go on without what is missing: countersign serve --accept-loss %d, which the ledger records",
			lost, advice, lost.Kept.Seq)
	}
	if err := s.writeAnyway(ctx, func(t *Tx) error {
		return t.Record(s.opts.AcceptedBy, "ledger.loss_accepted", ledger.Subject{},
			lossEntry{Kept: lost.Kept.String(), Found: lost.Has.String(), Missing: lost.Missing()})
	}); err != nil {
		return err
	}
	return s.Ledger.Keep(ctx)
}

// headEvery is how often the head is sent at most.
const headEvery = 24 * time.Hour

type headEntry struct {
	Head string `json:"head"`
}

// ToldHead is the head that an entry of TellHead has, and when it was the head.
func (s *Store) ToldHead(ctx context.Context, seq int64) (models.Head, time.Time, error) {
	found, err := s.Ledger.EntriesAfter(ctx, seq-1, 1)
	if err != nil {
		return models.Head{}, time.Time{}, err
	}
	if len(found) == 0 {
		return models.Head{}, time.Time{}, fmt.Errorf("the ledger has no entry %d", seq)
	}
	var e headEntry
	if err := json.Unmarshal([]byte(found[0].Data), &e); err != nil {
		return models.Head{}, time.Time{}, fmt.Errorf("read entry %d: %w", seq, err)
	}
	head, err := models.ParseHead(e.Head)
	return head, ledger.TimeOf(found[0]), err
}

// mailsOfAdmins are the e-mail channels by which admins are told.
const mailsOfAdmins = `SELECT c.* FROM channels c` + db.ByChannelsInUse + ` JOIN users u ON u.id = c.user_id
 WHERE c.kind = 'email' AND ` + people.ChannelUsable + ` AND u.role = 'admin' AND u.disabled_at IS NULL ORDER BY c.id`

// TellHead makes the ledger's head an entry, once a day, if it is new and someone receives it: a webhook or, with
// mail, the admins who have e-mail. So there is a copy that a person who can write this database can't change. The
// e-mails are queued with the entry, or neither is. The server calls it now and then.
func (s *Store) TellHead(ctx context.Context, mail bool) error {
	const action = "ledger.head"
	wants, err := s.Webhooks.AnyWants(ctx, action)
	if err != nil || !wants && !mail {
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
	return s.write(ctx, func(t *Tx) error {
		if now, err := s.Ledger.LastOfAction(ctx, t, action); err != nil || now != last {
			return err // another process has told it meanwhile
		}
		var to []models.Channel
		if mail {
			if err := t.Gorm().Raw(mailsOfAdmins).Scan(&to).Error; err != nil {
				return fmt.Errorf("read e-mail channels: %w", err)
			}
		}
		if !wants && len(to) == 0 {
			return nil
		}
		head, err := s.Ledger.HeadIn(t.Tx)
		if err != nil {
			return err
		}
		if err := t.Record(models.System("server"), action, ledger.Subject{}, headEntry{head.String()}); err != nil {
			return err
		}
		told, err := s.Ledger.HeadIn(t.Tx)
		if err != nil {
			return err
		}
		for i := range to {
			if err := t.QueueNotice(&to[i], models.NoticeLedgerHead, "",
				models.ChannelID(strconv.FormatInt(told.Seq, 10))); err != nil {
				return err
			}
		}
		return nil
	})
}
