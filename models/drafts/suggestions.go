package drafts

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
	"countersign/models/suggest"
)

// SuggestedDays is over how many days calls suggest rules.
const SuggestedDays = 90

const (
	suggestedBytes = 20 << 20 // of inputs that are read
	maxDismissed   = 1_000    // the newest are kept
)

// reach is how many calls suggestions are made of at most, and up to how many older refusals are read of one agent and
// tool: of more, nothing is suggested.
type reach struct{ calls, rejections int }

const (
	// endColumns say how a call ended, behind callColumns.
	endColumns = `, r.agent_id, coalesce(r.approval_status, ''), r.cause, coalesce(r.decided_by, ''), r.approval_requested_at,
 v.at, coalesce(r.approval_feedback, ''), coalesce(v.input, ''), EXISTS (SELECT 1 FROM notes n WHERE n.response_id = r.id AND n.author_kind = 'user' AND n.asks = TRUE)`
	endJoins = callJoins + ` LEFT JOIN votes v ON v.id = r.vote_id`
)

var (
	// outcomesBelow reads calls that waited for a person downwards from a number.
	outcomesBelow = `SELECT ` + fmt.Sprintf(callColumns, `r.tool_input_json`) + endColumns + ` FROM responses r` + endJoins + `
 WHERE r.number < ? AND r.kind = 'tool_call' AND r.asked = TRUE AND r.requires_approval = TRUE AND r.policy_version > 0 ORDER BY r.number DESC LIMIT ?`
	// rejectionsOf reads the calls of an agent and a tool below a number that were rejected.
	rejectionsOf = `SELECT ` + fmt.Sprintf(callColumns, `r.tool_input_json`) + endColumns + ` FROM responses r` + db.ByResponsesRejectedTool + endJoins + `
 WHERE r.agent_id = ? AND r.tool_name = ? AND r.number < ? AND r.approval_status = 'rejected' AND r.kind = 'tool_call' ORDER BY r.number DESC LIMIT ?`
)

// Suggestions reads the newest calls of the last SuggestedDays that waited for a person, at most 10,000, and what rules
// they suggest. No rule lets a call through that a person refused within all of these days. Nothing is written. Admins and
// policy editors only.
func (d *Drafts) Suggestions(ctx context.Context, actor models.Actor) (*suggest.Report, error) {
	return d.suggestions(ctx, actor, reach{10_000, 1_000})
}

func (d *Drafts) suggestions(ctx context.Context, actor models.Actor, most reach) (*suggest.Report, error) {
	if err := actor.NeedDrafting(); err != nil {
		return nil, err
	}
	active, err := d.store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	r := &endedReader{drafts: d, most: most, since: d.db.Now().AddDate(0, 0, -SuggestedDays), owner: d.ownerEmails(ctx), left: suggestedBytes}
	calls, more, err := r.newest(ctx)
	if err != nil {
		return nil, fmt.Errorf("read how calls ended: %w", err)
	}
	out := &suggest.Report{Calls: len(calls), Cut: more}
	if len(calls) > 0 {
		out.Since = calls[len(calls)-1].At
	}
	var older []suggest.Call
	if more {
		if calls, older, err = r.refused(ctx, calls); err != nil {
			return nil, fmt.Errorf("read what was refused: %w", err)
		}
	}
	return out, d.sortOut(ctx, out, suggest.Find(active.Program, calls, older))
}

// sortOut tells the dismissed suggestions from the others.
func (d *Drafts) sortOut(ctx context.Context, out *suggest.Report, found []suggest.Suggestion) error {
	var rows []models.DismissedSuggestion
	if err := d.db.Gorm(ctx).Find(&rows).Error; err != nil {
		return fmt.Errorf("read dismissed suggestions: %w", err)
	}
	by := map[string]models.DismissedSuggestion{}
	for _, row := range rows {
		by[row.Key] = row
	}
	for _, s := range found {
		if row, is := by[s.Key]; is {
			out.Dismissals = append(out.Dismissals, suggest.Dismissal{Suggestion: s, By: row})
		} else {
			out.Found = append(out.Found, s)
		}
	}
	return nil
}

// Suggestion is the one with a key, if history still suggests it and no one dismissed it. CodeNotFound: it does not.
func (d *Drafts) Suggestion(ctx context.Context, actor models.Actor, key string) (suggest.Suggestion, error) {
	all, err := d.Suggestions(ctx, actor)
	if err != nil {
		return suggest.Suggestion{}, err
	}
	i := slices.IndexFunc(all.Found, func(s suggest.Suggestion) bool { return s.Key == key })
	if i < 0 {
		return suggest.Suggestion{}, models.Errorf(models.CodeNotFound, "This is not suggested any more: calls were decided since, or the policy has changed.")
	}
	return all.Found[i], nil
}

// Dismiss has a suggestion not made again, with a note why. A repeat keeps the first note. Codes: forbidden; invalid names
// "note"; not_found: there is no such suggestion.
func (d *Drafts) Dismiss(ctx context.Context, actor models.Actor, key, note string) error {
	if err := mayDraft(actor); err != nil {
		return err
	}
	if _, err := d.Suggestion(ctx, actor, key); err != nil {
		return err
	}
	note = strings.TrimSpace(note)
	if err := models.CheckText("note", note, models.MaxReason); err != nil {
		return err
	}
	if note == "" {
		return models.Invalid("note", "must say why, for those who wonder later")
	}
	return d.db.Write(ctx, func(t *db.Tx) error {
		if err := t.Gorm().Exec(addDismissed, key, note, actor.UserID(), actor.Name, t.Now).Error; err != nil {
			return fmt.Errorf("dismiss a suggestion: %w", err)
		}
		if err := t.Gorm().Exec(forgetDismissed, maxDismissed).Error; err != nil {
			return fmt.Errorf("forget the oldest dismissed suggestions: %w", err)
		}
		return nil
	})
}

