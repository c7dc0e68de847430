package upkeep

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/store"
)

// InspectedWebhook is what can be told of an endpoint without sending anything.
type InspectedWebhook struct {
	Name, Label string
	Lock        string // why its target cannot be opened; empty: it can
	Why         models.WebhookPause
	OldestAt    time.Time // of what it has not come by, or what blocks it; zero: nothing
}

// inspectWebhooks reads with each the time when the oldest was recorded of what an endpoint has not come by, or of
// what blocks a stream of it.
const inspectWebhooks = `SELECT id, name, label, target_sealed, paused_why,
 coalesce((SELECT at FROM ledger WHERE seq = (SELECT min(next_seq) FROM webhook_blocks WHERE webhook_id = webhooks.id AND type <> '')),
 (SELECT at FROM ledger WHERE seq = cursor + 1), '') FROM webhooks WHERE removed_at IS NULL ORDER BY name`

// Webhooks are all endpoints, by name. The schema must be this program's.
func (i *Inspection) Webhooks(ctx context.Context) ([]InspectedWebhook, error) {
	rows, err := i.db.QueryContext(ctx, inspectWebhooks)
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	defer rows.Close()
	var out []InspectedWebhook
	for rows.Next() {
		var h InspectedWebhook
		var id, at string
		var ciphertext []byte
		if err := rows.Scan(&id, &h.Name, &h.Label, &ciphertext, &h.Why, &at); err != nil {
			return nil, fmt.Errorf("read webhooks: %w", err)
		}
		if _, err := store.SealerIn(i.keys).Unseal(ciphertext, "webhook "+id); err != nil {
			h.Lock = err.Error()
		}
		if at != "" {
			if h.OldestAt, err = time.Parse(db.TimeFormat, at); err != nil {
				return nil, fmt.Errorf("read time of an entry: %w", err)
			}
		}
		out = append(out, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return out, nil
}
