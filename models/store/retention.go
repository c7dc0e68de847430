package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

// RetentionBegins is how long after a policy that keeps contents for less time was saved it
// begins to remove them: until then it can be cancelled.
const RetentionBegins = 24 * time.Hour

// Retention is how long contents are kept.
type Retention struct {
	Days int // after which they are removed now; 0: never
	// Next is what the active policy says, where that is less and has not begun; it does at
	// Begins. Zero: nothing changes.
	Next   int
	Begins time.Time
}

// retentionSteps are the versions that were active since a time, the newest first: when each
// began, and its retention_days.
//
//nolint:gosec // all of it is ours
var retentionSteps = `SELECT created_at, coalesce(CAST(` + db.JSONMember(`document`, `retention_days`) + ` AS INTEGER), 0) FROM policies
 WHERE version >= coalesce((SELECT max(version) FROM policies WHERE created_at <= ?), 0) ORDER BY version DESC`

// RetentionStep is one of them.
type RetentionStep struct {
	At   time.Time
	Days int
}

// RetentionOf is how long contents are kept at now, after these steps. A step that was active at any time in the last
// 24 hours and kept them longer still counts.
func RetentionOf(steps []RetentionStep, now time.Time) Retention {
	if len(steps) == 0 {
		return Retention{}
	}
	active := steps[0].Days
	out := Retention{Days: active}
	for i := 1; i < len(steps); i++ {
		ended := steps[i-1].At
		if !now.Before(ended.Add(RetentionBegins)) {
			break
		}
		if policy.KeepsLonger(steps[i].Days, out.Days) {
			out.Days = steps[i].Days
		}
		if policy.KeepsLonger(steps[i].Days, active) && out.Begins.IsZero() {
			out.Next, out.Begins = active, ended.Add(RetentionBegins)
		}
	}
	return out
}

// Retention is how long contents are kept now, and what changes soon.
func (s *Store) Retention(ctx context.Context) (Retention, error) {
	return ReadRetention(ctx, s.db.Reads(), s.Now())
}

// ReadRetention is Retention, of a database that is only looked at.
func ReadRetention(ctx context.Context, from *sql.DB, now time.Time) (Retention, error) {
	rows, err := from.QueryContext(ctx, retentionSteps, db.Stamp(now.Add(-RetentionBegins)))
	if err != nil {
		return Retention{}, fmt.Errorf("read retention: %w", err)
	}
	defer rows.Close()
	var steps []RetentionStep
	for rows.Next() {
		var step RetentionStep
		if err := rows.Scan(&step.At, &step.Days); err != nil {
			return Retention{}, fmt.Errorf("read retention: %w", err)
		}
		steps = append(steps, step)
	}
	return RetentionOf(steps, now), rows.Err()
}

// KeepLonger cancels a retention that has not begun: a new version of the policy has the days in force. Codes:
// forbidden, conflict (there is none).
func (s *Store) KeepLonger(ctx context.Context, actor models.Actor) (PolicyVersion, error) {
	if !actor.MayAdminister() {
		return PolicyVersion{}, models.AdminsOnly()
	}
	now, err := s.Retention(ctx)
	if err != nil {
		return PolicyVersion{}, err
	}
	if now.Begins.IsZero() {
		return PolicyVersion{}, models.Errorf(models.CodeConflict,
			"No removal is waiting to begin: it has begun or was cancelled.")
	}
	note := fmt.Sprintf("Cancelled before it began: removing contents after %d days.", now.Next)
	return s.ChangePolicy(ctx, actor, note, func(d *policy.Document) { d.RetentionDays = now.Days })
}
