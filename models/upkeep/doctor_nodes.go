package upkeep

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/nodes"
)

// Nodes are the servers on the database.
func (i *Inspection) Nodes(ctx context.Context, now time.Time) ([]models.Node, error) {
	return nodes.Read(ctx, i.db, now)
}
