package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/proof"
)

// sealedAtOnce is how many rows an entry lists.
const sealedAtOnce = 500

// newestSealed asks for the last entry that lists rows.
var newestSeal = fmt.Sprintf(`SELECT data FROM ledger WHERE seq = (SELECT max(seq) FROM (SELECT seq FROM ledger_keys WHERE kind = %d AND key = '%s'
 UNION ALL SELECT seq FROM ledger WHERE %s AND action = '%s'))`, ByAction, proof.SealedAction, inTail, proof.SealedAction)

// ProveOld lists, as they are found, all rows of a database whose entries an older program began
// without digests: so that from now on no row can change unseen. It goes on where it was broken
// off, and does nothing where all is listed.
func (l *Ledger) ProveOld(ctx context.Context) error {
	for {
		if done, err := l.provesAll(ctx); err != nil || done {
			return err
		}
		if err := l.db.WriteAnyway(ctx, func(t *db.Tx) error { return l.proveSome(ctx, t) }); err != nil {
			return err
		}
	}
}

// provesAll reports whether the first entry has digests, so that all have them, or all rows are
// listed.
func (l *Ledger) provesAll(ctx context.Context) (bool, error) {
	var first proof.Said
	if found, err := dataOf(ctx, l.db.Reads(), `SELECT data FROM ledger WHERE seq = 1`, &first); err != nil || !found ||
		first.Proof != nil {
		return err == nil, err
	}
	var last proof.Sealed
	_, err := dataOf(ctx, l.db.Reads(), newestSeal, &last)
	return last.Done, err
}

// proveSome lists the next rows.
func (l *Ledger) proveSome(ctx context.Context, t *db.Tx) error {
	var last proof.Sealed
	if _, err := dataOf(ctx, t, newestSeal, &last); err != nil || last.Done {
		return err
	}
	for _, table := range l.rows.Tables() {
		if table < last.Table {
			continue
		}
		if table > last.Table {
			last.Key = ""
		}
		rows, key, err := l.rows.Next(ctx, t, table, last.Key, sealedAtOnce)
		if err != nil {
			return err
		}
		for _, row := range rows {
			l.Adds(t, table, row.Key()...)
		}
		if len(rows) > 0 {
			return l.Append(t, models.System("migration"), proof.SealedAction, Subject{}, proof.Sealed{Table: table, Key: key})
		}
	}
	return l.Append(t, models.System("migration"), proof.SealedAction, Subject{}, proof.Sealed{Done: true})
}

// dataOf reads the data of the entry that a query finds.
func dataOf(ctx context.Context, from db.RowQuerier, query string, into any) (found bool, err error) {
	var data string
	switch err := from.QueryRowContext(ctx, query).Scan(&data); {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look which rows entries prove: %w", err)
	}
	if err := json.Unmarshal([]byte(data), into); err != nil {
		return false, fmt.Errorf("look which rows entries prove: %w", err)
	}
	return true, nil
}
