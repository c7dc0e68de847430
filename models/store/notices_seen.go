package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const sawRequest = `INSERT INTO seen (response_id, user_id, first_at, active_at) VALUES (?, ?, ?, ?)`

// Saw notes that a person has a request before them and is active: they are not told of it
// within models.ActiveFor. People only, else CodeForbidden; CodeNotFound for what they may
// not see.
func (s *Store) Saw(ctx context.Context, actor models.Actor, id models.ResponseID) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person looks at a request.")
	}
	return s.write(ctx, func(t *tx) error {
		if _, err := t.approval(actor, id); err != nil {
			return err
		}
		if err := t.Gorm().Exec(sawRequest+db.OrReplace("active_at"), id, actor.UserID(), t.Now, t.Now).Error; err != nil {
			return fmt.Errorf("note who has seen it: %w", err)
		}
		return nil
	})
}

const (
	backlogUnsent    = `SELECT count(*) FROM notice_sends`
	backlogOldest    = `SELECT at FROM notice_sends ORDER BY at LIMIT 1`
	backlogScheduled = `SELECT count(*) FROM notices`
	failingChannels  = `SELECT c.*, coalesce(u.name, g.name, '') AS owner FROM channels c LEFT JOIN users u ON u.id = c.user_id LEFT JOIN groups g ON g.id = c.group_id
 WHERE c.removed_at IS NULL AND (c.failing_since IS NOT NULL OR c.disabled_at IS NOT NULL) ORDER BY c.failing_since, c.id`
)

// NotificationBacklog is what waits to be sent, and which channels fail. For admins and the
// operator, else CodeForbidden.
func (s *Store) NotificationBacklog(ctx context.Context, actor models.Actor) (out models.NotificationBacklog, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return out, err
	}
	err = s.db.Snapshot(ctx, func(ctx context.Context) error {
		q := s.db.Gorm(ctx)
		if err := q.Raw(backlogScheduled).Scan(&out.Scheduled).Error; err != nil {
			return err
		}
		if err := q.Raw(backlogUnsent).Scan(&out.Unsent).Error; err != nil {
			return err
		}
		var oldest []time.Time
		if err := q.Raw(backlogOldest).Scan(&oldest).Error; err != nil {
			return err
		}
		if len(oldest) > 0 {
			out.Oldest = oldest[0]
		}
		return q.Raw(failingChannels).Scan(&out.Failing).Error
	})
	if err != nil {
		return out, fmt.Errorf("read the backlog of notifications: %w", err)
	}
	return out, nil
}

// HasChannels reports whether anybody has a channel.
func (s *Store) HasChannels(ctx context.Context) (bool, error) {
	return db.Exists(s.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM channels`+db.ByChannelsInUse+` WHERE removed_at IS NULL LIMIT 1`))
}
