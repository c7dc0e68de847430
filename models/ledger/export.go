package ledger

import (
	"context"
	"fmt"
	"iter"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// ExportQuery says which entries of the ledger are wanted.
type ExportQuery struct {
	User  models.UserID // acted, or owns the object; empty: everybody
	Since time.Time     // not earlier; zero: from the begin
}

// exportPage is how many entries are read at once. Between two reads nothing is
// held, however slowly the reader takes them: an entry never changes.
const exportPage = 1000

var exportQuery = `SELECT ` + entryColumns + ` FROM ledger
 WHERE seq > ? AND at >= ? AND (? = '' OR owner_id = ? OR actor_id = ?) ORDER BY seq LIMIT ?`

// Export gives the entries of the ledger in order, as stored, one page
// after the other, until those that are there at the end. For admins and the
// operator: CodeForbidden else. An error ends it.
func (l *Ledger) Export(ctx context.Context, actor models.Actor, q ExportQuery) iter.Seq2[models.Entry, error] {
	return func(yield func(models.Entry, error) bool) {
		if err := actor.NeedOversight(); err != nil {
			yield(models.Entry{}, err)
			return
		}
		for after := int64(0); ; {
			page, err := l.exportAfter(ctx, after, q)
			if err != nil {
				yield(models.Entry{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if len(page) < exportPage {
				return
			}
		}
	}
}

func (l *Ledger) exportAfter(ctx context.Context, after int64, q ExportQuery) ([]models.Entry, error) {
	since := ""
	if !q.Since.IsZero() {
		since = q.Since.UTC().Format(db.TimeFormat)
	}
	rows, err := l.db.Reads().QueryContext(ctx, exportQuery, after, since, q.User, q.User, q.User, exportPage)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer rows.Close()
	page := make([]models.Entry, 0, exportPage)
	entries := newEntryReader()
	for rows.Next() {
		e, err := entries.read(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return page, nil
}
