package people

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// SessionPage is one page of a person's open sessions, the latest sign-in first.
type SessionPage struct {
	Items []models.Device
	Next  models.SessionID // to go on before; empty: that was all
}

var deviceRow = db.RowOf(&models.Device{})

// deviceQuery goes backwards through the index of a person's open sessions: it
// ends with the id, which sorts by the time of the sign-in.
var deviceQuery = `SELECT ` + deviceRow.Columns("", nil) + `
 FROM web_sessions` + db.ByWebSessionsUser + `
 WHERE user_id = ? AND revoked_at IS NULL AND id < ? AND expires_at > ? AND last_seen_at > ? ORDER BY id DESC LIMIT ?`

// Sessions lists the person's own open sessions before a key (empty: from the
// latest). People only, else CodeForbidden.
func (p *People) Sessions(
	ctx context.Context, actor models.Actor, before models.SessionID, limit int,
) (SessionPage, error) {
	if !actor.IsPerson() {
		return SessionPage{}, onlyPeople()
	}
	if before == "" {
		before = db.MaxID
	}
	limit = db.PageSize(limit)
	now := p.db.Now()
	rows, err := p.db.Reads().QueryContext(ctx, deviceQuery, actor.ID, before, now, now.Add(-sessionIdle), limit+1)
	if err != nil {
		return SessionPage{}, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var out SessionPage
	reader := db.ReaderOf[models.Device](deviceRow)
	for rows.Next() {
		d, err := reader.Read(rows)
		if err != nil {
			return SessionPage{}, fmt.Errorf("list sessions: %w", err)
		}
		out.Items = append(out.Items, d)
	}
	if err := rows.Err(); err != nil {
		return SessionPage{}, fmt.Errorf("list sessions: %w", err)
	}
	if len(out.Items) > limit {
		out.Items = out.Items[:limit]
		out.Next = out.Items[limit-1].ID
	}
	return out, nil
}

func onlyPeople() error {
	return models.Errorf(models.CodeForbidden, "Only people have sessions.")
}

// EndSession ends one of the person's own sessions. People only, else
// CodeForbidden; CodeNotFound if the person has no such open session.
func (p *People) EndSession(ctx context.Context, actor models.Actor, id models.SessionID) error {
	if !actor.IsPerson() {
		return onlyPeople()
	}
	return p.writeAnyway(ctx, func(t *tx) error {
		var open int64
		err := t.Gorm().Model(&models.WebSession{}).
			Where("id = ? AND user_id = ? AND revoked_at IS NULL AND expires_at > ?", id, actor.ID, t.Now).Count(&open).Error
		if err != nil {
			return fmt.Errorf("look for session: %w", err)
		}
		if open == 0 {
			return models.NotFound("session")
		}
		return t.closeSession(actor, actor.UserID(), id)
	})
}

// EndOtherSessions ends all of the person's sessions but the one that asks, and
// tells how many. CodeForbidden for an actor without a session.
func (p *People) EndOtherSessions(ctx context.Context, actor models.Actor) (count int, err error) {
	if !actor.IsPerson() || actor.SessionID == "" {
		return 0, models.Errorf(models.CodeForbidden, "Sign in to end your other sessions.")
	}
	err = p.writeAnyway(ctx, func(t *tx) error {
		count, err = t.endSessions(actor, actor.UserID(), actor.SessionID)
		return err
	})
	return count, err
}

// endSessions closes all open sessions of a user but keep and counts them.
func (t *tx) endSessions(actor models.Actor, owner models.UserID, keep models.SessionID) (int, error) {
	var open int64
	err := t.Gorm().Model(&models.WebSession{}).
		Where("user_id = ? AND revoked_at IS NULL AND id <> ? AND expires_at > ? AND last_seen_at > ?", owner, keep, t.Now,
			t.Now.Add(-sessionIdle)).
		Count(&open).Error
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return int(open), t.closeSessions(actor, owner, keep)
}
