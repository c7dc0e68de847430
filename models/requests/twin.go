package requests

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// How far back twins are looked for. What can do much harm is found however long
// ago it was approved, and so is an edited input; of all else, the owner's latest
// decisions since shortly before the request was asked are looked at, and for one
// request also its agent's latest calls of the tool.
const (
	mostSameHarm  = 50  // approvals of one digest
	mostDecisions = 500 // of one owner
	mostCalls     = aroundSearched
)

// harmful lists the risks whose approvals are in responses_approved_harm: the text
// must be that of the index, or SQLite does not use it.
func harmful() string { return risks(models.Risk.NeedsDigest) }

// risks lists, as SQL, those that pick is true of.
func risks(pick func(models.Risk) bool) string {
	var words []string
	for _, risk := range models.Risks() {
		if pick(risk) {
			words = append(words, "'"+string(risk)+"'")
		}
	}
	return strings.Join(words, ", ")
}

// readerSees is whether ?2, an admin if ?3, sees the response of a table's name.
func readerSees(name string) string { return personSees(name, `?3`, `?2`) }

// The queries read for some requests, a JSON array of ids, what a person (?2, an
// admin if ?3) approved that released the same. Both must be seen.
var (
	twinOf = `SELECT r.id, p.id, v.user_name, p.approval_timestamp FROM ` + db.Each(`?1`) +
		` CROSS JOIN responses r ON r.id = j.value`
	// twinSeen keeps what released the digest: as asked, or as edited.
	twinSeen = ` CROSS JOIN votes v ON v.id = p.vote_id
 WHERE p.id <> r.id AND p.agent_id = r.agent_id AND p.approval_status = 'approved' AND p.cause = 'reviewer' AND v.verdict = 'approve'
 AND coalesce(v.input_digest, p.digest) = r.digest AND ` + readerSees("r") + ` AND ` + readerSees("p")

	harmTwins = twinOf + ` CROSS JOIN responses p ON p.number` + db.AmongKeys(`SELECT o.number FROM responses o`+db.ByResponsesApprovedHarm+`
 WHERE o.agent_id = r.agent_id AND o.digest = r.digest AND o.approval_status = 'approved' AND o.risk IN (`+harmful()+`)
 ORDER BY o.approval_timestamp DESC LIMIT ?4`) + twinSeen
	editedTwins = twinOf + ` CROSS JOIN responses p ON p.id` + db.AmongKeys(`SELECT e.response_id FROM votes e`+db.ByVotesEdited+`
 WHERE e.input_digest = r.digest ORDER BY e.at DESC LIMIT ?4`) + twinSeen
	calledTwins = twinOf + ` CROSS JOIN responses p ON p.number` + db.AmongKeys(`SELECT o.number FROM responses o`+db.ByResponsesTool+`
 WHERE o.agent_id = r.agent_id AND o.tool_name = r.tool_name AND o.asked = TRUE ORDER BY o.number DESC LIMIT ?4`) + twinSeen

	// recentTwins reads each owner's decisions once, however many of their requests
	// are asked about, since ?5.
	recentTwins = `WITH wanted AS MATERIALIZED (SELECT r.* FROM (SELECT r.id, r.owner_id, r.agent_id, r.digest
 FROM ` + db.Each(`?1`) + ` CROSS JOIN responses r ON r.id = j.value WHERE ` + readerSees("r") + `) r),
 owners AS MATERIALIZED (SELECT DISTINCT owner_id FROM wanted),
 lately AS MATERIALIZED (SELECT p.id, p.agent_id, p.approval_timestamp, v.user_name, coalesce(v.input_digest, p.digest) AS released
 FROM owners o CROSS JOIN responses p ON p.number` + db.AmongKeys(`SELECT s.number FROM responses s`+db.ByResponsesSettledOwner+`
 WHERE s.owner_id = o.owner_id AND s.approval_timestamp >= ?5 ORDER BY s.approval_timestamp DESC LIMIT ?4`) + `
 CROSS JOIN votes v ON v.id = p.vote_id
 WHERE p.approval_status = 'approved' AND p.cause = 'reviewer' AND v.verdict = 'approve' AND ` + readerSees("p") + `)
 SELECT r.id, p.id, p.user_name, p.approval_timestamp FROM lately p CROSS JOIN wanted r
 WHERE p.agent_id = r.agent_id AND p.released = r.digest AND p.id <> r.id`
)

