package store

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
)

// AwaitHistory returns the entries after a sequence number as soon as there are any, or none after wait. A credential
// that is revoked meanwhile ends it with CodeUnauthenticated, a stopping server with the current entries. After 0 is
// everything.
func (s *Store) AwaitHistory(
	ctx context.Context, actor models.Actor, id models.ConversationID, after int64, limit int, wait time.Duration,
) (*models.History, error) {
	if after <= 0 {
		after = requests.FromStart
	}
	sub := s.db.Bus().Subscribe(1, events.Conversation(string(id)), events.Access, events.Outside)
	defer sub.Close()
	end := time.NewTimer(wait)
	defer end.Stop()
	reread := time.NewTicker(rereadEvery)
	defer reread.Stop()
	for {
		h, err := s.Requests.History(ctx, actor, id, requests.HistoryQuery{After: after, Limit: limit})
		if err != nil || len(h.Entries) > 0 || wait <= 0 {
			return h, err
		}
		select {
		case <-sub.C:
		case <-sub.Lag:
		case <-reread.C:
		case <-end.C:
			return h, nil
		case <-s.ending:
			return h, nil
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		}
		if err := s.People.CheckCredential(ctx, actor); err != nil {
			return nil, err
		}
	}
}
