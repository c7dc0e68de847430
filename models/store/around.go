package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

const (
	aroundSearched = 500 // earlier calls that are looked at
	aroundEarlier  = 5   // and shown
)

// What went before a request, newest first: calls of the same agent and tool,
// rejected ones, and rejected ones that say the same. A reviewer to whom the
// request was routed sees of them what was routed to them as well.
const (
	beforeThis   = ` AND p.number < (SELECT number FROM responses WHERE id = :id) ORDER BY p.number DESC LIMIT :n`
	earlierKeys  = `SELECT p.number FROM responses p` + db.ByResponsesTool + ` WHERE p.agent_id = :agent AND p.tool_name = :tool AND p.asked = TRUE` + beforeThis
	rejectedKeys = `SELECT p.number FROM responses p` + db.ByResponsesRejectedTool + `
 WHERE p.agent_id = :agent AND p.tool_name = :tool AND p.approval_status = 'rejected'` + beforeThis
	reaskedKeys = `SELECT p.number FROM responses p` + db.ByResponsesRejected + `
 WHERE p.agent_id = :agent AND p.digest = :digest AND p.approval_status = 'rejected'` + beforeThis
)

var earlierQuery = `SELECT r.number, r.id, coalesce(r.approval_status, ''), r.cause, ` + searchSees + `
 FROM (` + earlierKeys + `) k CROSS JOIN responses r ON r.number = k.number ORDER BY k.number DESC`

func latestQuery(keys string) string {
	return `SELECT r.number, r.id FROM (` + keys + `) k CROSS JOIN responses r ON r.number = k.number WHERE ` + searchSees + ` ORDER BY k.number DESC LIMIT 1`
}

// around reads what stands around a request, for a person who sees it.
func (s *Store) around(ctx context.Context, actor models.Actor, a *models.Approval, out *models.Around) (err error) {
	if err := s.aroundPolicy(ctx, a, out); err != nil {
		return err
	}
	if err := s.aroundEarlier(ctx, actor, a, out); err != nil {
		return err
	}
	if a.Status() == models.StatusPending {
		if err := s.db.Gorm(ctx).Raw(waitingEdits, a.ID).Scan(&out.Proposed).Error; err != nil {
			return fmt.Errorf("read proposed edits: %w", err)
		}
	}
	if out.Notes, err = s.notes(ctx, a.ID); err != nil {
		return err
	}
	if out.Twin, err = s.twin(ctx, actor, a); err != nil {
		return err
	}
	out.Opened, err = s.OpenedParts(ctx, actor, a.ID)
	return err
}

// aroundPolicy says what the policy allows with the request, and what it would say
// of it if it came now.
func (s *Store) aroundPolicy(ctx context.Context, a *models.Approval, out *models.Around) error {
	now, err := s.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	doc := now.Compiled.Document()
	if a.UpstreamID == nil {
		out.UndoFor = doc.UndoSeconds.For(a.Risk)
		out.MaxPause = time.Duration(doc.MaxPauseMinutes) * time.Minute
		out.MaxTimeout = time.Duration(doc.MaxTimeoutMinutes) * time.Minute
	}
	out.GrantsEnabled, out.GrantMaxHours, out.GrantMaxUses = doc.GrantsEnabled, doc.GrantMaxHours, doc.GrantMaxUses
	if a.PolicyVersion == 0 {
		return nil // nothing was judged
	}
	then := now
	if a.PolicyVersion != now.Version {
		var row models.Policy
		if err := s.db.Gorm(ctx).Where("version = ?", a.PolicyVersion).Take(&row).Error; err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		if then, err = s.compile(row); err != nil {
			return err
		}
	}
	out.RejectReasons = then.Compiled.RejectReasons(a.PolicyRule, a.Template)
	out.PolicyChanged = then.Version != now.Version
	call, err := s.CallOf(ctx, a)
	if err != nil {
		return err
	}
	was := then.Compiled.Judge(call)
	if at := s.Now(); now.Compiled.GateOff(call.At) && !now.Compiled.GateOff(at) {
		call.At = at // it was off at the time of the ask, and is on by now
	}
	j := now.Compiled.Judge(call)
	out.Now = models.PolicyResult{
		Effect: string(j.Effect), Rule: j.Rule, Reason: j.Reason, Risk: j.Risk, Version: now.Version,
		Differs: j.Effect != was.Effect || j.Rule != was.Rule || j.Reason != was.Reason || j.Risk != was.Risk ||
			j.ReviewersOnly != was.ReviewersOnly || j.SelfApproval != was.SelfApproval || j.ReviewersOnly && !slices.Equal(j.Reviewers, was.Reviewers) || !policy.SameEscalation(j.Escalate, was.Escalate) || j.NoSubstitutes != was.NoSubstitutes || !slices.Equal(j.Only, was.Only) || !slices.Equal(j.Checklist, was.Checklist),
	}
	return nil
}

