package upkeep

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
)

// LockedChannel is a channel of notifications whose target can't be opened: nothing is sent
// there.
type LockedChannel struct{ Label, Owner, Why string }

// LockedChannels are those in use whose targets the key file beside the database does not
// open, and how many are in use. The schema must be this program's.
func (i *Inspection) LockedChannels(ctx context.Context) (channels []LockedChannel, all int, err error) {
	rows, err := i.db.QueryContext(ctx,
		`SELECT c.id, c.label, coalesce(u.email, g.name, ''), c.target_sealed FROM channels c LEFT JOIN users u ON u.id = c.user_id LEFT JOIN groups g ON g.id = c.group_id
 WHERE c.removed_at IS NULL ORDER BY 3, c.id`)
	if err != nil {
		return nil, 0, fmt.Errorf("read channels: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c LockedChannel
		var secret models.ChannelSecret
		if err := rows.Scan(&secret.ID, &c.Label, &c.Owner, &secret.TargetSealed); err != nil {
			return nil, 0, fmt.Errorf("read channels: %w", err)
		}
		all++
		if _, err := store.SealerIn(i.keys).Unseal(secret.TargetSealed, people.AboutTarget(secret.ID)); err != nil {
			c.Why = err.Error()
			channels = append(channels, c)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf("read channels: %w", err)
	}
	return channels, all, nil
}

// InspectedUpstream is what can be told of an upstream without asking it.
type InspectedUpstream struct {
	Name     string
	BaseURL  string
	Disabled bool
	Paused   bool   // it refuses the key
	Lock     string // why its key cannot be opened; empty: it can
	Failures int    // of polls, in a row
	Problem  string // of the last one
}

// Upstreams are all, by name. The schema must be this program's.
func (i *Inspection) Upstreams(ctx context.Context) ([]InspectedUpstream, error) {
	rows, err := i.db.QueryContext(ctx,
		`SELECT id, name, base_url, key_sealed, disabled_at IS NOT NULL, paused_at IS NOT NULL, failures, problem FROM upstreams ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer rows.Close()
	var out []InspectedUpstream
	for rows.Next() {
		var (
			u          InspectedUpstream
			id         models.UpstreamID
			ciphertext []byte
		)
		if err := rows.Scan(&id, &u.Name, &u.BaseURL, &ciphertext, &u.Disabled, &u.Paused, &u.Failures,
			&u.Problem); err != nil {
			return nil, fmt.Errorf("read upstreams: %w", err)
		}
		if _, err := store.SealerIn(i.keys).Unseal(ciphertext, string(id)); err != nil {
			u.Lock = err.Error()
		}
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	return out, nil
}
