package store

import (
	"context"

	"countersign/models"
)

// ActorNow is who stands behind a session with the rights of now: roles change
// while a stream is open. It is no use of the session, which may go idle
// meanwhile. An actor without a session stays who it is. CodeUnauthenticated when
// the session has ended.
func (s *Store) ActorNow(ctx context.Context, actor models.Actor) (models.Actor, error) {
	if actor.SessionID == "" {
		return actor, nil
	}
	return s.People.SessionActor(ctx, actor.SessionID)
}
