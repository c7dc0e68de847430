package drafts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
	"countersign/models/policy"
)

// maxTools bounds the tools that are looked up, over all agents.
const maxTools = 2000

// The tools of an agent are found one after another: each by its place in the index, and
// when it was asked about last, however often it was.
const (
	nextToolOf = `SELECT tool_name FROM responses` + db.ByResponsesTool +
		` WHERE asked = TRUE AND agent_id = ? AND tool_name > ? ORDER BY tool_name LIMIT 1`
	lastOfTool = `SELECT created_at FROM responses` + db.ByResponsesTool +
		` WHERE asked = TRUE AND agent_id = ? AND tool_name = ? ORDER BY number DESC LIMIT 1`
)

// Usage describes the installation: which tools agents asked about in the last policy.UsageDays, who may sign in, and
// which groups exist. Admins, policy editors and the operator only.
func (d *Drafts) Usage(ctx context.Context, actor models.Actor) (policy.Usage, error) {
	out := policy.Usage{People: []policy.Person{}}
	if err := actor.NeedDrafting(); err != nil {
		return out, err
	}
	q := d.db.Gorm(ctx)
	if err := q.Raw(people.WhoMayApprove).Scan(&out.People).Error; err != nil {
		return out, fmt.Errorf("read people: %w", err)
	}
	var err error
	if out.Groups, err = people.NamesOfGroups(q); err != nil {
		return out, err
	}
	read, since := d.db.Reads(), d.db.Now().Add(-policy.UsageDays*24*time.Hour)
	out.More, err = d.eachTool(ctx, func(agent models.AgentID, tool string) error {
		var last time.Time
		if err := read.QueryRowContext(ctx, lastOfTool, agent, tool).Scan(&last); err != nil {
			return fmt.Errorf("read tools: %w", err)
		}
		if !last.Before(since) {
			out.Tools = append(out.Tools, tool)
		}
		return nil
	})
	slices.Sort(out.Tools)
	out.Tools = slices.Compact(out.Tools)
	return out, err
}

// eachTool visits the tools that each agent ever asked about, and reports whether there are more than it visits.
func (d *Drafts) eachTool(
	ctx context.Context, visit func(agent models.AgentID, tool string) error,
) (more bool, err error) {
	var agents []models.AgentID
	if err := d.db.Gorm(ctx).Model(&models.Agent{}).Order("id").Limit(maxTools).Pluck("id", &agents).Error; err != nil {
		return false, fmt.Errorf("read agents: %w", err)
	}
	read, n := d.db.Reads(), 0
	for _, agent := range agents {
		for tool := ""; ; n++ {
			if n == maxTools {
				return true, nil
			}
			if err := read.QueryRowContext(ctx, nextToolOf, agent, tool).Scan(&tool); errors.Is(err, sql.ErrNoRows) {
				break
			} else if err != nil {
				return false, fmt.Errorf("read tools: %w", err)
			}
			if err := visit(agent, tool); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}