// Twins names, of requests that wait, the latest identical one that a person
// approved, as far as the reader sees both. Those of low and medium risk are found
// if they were asked within models.TwinWindow of it.
//
// Codes: forbidden (people only).
func (rs *Requests) Twins(
	ctx context.Context, actor models.Actor, rows ...*models.Approval,
) (map[models.ResponseID]models.Twin, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads what was approved before.")
	}
	var all, harm []models.ResponseID
	var since time.Time
	for _, a := range rows {
		if a.Status() != models.StatusPending {
			continue
		}
		all = append(all, a.ID)
		if a.Risk.NeedsDigest() {
			harm = append(harm, a.ID)
		}
		if asked := a.CreatedAt.Add(-models.TwinWindow); since.IsZero() || asked.Before(since) {
			since = asked
		}
	}
	found := twins{}
	for _, q := range []struct {
		text string
		ids  []models.ResponseID
		most int
	}{{harmTwins, harm, mostSameHarm}, {editedTwins, all, mostSameHarm}, {recentTwins, all, mostDecisions}} {
		if err := rs.findTwins(ctx, actor, found, q.text, q.ids, q.most, since); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Rejected names, of requests, the latest earlier identical one that was rejected, as
// far as the reader sees it.
//
// Codes: forbidden (people only).
func (rs *Requests) Rejected(
	ctx context.Context, actor models.Actor, rows ...*models.Approval,
) (map[models.ResponseID]models.ResponseID, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads what was rejected before.")
	}
	out := map[models.ResponseID]models.ResponseID{}
	for _, a := range rows {
		args := map[string]any{
			"me": actor.ID, "admin": actor.Oversees(), "id": a.ID, "agent": a.AgentID, "digest": a.Digest, "n": aroundSearched + 1,
		}
		before, err := rs.latest(ctx, reaskedKeys, args)
		if err != nil {
			return nil, err
		}
		if before != nil {
			out[a.ID] = before.ID
		}
	}
	return out, nil
}

// twin is the twin of one request, however long ago; nil: none was found.
func (rs *Requests) twin(ctx context.Context, actor models.Actor, a *models.Approval) (*models.Twin, error) {
	if a.Status() != models.StatusPending {
		return nil, nil //nolint:nilnil // what is decided is no duplicate any more
	}
	found, err := rs.Twins(ctx, actor, a)
	if err == nil && a.ToolName != "" {
		err = rs.findTwins(ctx, actor, found, calledTwins, []models.ResponseID{a.ID}, mostCalls, time.Time{})
	}
	if t, ok := found[a.ID]; ok {
		return &t, err
	}
	return nil, err
}

// mostDuplicates is how many requests that wait for the very same are named.
const mostDuplicates = 5

// duplicatesOf finds what else waits for the very same, among an agent's latest pending requests.
var duplicatesOf = `SELECT r.id, r.created_at FROM (SELECT p.number, p.digest FROM responses p` + db.ByResponsesPendingAgent + `
 WHERE p.agent_id = :agent AND p.approval_status = 'pending' ORDER BY p.number DESC LIMIT :n) k
 CROSS JOIN responses r ON r.number = k.number
 WHERE k.digest = :digest AND r.id <> :id AND r.held_until IS NULL AND r.approval_timeout_at > :now AND ` + searchSees + `
 ORDER BY k.number DESC LIMIT :most`

// duplicates are other requests of the agent that wait for the very same, as far as the reader sees them.
func (rs *Requests) duplicates(
	ctx context.Context, actor models.Actor, a *models.Approval,
) (out []models.Duplicate, err error) {
	if a.Status() != models.StatusPending || a.HeldUntil != nil || a.Kind == models.KindQuestion {
		return nil, nil
	}
	stmt, err := rs.db.Prepared(ctx, duplicatesOf) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), arguments(duplicatesOf, map[string]any{
		"me": actor.ID, "admin": actor.Oversees(), "id": a.ID, "agent": a.AgentID, "digest": a.Digest, "n": aroundSearched,
		"now": rs.db.Now(), "most": mostDuplicates,
	})...)
	if err != nil {
		return nil, fmt.Errorf("look for duplicates: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var d models.Duplicate
		if err := rows.Scan(&d.ID, &d.CreatedAt); err != nil {
			return nil, fmt.Errorf("look for duplicates: %w", err)
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

type twins = map[models.ResponseID]models.Twin

// findTwins adds what a query finds, and of several the latest.
func (rs *Requests) findTwins(
	ctx context.Context, actor models.Actor, found twins, text string, ids []models.ResponseID, most int, since time.Time,
) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("look for what was approved before: %w", err)
	}
	stmt, err := rs.db.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return err
	}
	args := []any{string(list), actor.ID, actor.Oversees(), most}
	if strings.Contains(text, "?5") {
		args = append(args, since)
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return fmt.Errorf("look for what was approved before: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var of models.ResponseID
		var t models.Twin
		if err := rows.Scan(&of, &t.ID, &t.By, &t.At); err != nil {
			return fmt.Errorf("look for what was approved before: %w", err)
		}
		if before, ok := found[of]; !ok || before.At.Before(t.At) {
			found[of] = t
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("look for what was approved before: %w", err)
	}
	return nil
}
