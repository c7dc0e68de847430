package requests

import (
	"context"
	"database/sql"

	"countersign/models/db"
	"countersign/models/ledger"
)

// Requests reads stored requests and conversations, for those who may see them. All methods are safe for concurrent
// use; none changes anything.
type Requests struct {
	db     *db.DB
	ledger *ledger.Ledger
	reads  reading
}

// reading are the reads of every wait, prepared on the read pool.
type reading struct{ approval, isReviewer *sql.Stmt }

// New is the requests of a database.
func New(ctx context.Context, d *db.DB, l *ledger.Ledger) (*Requests, error) {
	rs := &Requests{db: d, ledger: l}
	for place, text := range map[**sql.Stmt]string{&rs.reads.approval: ApprovalByID, &rs.reads.isReviewer: IsReviewer} {
		stmt, err := d.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the database is closed
		if err != nil {
			return nil, err
		}
		*place = stmt
	}
	return rs, nil
}
