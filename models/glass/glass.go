package glass

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/store"
)

// Most is how many decisions the list names.
const Most = 50

// Glass is the decisions that broke glass. All methods are safe for concurrent use.
type Glass struct {
	store *store.Store
	db    *db.DB
}

// New is those of an open store.
func New(s *store.Store) *Glass { return &Glass{store: s, db: s.DB()} }

// openVotes are those that wait to be acknowledged, oldest first.
const (
	openVotes = ` FROM votes` + db.ByVotesUnacknowledged + ` WHERE skipped <> '' AND acknowledged_at IS NULL`
	inOrder   = ` ORDER BY at, id LIMIT ?`
	keepThat  = `UPDATE votes SET acknowledged_by = ?, acknowledged_name = ?, acknowledged_at = ?, remark = ? WHERE id = ?`
	// CountUnacknowledged counts all of them.
	CountUnacknowledged = `SELECT count(*)` + openVotes

	findBroken = `SELECT * FROM votes WHERE id = ? AND skipped <> ''`
)

var didWithout = db.Contains(`skipped`, `?`)

// named is how the list of those who were skipped names a person.
func named(actor models.Actor) string { return `"id":"` + actor.ID + `"` }

// Unacknowledged are the decisions that wait to be acknowledged, as far as they concern the actor: all for admins and
// the operator, else those that did without their signature, and their own. more: there are further ones.
func (g *Glass) Unacknowledged(ctx context.Context, actor models.Actor) (list []models.GlassBreak, more bool, err error) {
	query, args := `SELECT *`+openVotes, []any{}
	switch {
	case actor.Oversees():
	case actor.IsPerson():
		query, args = query+` AND (user_id = ? OR `+didWithout+`)`, append(args, actor.ID, named(actor))
	default:
		return nil, false, models.Errorf(models.CodeForbidden, "Only people acknowledge decisions.")
	}
	var votes []models.Vote
	if err := g.db.Gorm(ctx).Raw(query+inOrder, append(args, Most+1)...).Scan(&votes).Error; err != nil {
		return nil, false, fmt.Errorf("read what is not acknowledged: %w", err)
	}
	more = len(votes) > Most
	votes = votes[:min(len(votes), Most)]
	ids := make([]models.ResponseID, len(votes))
	for i := range votes {
		ids[i] = votes[i].ResponseID
	}
	rows, err := requests.FindApprovals(g.db.Gorm(ctx).Where("id IN ?", ids), g.db.Now())
	if err != nil {
		return nil, false, err
	}
	of := make(map[models.ResponseID]models.Approval, len(rows))
	for i := range rows {
		of[rows[i].ID] = rows[i]
	}
	for _, v := range votes {
		list = append(list, models.GlassBreak{Vote: v, Request: of[v.ResponseID]})
	}
	return list, more, nil
}

// Waits is how many decisions wait until the actor, or another who may, acknowledges them; at most models.StatsCap.
func (g *Glass) Waits(ctx context.Context, actor models.Actor) (n int, err error) {
	if !actor.IsPerson() || actor.Auditor {
		return 0, nil
	}
	query, args := `SELECT count(*) FROM (SELECT 1`+openVotes+` AND user_id <> ?`, []any{actor.ID}
	if !actor.Oversees() {
		query, args = query+` AND `+didWithout, append(args, named(actor))
	}
	if err := g.db.Gorm(ctx).Raw(query+` LIMIT ?)`, append(args, models.StatsCap)...).Scan(&n).Error; err != nil {
		return 0, fmt.Errorf("count what is not acknowledged: %w", err)
	}
	return n, nil
}

// acknowledgedEntry is what the ledger says of it: it has a digest of the remark, which is in the vote.
type acknowledgedEntry struct {
	Digest string        `json:"digest"`
	Vote   models.VoteID `json:"vote"`
	Remark string        `json:"remark_digest,omitempty"`
}

// Acknowledge keeps that the actor has looked at a decision which broke glass, with their remark, which may be empty.
// A repeat by the same person changes nothing.
//
// Codes: forbidden (who gave it), not_found, invalid, conflict (somebody else was first).
func (g *Glass) Acknowledge(ctx context.Context, actor models.Actor, id models.VoteID, remark string) error {
	if err := models.CheckText("remark", remark, models.MaxReason); err != nil {
		return err
	}
	return g.store.Write(ctx, func(t *store.Tx) error {
		var found []models.Vote
		if err := t.Gorm().Raw(findBroken, id).Scan(&found).Error; err != nil {
			return fmt.Errorf("read decision: %w", err)
		}
		if len(found) == 0 {
			return notThere()
		}
		v := &found[0]
		switch {
		case actor.IsPerson() && actor.UserID() == v.UserID:
			return models.Errorf(models.CodeForbidden, "You broke glass here: somebody else must acknowledge it.")
		case !v.MayAcknowledge(actor):
			return notThere()
		case v.AcknowledgedAt != nil && v.AcknowledgedBy == actor.UserID():
			return nil
		case v.AcknowledgedAt != nil:
			return models.Errorf(models.CodeConflict, "%s has acknowledged it already.", v.AcknowledgedName)
		}
		a, err := t.Request(v.ResponseID)
		if err != nil {
			return err
		}
		if err := t.Changes("votes", v.ID); err != nil {
			return err
		}
		if err := t.Gorm().Exec(keepThat, actor.UserID(), actor.Name, t.Now, remark, v.ID).Error; err != nil {
			return fmt.Errorf("acknowledge a decision: %w", err)
		}
		t.Publish(events.Approval(string(a.ID)), events.RecordOf(string(a.OwnerID)), events.RecordOfAdmins, events.InboxOfAdmins)
		for _, p := range append(v.Skipped(), models.PersonRef{ID: v.UserID}) {
			t.Publish(events.InboxOf(string(p.ID)))
		}
		return t.Record(actor, "approval.acknowledged", ledger.SubjectOf(&a.Response, nil),
			acknowledgedEntry{Digest: a.Digest, Vote: v.ID, Remark: models.DigestOfText(remark)})
	})
}

func notThere() error {
	return models.Errorf(models.CodeNotFound, "There is no such decision that you may acknowledge.")
}
