package ledger

import (
	"context"
	"fmt"
)

// PositionKey is the key of 16 bytes under which streams hide the numbers of the
// ledger. It is made with the database and goes with its backups.
func (l *Ledger) PositionKey(ctx context.Context) ([]byte, error) {
	var key []byte
	if err := l.db.Reads().QueryRowContext(ctx, `SELECT key FROM position_key WHERE id = 1`).Scan(&key); err != nil {
		return nil, fmt.Errorf("read the key of positions: %w", err)
	}
	return key, nil
}
