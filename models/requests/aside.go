package requests

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/headline"
)

const (
	mostFlood  = 10_000 // of an agent's requests that are compared
	mostDiffer = 8      // that are named
)

// isTogether picks the requests that wait together.
const isTogether = `p.approval_status = 'pending' AND p.when_busy = 'batch'`

var (
	// isFlood picks the requests that a flood folds: none of high or critical risk.
	isFlood = `r.risk IN (` + risks(func(r models.Risk) bool { return !r.NeedsDigest() }) + `)`
	// asideOut leaves out both, unless a decision on them is being sent; :floods are the agents.
	asideOut = ` AND (r.held_until IS NOT NULL OR r.when_busy <> 'batch' AND NOT (` + isFlood + ` AND r.agent_id IN (SELECT j.value FROM ` +
		db.Each(`:floods`) + `)))`

	together = `responses p` + db.ByResponsesTogether

	// togetherOf counts the requests that wait together for a person.
	togetherOf = `SELECT count(*) FROM (SELECT 1 FROM ` + together + ` CROSS JOIN responses r ON r.number = p.number WHERE ` + isTogether + ` AND r.held_until IS NULL` + inboxPicks + ` LIMIT :n)`

	// allFloods are few: agents that have asked for too much within the hour, and those of which much still waits.
	allFloods = `SELECT f.*, a.name AS agent_name, a.owner_id FROM floods f JOIN agents a ON a.id = f.agent_id ORDER BY f.began_at, f.agent_id`
	// floodOf are the requests of one of them that wait for a person.
	floodOf = `SELECT r.number, r.id, r.kind, r.tool_name, r.risk, r.headline FROM ` + agentPending + ` CROSS JOIN responses r ON r.number = p.number
 WHERE ` + ofAgentPending + ` AND r.held_until IS NULL AND r.when_busy <> 'batch' AND ` + isFlood + inboxPicks + ` ORDER BY p.number DESC LIMIT :n`
)

// aside reads what an inbox shows in lines of their own.
func (rs *Requests) aside(ctx context.Context, l *search) (out models.Aside, err error) {
	args := map[string]any{
		"me": l.args["me"], "admin": l.args["admin"], "now": l.args["now"], "whose": "", "n": models.StatsCap,
	}
	q := rs.db.Gorm(ctx)
	if err := q.Raw(togetherOf, arguments(togetherOf, args)...).Scan(&out.Together).Error; err != nil {
		return out, fmt.Errorf("count what waits together: %w", err)
	}
	var floods []models.AgentFlood
	if err := q.Raw(allFloods).Scan(&floods).Error; err != nil {
		return out, fmt.Errorf("read floods: %w", err)
	}
	for i := range floods {
		f := &floods[i]
		args["agent"], args["n"] = f.AgentID, mostFlood+1
		calls, err := rs.floodCalls(ctx, args)
		if err != nil {
			return out, fmt.Errorf("read a flood: %w", err)
		}
		if len(calls) <= f.Above {
			continue // not so much waits for this reader
		}
		if err := rs.compare(ctx, f, calls); err != nil {
			return out, err
		}
		out.Floods = append(out.Floods, *f)
	}
	return out, nil
}

// floodCall is a request of a flood: its key, and how it looks.
type floodCall struct {
	Key

	looks string
}

// floodCalls reads the requests of a flood, latest first.
func (rs *Requests) floodCalls(ctx context.Context, args map[string]any) (out []floodCall, err error) {
	stmt, err := rs.db.Prepared(ctx, floodOf) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), arguments(floodOf, args)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var r models.Response
	for rows.Next() {
		if err := rows.Scan(&r.Number, &r.ID, &r.Kind, &r.ToolName, &r.Risk, &r.HeadlineJSON); err != nil {
			return nil, err
		}
		out = append(out, floodCall{Key{Number: r.Number, ID: string(r.ID)}, headline.Alike(&r)})
	}
	return out, rows.Err()
}

// compare says which requests of a flood differ from the rest.
func (rs *Requests) compare(ctx context.Context, f *models.AgentFlood, calls []floodCall) error {
	if f.Cap = len(calls) > mostFlood; f.Cap {
		calls = calls[:mostFlood]
	}
	like := map[string]int{}
	for i := range calls {
		like[calls[i].looks]++
	}
	differ := slices.DeleteFunc(slices.Clone(calls), func(c floodCall) bool { return like[c.looks] >= models.FloodAlike })
	f.Count, f.Differs, f.Alike = len(calls), len(differ), len(calls)-len(differ)
	slices.SortStableFunc(differ, func(a, b floodCall) int { return cmp.Compare(like[a.looks], like[b.looks]) })
	var keys []Key
	for i := range differ[:min(len(differ), mostDiffer)] {
		keys = append(keys, differ[i].Key)
	}
	rows, err := rs.rowsOf(ctx, keys, briefColumns)
	f.Differ = briefs(stillPending(rows))
	return err
}

// leaveAside has a search leave out the requests aside, and returns how many rows it steps over for that at most.
func leaveAside(l *search, a models.Aside) (over int, err error) {
	agents := []models.AgentID{}
	over = a.Together
	for i := range a.Floods {
		agents = append(agents, a.Floods[i].AgentID)
		over += a.Floods[i].Count
	}
	list, err := json.Marshal(agents)
	l.pick += asideOut
	l.args["floods"] = string(list)
	return over, err
}
