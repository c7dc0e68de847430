package nodes

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

const addWait = `INSERT INTO presences (response_id, node_id, waits, ways, until, left_at) VALUES (?, ?, ?, ?, ?, ?)`

// Tell writes down how agents wait here for requests; over are those for which no agent does. Pages of these requests at
// other servers look again.
func (n *Nodes) Tell(ctx context.Context, waits []models.Wait, over []models.ResponseID) error {
	id, err := n.db.Holder()
	if err != nil {
		return err
	}
	return n.db.WriteAnyway(ctx, func(t *db.Tx) error {
		for i := range waits {
			w := &waits[i]
			err := t.Gorm().Exec(addWait+db.OrReplace(`response_id, node_id`, `waits`, `ways`, `until`, `left_at`),
				w.ResponseID, id, w.Waits, w.Ways, w.Until, w.LeftAt).Error
			if err != nil {
				return fmt.Errorf("tell that an agent waits: %w", err)
			}
			t.Publish(events.Presence(string(w.ResponseID)))
		}
		for _, r := range over {
			if err := t.Gorm().Where("response_id = ? AND node_id = ?", r, id).Delete(&models.Wait{}).Error; err != nil {
				return fmt.Errorf("tell that no agent waits: %w", err)
			}
			t.Publish(events.Presence(string(r)))
		}
		return nil
	})
}

// elsewhere are the waits p at other servers n that are seen: its arguments are our own name, and since when.
const elsewhere = ` FROM presences p JOIN nodes n ON n.id = p.node_id WHERE p.node_id <> ? AND n.seen_at > ?`

// Elsewhere is how agents wait for requests at other servers.
func (n *Nodes) Elsewhere(ctx context.Context, ids ...models.ResponseID) (out []models.Wait, err error) {
	if !n.db.Shared() || len(ids) == 0 {
		return nil, nil
	}
	own, err := n.db.Holder()
	if err != nil {
		return nil, err
	}
	err = n.db.Gorm(ctx).Raw(`SELECT p.*`+elsewhere+` AND p.response_id IN ?`, own, n.db.Now().Add(-models.NodeSilent), ids).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("read who waits elsewhere: %w", err)
	}
	return out, nil
}

// CountElsewhere is how many waits go on at other servers for requests r of which a condition holds.
func (n *Nodes) CountElsewhere(ctx context.Context, holds db.Part) (count int, err error) {
	if !n.db.Shared() {
		return 0, nil
	}
	own, err := n.db.Holder()
	if err != nil {
		return 0, err
	}
	args := append([]any{own, n.db.Now().Add(-models.NodeSilent)}, holds.Args...)
	err = n.db.Reads().QueryRowContext(ctx, `SELECT coalesce(sum(p.waits), 0)`+elsewhere+
		` AND EXISTS (SELECT 1 FROM responses r WHERE r.id = p.response_id AND `+holds.Text+`)`, args...).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("count who waits elsewhere: %w", err)
	}
	return count, nil
}