const (
	addDismissed    = db.InsertNew + `dismissed_suggestions (key, note, by_id, by_name, at) VALUES (?, ?, ?, ?, ?)`
	forgetDismissed = `DELETE FROM dismissed_suggestions WHERE at <= (SELECT at FROM dismissed_suggestions ORDER BY at DESC, key LIMIT 1 OFFSET ?)`
)

// Reoffer has a dismissed suggestion made again; of one that is not dismissed it is harmless.
func (d *Drafts) Reoffer(ctx context.Context, actor models.Actor, key string) error {
	if err := mayDraft(actor); err != nil {
		return err
	}
	return d.db.Write(ctx, func(t *db.Tx) error {
		if err := t.Gorm().Where("key = ?", key).Delete(&models.DismissedSuggestion{}).Error; err != nil {
			return fmt.Errorf("offer a suggestion again: %w", err)
		}
		return nil
	})
}

// endedReader reads calls and how they ended.
type endedReader struct {
	drafts *Drafts
	most   reach
	since  time.Time
	owner  func(models.UserID) (string, error)
	left   int // how many bytes of inputs are read yet; below 0: there were more
}

// newest reads the newest calls. more reports whether there are others since the time.
func (r *endedReader) newest(ctx context.Context) (calls []suggest.Call, more bool, err error) {
	before := int64(math.MaxInt64)
	for {
		page, err := r.page(ctx, outcomesBelow, before, replayPage)
		if err != nil {
			return nil, false, err
		}
		for i := range page {
			if page[i].At.Before(r.since) {
				return calls, false, nil
			}
			if len(calls) == r.most.calls {
				return calls, true, nil
			}
			calls = append(calls, page[i])
		}
		if r.left < 0 || len(page) < replayPage {
			return calls, r.left < 0, nil
		}
		before = page[len(page)-1].Number
	}
}

// refused reads which older calls were refused of each agent and tool. Where those are too many, the newer calls are left
// out too.
func (r *endedReader) refused(ctx context.Context, calls []suggest.Call) (kept, older []suggest.Call, err error) {
	type place struct {
		agent models.AgentID
		tool  string
	}
	if len(calls) == 0 {
		return nil, nil, nil
	}
	r.left = suggestedBytes
	last, whole := calls[len(calls)-1].Number, map[place]bool{}
	for i := range calls {
		p := place{calls[i].Agent, calls[i].ToolName}
		if _, known := whole[p]; !known {
			page, err := r.page(ctx, rejectionsOf, p.agent, p.tool, last, r.most.rejections)
			if err != nil {
				return nil, nil, err
			}
			old := slices.IndexFunc(page, func(c suggest.Call) bool { return c.At.Before(r.since) })
			if whole[p] = old >= 0 || r.left >= 0 && len(page) < r.most.rejections; old >= 0 {
				page = page[:old]
			}
			if whole[p] {
				older = append(older, page...)
			}
		}
		if whole[p] {
			kept = append(kept, calls[i])
		}
	}
	return kept, older, nil
}

// page reads some calls, until their inputs are too large.
func (r *endedReader) page(ctx context.Context, query string, args ...any) ([]suggest.Call, error) {
	rows, err := r.drafts.db.Reads().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []suggest.Call
	var owners []models.UserID
	for r.left >= 0 && rows.Next() {
		var e endedRow
		if err := rows.Scan(append(e.fields(), &e.agent, &e.status, &e.cause, &e.by, &e.asked, &e.decided, &e.feedback, &e.input, &e.question)...); err != nil {
			return nil, err
		}
		if r.left -= len(e.Input); r.left < 0 {
			break
		}
		out, owners = append(out, e.call()), append(owners, e.OwnerID)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Facts.Owner, err = r.owner(owners[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// endedRow is a call and how it ended.
type endedRow struct {
	callRow

	agent    models.AgentID
	status   models.Status
	cause    models.Cause
	by       models.UserID
	asked    sql.NullTime
	decided  sql.NullTime
	feedback string
	input    string // the one that was approved instead; empty: as it was asked
	question bool   // a person asked about it
}

func (e *endedRow) call() suggest.Call {
	c := policy.CallAgain(models.KindToolCall, e.ToolName, e.PolicyRule, e.Template, e.CreatedAt)
	c.Facts = policy.Facts{
		Agent: e.AgentName, Conversation: models.NameOfConversation(e.ConversationID, e.RunID), Input: []byte(e.Input), Removed: e.Removed,
	}
	out := suggest.Call{Call: c, Number: e.Number, ID: e.ID, Agent: e.agent, Outcome: e.outcome(), By: e.by}
	if e.decided.Valid && e.asked.Valid {
		out.Took = max(0, e.decided.Time.Sub(e.asked.Time))
	}
	if !e.Removed {
		out.Reason = e.feedback
	}
	return out
}

// outcome is how it ended. A person who stops an agent wants none of its calls.
func (e *endedRow) outcome() suggest.Outcome {
	switch byPerson := e.cause == models.CauseReviewer && e.by != ""; {
	case e.cause == models.CauseStopped, e.status == models.StatusRejected && byPerson:
		return suggest.Refused
	case e.status == models.StatusApproved && byPerson && (e.input != "" || e.question):
		return suggest.Edited
	case e.status == models.StatusApproved && byPerson:
		return suggest.Approved
	}
	return suggest.Open
}
