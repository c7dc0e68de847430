package upkeep

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/glass"
)

// GrantFaults are grants whose count of uses does not hold. At most ten are named.
type GrantFaults struct {
	Grants int // that were looked at
	// Uses are those that say to have let through another number of calls than there
	// are which name them.
	Uses []models.GrantID
}

const grantUses = `SELECT g.id FROM grants g WHERE g.uses <>
 (SELECT count(*) FROM responses r` + db.ByResponsesGrant + ` WHERE r.grant_id = g.id) ORDER BY g.id LIMIT 10`

// BrokenGlass counts the decisions that broke glass and wait to be acknowledged.
func (i *Inspection) BrokenGlass(ctx context.Context) (n int, err error) {
	if err := i.db.QueryRowContext(ctx, glass.CountUnacknowledged).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what broke glass: %w", err)
	}
	return n, nil
}

// Grants counts the calls that grants have let through. It needs the schema that
// this program brings.
func (i *Inspection) Grants(ctx context.Context) (GrantFaults, error) {
	var f GrantFaults
	if err := i.db.QueryRowContext(ctx, `SELECT count(*) FROM grants`).Scan(&f.Grants); err != nil {
		return f, fmt.Errorf("count pre-approvals: %w", err)
	}
	ids, err := db.Strings(ctx, i.db, grantUses)
	if err != nil {
		return f, fmt.Errorf("count uses of pre-approvals: %w", err)
	}
	for _, id := range ids {
		f.Uses = append(f.Uses, models.GrantID(id))
	}
	return f, nil
}
