package upkeep

import (
	"context"

	"countersign/models/insights"
)

// Insights compares the sums of the last days with the rows. It needs the schema that this program brings.
func (i *Inspection) Insights(ctx context.Context) (insights.Check, error) {
	return insights.Look(ctx, i.db)
}
