package upkeep

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/store"
)

// InspectedUpstream is what can be told of an upstream without asking it.
type InspectedUpstream struct {
	Name     string
	BaseURL  string
	Disabled bool
	Paused   bool   // it refuses the key
	Locked   string // why its key cannot be opened; empty: it can
	Failures int    // of polls, in a row
	Problem  string // of the last one
}

// Upstreams are all, by name. The schema must be this program's.
func (i *Inspection) Upstreams(ctx context.Context) ([]InspectedUpstream, error) {
	rows, err := i.db.QueryContext(ctx, `SELECT id, name, base_url, key_sealed, disabled_at IS NOT NULL, paused_at IS NOT NULL, failures, problem FROM upstreams ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer rows.Close()
	var out []InspectedUpstream
	for rows.Next() {
		var (
			u      InspectedUpstream
			id     models.UpstreamID
			sealed []byte
		)
		if err := rows.Scan(&id, &u.Name, &u.BaseURL, &sealed, &u.Disabled, &u.Paused, &u.Failures, &u.Problem); err != nil {
			return nil, fmt.Errorf("read upstreams: %w", err)
		}
		if _, err := store.KeyFileBeside(i.path).Unseal(sealed, string(id)); err != nil {
			u.Locked = err.Error()
		}
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	return out, nil
}
