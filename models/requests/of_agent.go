package requests

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

const (
	callsGrouped  = 200 // of an agent, for its page
	agentShown    = 10  // requests in each of its lists
	newestOfAgent = `SELECT number, id FROM responses` + db.ByResponsesAgent +
		` WHERE agent_id = ? AND asked = TRUE ORDER BY number DESC LIMIT ?`
	waitingOfAgent = `SELECT number, id FROM responses` + db.ByResponsesPendingAgent +
		` WHERE agent_id = ? AND approval_status = 'pending' AND (approval_timeout_at > ? OR held_until IS NOT NULL) ORDER BY number LIMIT ?`
	groupedOfAgent = `SELECT r.kind, r.tool_name, r.policy_rule, coalesce(r.approval_status, ''), r.cause FROM (` +
		newestOfAgent + `) k CROSS JOIN responses r ON r.number = k.number`
	ownerOfAgent = `SELECT 1 FROM agents WHERE id = ? AND (owner_id = ? OR ?)`
)

// AgentRequests is what an agent's page shows of its requests.
type AgentRequests struct {
	Groups          models.CallGroups // of its last calls
	Pending, Newest []models.Brief    // the first ones that wait, and the last ones
}

// OfAgent reads what became of an agent's last calls, its first pending requests and its newest ones: for its owner
// and admins, for others CodeNotFound.
func (rs *Requests) OfAgent(ctx context.Context, actor models.Actor, id models.AgentID) (out AgentRequests, err error) {
	err = rs.db.Snapshot(ctx, func(ctx context.Context) error {
		seen, err := db.Exists(rs.db.Reader(ctx).QueryRowContext(ctx, ownerOfAgent, id, actor.ID, actor.Oversees()))
		if err != nil {
			return fmt.Errorf("look for agent: %w", err)
		}
		if !seen || actor.IsAgent() {
			return models.NotFound("agent")
		}
		if out.Groups, err = rs.callGroups(ctx, id); err != nil {
			return err
		}
		if out.Newest, err = rs.briefsOf(ctx, newestOfAgent, id, agentShown); err != nil {
			return err
		}
		out.Pending, err = rs.briefsOf(ctx, waitingOfAgent, id, rs.db.Now(), agentShown)
		return err
	})
	return out, err
}

func (rs *Requests) callGroups(ctx context.Context, id models.AgentID) (out models.CallGroups, err error) {
	err = db.EachRow(ctx, rs.db.Reader(ctx), groupedOfAgent, []any{id, callsGrouped + 1}, func(row db.Scanner) error {
		var g models.CallGroup
		var status models.Status
		var cause models.Cause
		if err := row.Scan(&g.Kind, &g.Tool, &g.Rule, &status, &cause); err != nil {
			return err
		}
		if out.More = out.Calls == callsGrouped; out.More {
			return nil
		}
		g.Effect = models.EffectOf(status, cause)
		out.Add(g)
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("group the calls of an agent: %w", err)
	}
	out.Sort()
	return out, nil
}

// briefsOf reads the requests whose numbers and ids a query gives, in its order.
func (rs *Requests) briefsOf(ctx context.Context, query string, args ...any) ([]models.Brief, error) {
	var keys []Key
	err := db.EachRow(ctx, rs.db.Reader(ctx), query, args, func(row db.Scanner) error {
		var k Key
		err := row.Scan(&k.Number, &k.ID)
		keys = append(keys, k)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the requests of an agent: %w", err)
	}
	return rs.settledRows(ctx, keys)
}
