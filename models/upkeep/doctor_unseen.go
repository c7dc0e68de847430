package upkeep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
)

// UnseenDays is how many days the search for unseen requests goes back.
const UnseenDays = 30

// Unseen is what expires without anybody having seen it, and who hears of nothing.
type Unseen struct {
	Rules []UnseenRule // at most ten, those with the most first
	// Channels says that somebody has a channel for notifications that works.
	Channels bool
	// Deaf are the e-mails of people who own agents or are asked by a rule, and have no channel
	// that works, of their own or of a group that they are in. At most ten.
	Deaf []string
}

// UnseenRule is a rule whose requests expired unseen.
type UnseenRule struct {
	Rule    string
	Expired int // and no one saw them
}

// channelWorks is a channel c by which messages arrive, as far as is known.
const channelWorks = `c.removed_at IS NULL AND c.verified_at IS NOT NULL AND c.disabled_at IS NULL AND c.failing_since IS NULL`

const (
	unseenRules = `SELECT r.policy_rule, count(*) FROM responses r` + db.ByResponsesSettled + `
 WHERE r.approval_timestamp > ? AND r.approval_status = 'expired' AND NOT EXISTS (SELECT 1 FROM seen s WHERE s.response_id = r.id AND s.first_at < r.approval_timestamp)
 GROUP BY r.policy_rule ORDER BY count(*) DESC, r.policy_rule LIMIT 10`
	anyWorking = `SELECT EXISTS (SELECT 1 FROM channels c JOIN users u ON u.id = c.user_id WHERE ` + channelWorks +
		` AND u.disabled_at IS NULL)
 OR EXISTS (SELECT 1 FROM channels c JOIN groups g ON g.id = c.group_id WHERE ` + channelWorks + ` AND g.removed_at IS NULL)`
)

// deafPeople are those who may sign in and have no channel that works. With each comes whether
// they own agents that may ask, and the names of their groups.
//
//nolint:gosec // all of it is ours
var deafPeople = `SELECT u.email, EXISTS (SELECT 1 FROM agents a WHERE a.owner_id = u.id AND a.disabled_at IS NULL),
 coalesce((SELECT ` + db.Joined(`g.name`) + ` FROM group_members m JOIN groups g ON g.id = m.group_id AND g.removed_at IS NULL WHERE m.user_id = u.id AND m.left_at IS NULL), '')
 FROM users u WHERE ` + people.MayDecide(`u`) + `
 AND NOT EXISTS (SELECT 1 FROM channels c WHERE c.user_id = u.id AND ` + channelWorks + `)
 AND NOT EXISTS (SELECT 1 FROM group_members m JOIN channels c ON c.group_id = m.group_id WHERE m.user_id = u.id AND m.left_at IS NULL AND ` + channelWorks + `)
 ORDER BY u.email`

const maxDeaf = 10

// Unseen looks for requests that no one sees. reviewers are the e-mails and groups that the policy names. It needs the
// schema that this program brings.
func (i *Inspection) Unseen(ctx context.Context, now time.Time, reviewers []string) (Unseen, error) {
	var u Unseen
	rows, err := i.db.QueryContext(ctx, unseenRules, now.AddDate(0, 0, -UnseenDays).UTC().Format(db.FileFormat))
	if err != nil {
		return u, fmt.Errorf("count requests that nobody saw: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r UnseenRule
		if err := rows.Scan(&r.Rule, &r.Expired); err != nil {
			return u, fmt.Errorf("count requests that nobody saw: %w", err)
		}
		u.Rules = append(u.Rules, r)
	}
	if err := rows.Err(); err != nil {
		return u, fmt.Errorf("count requests that nobody saw: %w", err)
	}
	if err := i.db.QueryRowContext(ctx, anyWorking).Scan(&u.Channels); err != nil {
		return u, fmt.Errorf("look for channels: %w", err)
	}
	u.Deaf, err = i.deaf(ctx, reviewers)
	return u, err
}

func (i *Inspection) deaf(ctx context.Context, reviewers []string) ([]string, error) {
	names := map[string]bool{}
	for _, r := range reviewers {
		if group, ok := models.GroupOf(r); ok {
			names[models.GroupReviewer(group)] = true
		} else {
			names[people.FoldEmail(r)] = true
		}
	}
	rows, err := i.db.QueryContext(ctx, deafPeople)
	if err != nil {
		return nil, fmt.Errorf("look for people without a channel: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() && len(out) < maxDeaf {
		var email, groups string
		var owns bool
		if err := rows.Scan(&email, &owns, &groups); err != nil {
			return nil, fmt.Errorf("look for people without a channel: %w", err)
		}
		if owns || names[email] ||
			slices.ContainsFunc(strings.Fields(groups), func(g string) bool { return names[models.GroupReviewer(g)] }) {
			out = append(out, email)
		}
	}
	return out, rows.Err()
}
