package insights

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/figures"
)

// latestVotes are what a person decided last, newest first: when, what of it was to be read, and since when it could be.
const latestVotes = `SELECT v.at, v.verdict, r.created_at AS asked_at, r.approval_requested_at AS later_at,
 CASE WHEN r.removed IS NULL THEN length(r.tool_input_json) + length(r.content) + length(r.description) ELSE 0 END AS chars
 FROM votes v` + db.ByVotesUser + ` CROSS JOIN responses r ON r.id = v.response_id WHERE v.user_id = ? AND v.at >= ? AND v.verdict <> '' ORDER BY v.at DESC LIMIT ?`

// Attention is what the latest decisions of a person show of how they read. People read their own, those who oversee all
// anyone's. Nothing of it is stored.
//
// Codes: forbidden.
func (i *Insights) Attention(ctx context.Context, actor models.Actor, person models.UserID) (figures.Attention, error) {
	if err := i.mayRead(ctx, actor, &Query{Person: person}); err != nil {
		return figures.Attention{}, err
	}
	now := i.db.Now()
	var rows []struct {
		figures.Decision

		LaterAt *time.Time // asked about after it was reported
	}
	if err := i.db.Gorm(ctx).Raw(latestVotes, person, now.AddDate(0, 0, -figures.AttentionDays), figures.MostDecisions).
		Scan(&rows).Error; err != nil {
		return figures.Attention{}, fmt.Errorf("read what somebody decided: %w", err)
	}
	decisions := make([]figures.Decision, len(rows))
	for i := range rows {
		if decisions[i] = rows[i].Decision; rows[i].LaterAt != nil {
			decisions[i].AskedAt = *rows[i].LaterAt
		}
	}
	return figures.AttentionOf(decisions, now), nil
}
