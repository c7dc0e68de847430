package upkeep

import (
	"context"
	"database/sql"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
	"countersign/models/policy"
	"countersign/models/store"
)

// Deciders is who can decide at all, and which requests have no decider.
type Deciders struct {
	People int // who may sign in
	Admins int // of these, who may decide everything

	// AdminOnly is how many pending requests have no decider: their owner and those they were routed to are disabled,
	// and there is no admin. At most models.StatsCap are counted.
	AdminOnly int
	// TooFew is how many pending requests not enough people are left to sign, of at most models.StatsCap.
	TooFew int
	// NoApprover names agents whose requests would be refused at once, for the same
	// reason. At most ten.
	NoApprover []string
	// Missing are those of the e-mails asked about whom no enabled person has.
	Missing []string
}

// decidersOfR are the deciders d of a request r.
var decidersOfR = store.DecidersOf(`d`, `r.id`, `r.owner_id`, `r.approval_timeout_at`)

var strandedCount = `SELECT count(*) FROM (SELECT 1 FROM responses r WHERE r.approval_status = 'pending'
 AND NOT EXISTS (SELECT 1 FROM deciders d JOIN users u ON u.id = d.user_id WHERE ` + decidersOfR + ` AND ` + people.MayDecide(`u`) + `) LIMIT ?)`

var tooFewCount = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingRisk +
	` WHERE approval_status = 'pending' AND stranded_at IS NOT NULL LIMIT ?)`

var aloneQuery = `SELECT a.name FROM agents a JOIN users u ON u.id = a.owner_id
 WHERE a.disabled_at IS NULL AND NOT (` + people.MayDecide(`u`) + `) ORDER BY a.name LIMIT 10`

// Deciders counts who can decide. reviewers are those that the policy names.
func (i *Inspection) Deciders(ctx context.Context, reviewers []string) (Deciders, error) {
	var d Deciders
	err := i.db.QueryRowContext(ctx,
		`SELECT count(*), count(*) FILTER (WHERE role = 'admin') FROM users WHERE `+people.MayDecide(`users`)).Scan(&d.People,
		&d.Admins)
	if err != nil {
		return d, fmt.Errorf("count people: %w", err)
	}
	for _, email := range reviewers {
		if _, isGroup := models.GroupOf(email); isGroup {
			continue // UnknownGroups and Unmeetable tell of these
		}
		var there bool
		err := i.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM users WHERE email = ? AND `+people.MayDecide(`users`)+`)`,
			people.FoldEmail(email)).Scan(&there)
		if err != nil {
			return d, fmt.Errorf("look for reviewers: %w", err)
		}
		if !there {
			d.Missing = append(d.Missing, email)
		}
	}
	if err := i.db.QueryRowContext(ctx, tooFewCount, models.StatsCap).Scan(&d.TooFew); err != nil {
		return d, fmt.Errorf("count requests with too few signers: %w", err)
	}
	if d.Admins > 0 {
		return d, nil // who may decide everything that no rule keeps for others
	}
	if err := i.db.QueryRowContext(ctx, strandedCount, models.StatsCap).Scan(&d.AdminOnly); err != nil {
		return d, fmt.Errorf("count requests without anybody: %w", err)
	}
	d.NoApprover, err = agentsAlone(ctx, i.db)
	return d, err
}

func agentsAlone(ctx context.Context, pool *sql.DB) ([]string, error) {
	names, err := db.Strings(ctx, pool, aloneQuery)
	if err != nil {
		return nil, fmt.Errorf("list agents without anybody: %w", err)
	}
	return names, nil
}

// Approvable tells which rules of a policy have no possible approver, and which have none for one person's agents, with
// the current people.
func (i *Inspection) Approvable(
	ctx context.Context, doc policy.Document,
) (unmeetable, stuck []policy.Warning, err error) {
	rows, err := i.db.QueryContext(ctx, people.WhoMayApprove)
	if err != nil {
		return nil, nil, fmt.Errorf("read people: %w", err)
	}
	defer rows.Close()
	var people []policy.Person
	for rows.Next() {
		var p policy.Person
		if err := rows.Scan(&p.Email, &p.Admin, &p.Owns, &p.Groups); err != nil {
			return nil, nil, fmt.Errorf("read people: %w", err)
		}
		people = append(people, p)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("read people: %w", err)
	}
	return doc.Unmeetable(people), doc.Stuck(people), nil
}