// earlier is one that went before.
type earlier struct {
	key

	status models.Status
	cause  models.Cause
}

// aroundEarlier says what became of the request's like.
func (s *Store) aroundEarlier(ctx context.Context, actor models.Actor, a *models.Approval, out *models.Around) (err error) {
	args := map[string]any{
		"me": actor.ID, "admin": actor.Admin, "id": a.ID, "agent": a.AgentID, "tool": a.ToolName, "digest": a.Digest, "n": aroundSearched + 1,
	}
	if out.ReaskOf, err = s.latest(ctx, reaskedKeys, args); err != nil || a.ToolName == "" {
		return err
	}
	if out.LastRejected, err = s.latest(ctx, rejectedKeys, args); err != nil {
		return err
	}
	calls, more, err := s.earlierCalls(ctx, args)
	if err != nil {
		return err
	}
	out.EarlierCapped = more
	var shown []key
	var lastAllowed *key
	for i := range calls {
		e := &calls[i]
		e.status = models.StatusIn(e.status, e.cause)
		allowed := out.Counts.Add(e.status, e.cause)
		if !allowed && !e.status.Final() {
			continue
		}
		if allowed && lastAllowed == nil {
			lastAllowed = &e.key
		}
		if len(shown) < aroundEarlier {
			shown = append(shown, e.key)
		}
	}
	items, err := s.rowsOf(ctx, shown, briefColumns)
	if err != nil {
		return err
	}
	out.Earlier = briefs(items)
	if lastAllowed != nil {
		out.LastApproved, err = s.wholeRow(ctx, *lastAllowed)
	}
	return err
}

// latest is the newest of keys that the actor sees, whole; nil: there is none.
func (s *Store) latest(ctx context.Context, keys string, args map[string]any) (*models.Approval, error) {
	text := latestQuery(keys)
	stmt, err := s.db.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	var k key
	switch err := stmt.QueryRowContext(context.WithoutCancel(ctx), arguments(text, args)...).Scan(&k.number, &k.id); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // none is an answer here
	case err != nil:
		return nil, fmt.Errorf("read what went before: %w", err)
	}
	return s.wholeRow(ctx, k)
}

func (s *Store) wholeRow(ctx context.Context, k key) (*models.Approval, error) {
	rows, err := s.rowsOf(ctx, []key{k}, approvalColumns)
	if err != nil {
		return nil, err
	}
	return &rows[0], nil
}

// earlierCalls are those of the same agent and tool, as far as the actor sees them,
// and whether there are more than were looked at.
func (s *Store) earlierCalls(ctx context.Context, args map[string]any) ([]earlier, bool, error) {
	stmt, err := s.db.Prepared(ctx, earlierQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, false, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), arguments(earlierQuery, args)...)
	if err != nil {
		return nil, false, fmt.Errorf("read what went before: %w", err)
	}
	defer rows.Close()
	var out []earlier
	n := 0
	for rows.Next() {
		var e earlier
		var sees bool
		if err := rows.Scan(&e.number, &e.id, &e.status, &e.cause, &sees); err != nil {
			return nil, false, fmt.Errorf("read what went before: %w", err)
		}
		if n++; sees && n <= aroundSearched {
			out = append(out, e)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read what went before: %w", err)
	}
	return out, n > aroundSearched, nil
}
