package upkeep

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	purgeRead  = 500 // rows that are looked at together
	purgeWrite = 25  // rows whose contents one transaction removes
)

// Purge removes contents step by step. Digests, outcomes, times and names stay.
// It is used by one caller at a time; another process may do the same meanwhile.
type Purge struct {
	Report models.PurgeReport

	u      *Upkeep
	actor  models.Actor
	q      models.PurgeQuery
	at     time.Time
	walks  []walk
	after  [2]any
	found  []walkedRow
	inWalk bool
	isDone bool // the walk has come to its end
}

// NewPurge begins one: for admins, the operator and the policy's rule.
//
// Codes: forbidden, invalid (before), not_found (conversation).
func (u *Upkeep) NewPurge(ctx context.Context, actor models.Actor, q models.PurgeQuery) (*Purge, error) {
	if !actor.MayAdminister() && (actor.Kind != models.ActorSystem || actor.Name != models.RetentionActor) {
		return nil, models.AdminsOnly()
	}
	now := u.db.Now()
	if q.Before.IsZero() || q.Before.After(now) {
		return nil, models.Invalid("before", "must be in the past")
	}
	q.Before = db.Stamp(q.Before)
	if q.Conversation != "" {
		found, err := db.Exists(u.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM conversations WHERE id = ?`, q.Conversation))
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, models.NotFound("conversation")
		}
	}
	return &Purge{u: u, actor: actor, q: q, at: now, walks: purgeWalks}, nil
}

// Step does a little of it, in one short transaction at most, and says whether
// there may be more.
func (p *Purge) Step(ctx context.Context) (more bool, err error) {
	if len(p.found) > 0 {
		batch := p.found[:min(purgeWrite, len(p.found))]
		if err := p.remove(ctx, batch); err != nil {
			return false, fmt.Errorf("remove contents of %s: %w", p.walks[0].table, err)
		}
		p.found = p.found[len(batch):]
		return true, nil
	}
	if p.isDone {
		p.walks, p.inWalk, p.isDone = p.walks[1:], false, false
	}
	if len(p.walks) == 0 {
		return false, nil
	}
	if err := p.read(ctx); err != nil {
		return false, fmt.Errorf("look for contents of %s: %w", p.walks[0].table, err)
	}
	return true, nil
}

// All does all of it.
func (p *Purge) All(ctx context.Context) (*models.PurgeReport, error) {
	for {
		if more, err := p.Step(ctx); err != nil || !more {
			return &p.Report, err
		}
	}
}

// walkedRow is a row that a walk has read.
type walkedRow struct {
	key          []any
	conversation models.ConversationID
	at           time.Time
}

// read looks at the next rows of a walk.
func (p *Purge) read(ctx context.Context) error {
	w := &p.walks[0]
	if !p.inWalk {
		p.inWalk, p.after = true, w.first(p.q.Conversation)
	}
	text := w.text(p.q.Conversation)
	rows, err := p.u.db.Reads().QueryContext(ctx, text, p.args(text, p.after[0], p.after[1])...)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var row walkedRow
		var key [2]any
		var due bool
		if err := rows.Scan(&p.after[0], &p.after[1], &key[0], &key[1], &row.conversation, &row.at, &due); err != nil {
			return err
		}
		if n++; due {
			row.key = key[:w.keys]
			p.found = append(p.found, row)
		}
	}
	p.isDone = n < purgeRead
	return rows.Err()
}

// args are the arguments of a walk's statements, as many as the text names.
func (p *Purge) args(text string, first, second any) []any {
	all := []any{first, second, p.q.Before, p.q.Conversation, p.at, purgeRead}
	return all[:parameters(text)]
}

var numbered = regexp.MustCompile(`\?(\d)`)

func parameters(text string) int {
	most := 0
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// remove removes the contents of rows that are still due, or counts them.
func (p *Purge) remove(ctx context.Context, batch []walkedRow) error {
	if p.q.DryRun {
		done, err := p.plan(ctx, p.u.db.Reads(), batch)
		p.count(done)
		return err
	}
	var done *purgeStep
	err := p.u.write(ctx, func(t *tx) (err error) {
		if done, err = p.plan(ctx, t, batch); err != nil {
			return err
		}
		for _, conversation := range done.order {
			if err := p.apply(t, conversation, done.rows[conversation]); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		p.count(done)
	}
	return err
}

// purgeStep is what one step removes, by conversation.
type purgeStep struct {
	order []models.ConversationID
	rows  map[models.ConversationID][]purgedRow
	kept  int64
}

func (d *purgeStep) add(conversation models.ConversationID, rows ...purgedRow) {
	if len(rows) == 0 {
		return
	}
	if d.rows[conversation] == nil {
		d.order = append(d.order, conversation)
	}
	d.rows[conversation] = append(d.rows[conversation], rows...)
}

func (p *Purge) count(done *purgeStep) {
	if done == nil {
		return
	}
	p.Report.Kept += done.kept
	for _, rows := range done.rows {
		for _, row := range rows {
			p.Report.Add(row.table, row.at)
		}
	}
}

// rowQuerier is the database, or a transaction on it.
type rowQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
