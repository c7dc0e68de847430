package notices

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/store"
)

const (
	backlogUnsent    = `SELECT count(*) FROM notice_sends`
	backlogOldest    = `SELECT at FROM notice_sends ORDER BY at LIMIT 1`
	backlogScheduled = `SELECT count(*) FROM notices`
	failingChannels  = `SELECT c.*, coalesce(u.name, g.name, '') AS owner FROM channels c LEFT JOIN users u ON u.id = c.user_id LEFT JOIN groups g ON g.id = c.group_id
 WHERE c.removed_at IS NULL AND (c.failing_since IS NOT NULL OR c.disabled_at IS NOT NULL) ORDER BY c.failing_since, c.id`
)

// Backlog counts the messages that wait, and names the channels that fail. For admins and the operator, else
// CodeForbidden.
func (n *Notices) Backlog(ctx context.Context, actor models.Actor) (out models.NotificationBacklog, err error) {
	if err := actor.NeedOversight(); err != nil {
		return out, err
	}
	err = n.db.Snapshot(ctx, func(ctx context.Context) error {
		q := n.db.Gorm(ctx)
		if err := q.Raw(backlogScheduled).Scan(&out.Schedule).Error; err != nil {
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
		return q.Raw(failingChannels).Scan(&out.Failures).Error
	})
	if err != nil {
		return out, fmt.Errorf("read the backlog of notifications: %w", err)
	}
	return out, nil
}

// AdmitTest counts one test that a person sends, of a channel or a webhook: CodeTooManyRequests if there was one a
// moment ago, at any server.
func (n *Notices) AdmitTest(ctx context.Context, actor models.Actor) error {
	return n.write(ctx, func(t *tx) error { return store.AdmitTest(t.Tx, actor) })
}

// HasChannels reports whether anybody has a channel.
func (n *Notices) HasChannels(ctx context.Context) (bool, error) {
	return db.Exists(n.db.Reads().QueryRowContext(ctx,
		`SELECT 1 FROM channels`+db.ByChannelsInUse+` WHERE removed_at IS NULL LIMIT 1`))
}

// ForHeadline is a request as messages about it may tell of it by its headline; nil where its rule
// does not allow that.
func (n *Notices) ForHeadline(ctx context.Context, id models.ResponseID) (*models.Response, error) {
	var out []models.Response
	err := n.db.Gorm(ctx).Where("id = (SELECT response_id FROM told_headlines WHERE response_id = ?)",
		id).Limit(1).Find(&out).Error
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &out[0], nil
}
