package drafts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
)

// recentRows bounds the requests that RecentCalls reads.
const recentRows = 10_000

var (
	callsOfRules = fmt.Sprintf(`SELECT policy_rule, COUNT(*) FROM (SELECT policy_rule, created_at FROM responses ORDER BY number DESC LIMIT %d)
 WHERE created_at >= ? AND policy_rule <> '' GROUP BY policy_rule`, recentRows)
	firstBefore = fmt.Sprintf(`SELECT created_at FROM responses ORDER BY number DESC LIMIT 1 OFFSET %d`, recentRows)
)

// RecentCalls counts the calls that each rule decided since a time, by the rule's name. whole is false if there were
// more requests than are read: then the counts are of the newest 10,000. Admins, policy editors and the operator
// only.
func (d *Drafts) RecentCalls(ctx context.Context, actor models.Actor, since time.Time) (counts map[string]int, whole bool, err error) {
	if err := actor.NeedDrafting(); err != nil {
		return nil, false, err
	}
	rows, err := d.db.Reads().QueryContext(ctx, callsOfRules, since)
	if err != nil {
		return nil, false, fmt.Errorf("count the calls of rules: %w", err)
	}
	defer rows.Close()
	counts = map[string]int{}
	for rows.Next() {
		var rule string
		var n int
		if err := rows.Scan(&rule, &n); err != nil {
			return nil, false, fmt.Errorf("count the calls of rules: %w", err)
		}
		counts[rule] = n
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("count the calls of rules: %w", err)
	}
	var before time.Time
	err = d.db.Reads().QueryRowContext(ctx, firstBefore).Scan(&before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, false, fmt.Errorf("count the calls of rules: %w", err)
	}
	return counts, err != nil || before.Before(since), nil
}
