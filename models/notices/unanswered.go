package notices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
)

const (
	// unansweredPeople are those to whom a request (?1) went, whom it was told by a channel of
	// their own, and who saw it.
	unansweredPeople = `SELECT u.id, u.name, s.first_at AS seen_at,
 (u.id = r.owner_id OR EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = u.id AND v.response_id = r.id)) AS asked
 FROM (SELECT owner_id AS id FROM responses WHERE id = ?1 UNION SELECT v.user_id FROM reviewers v WHERE v.response_id = ?1
  UNION SELECT c.user_id FROM notified n JOIN channels c ON c.id = n.channel_id WHERE n.response_id = ?1
  UNION SELECT s.user_id FROM seen s WHERE s.response_id = ?1) x
 JOIN users u ON u.id = x.id JOIN responses r ON r.id = ?1
 LEFT JOIN seen s ON s.response_id = ?1 AND s.user_id = u.id
 ORDER BY u.id <> r.owner_id, u.name, u.id`
	unansweredTold = `SELECT c.user_id, c.group_id, coalesce(g.name, '') AS name, c.kind, n.first_at, n.sent_at, n.burst
 FROM notified n JOIN channels c ON c.id = n.channel_id LEFT JOIN groups g ON g.id = c.group_id
 WHERE n.response_id = ? ORDER BY coalesce(n.sent_at, n.first_at), c.id`
)

// Unanswered says of a request that expired who heard of it, by which kind of channel and when, and who saw it; nil for
// any other. It names people, so it is for people: those who may see the request.
//
// Codes: forbidden (people only), not_found.
func (n *Notices) Unanswered(
	ctx context.Context, actor models.Actor, id models.ResponseID,
) (*models.Unanswered, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads who was told of a request.")
	}
	a, err := n.store.Requests.Approval(ctx, actor, id)
	if err != nil || a.Status() != models.StatusExpired {
		return nil, err
	}
	out := &models.Unanswered{}
	err = n.db.Snapshot(ctx, func(ctx context.Context) error {
		if err := n.db.Gorm(ctx).Raw(unansweredPeople, id).Scan(&out.People).Error; err != nil {
			return err
		}
		return n.addChannels(ctx, id, out)
	})
	if err != nil {
		return nil, fmt.Errorf("read who was told: %w", err)
	}
	return out, nil
}

// addChannels adds by which channels people and groups were told of a request.
func (n *Notices) addChannels(ctx context.Context, id models.ResponseID, out *models.Unanswered) error {
	var rows []struct {
		UserID, GroupID, Name string
		Kind                  models.ChannelKind
		FirstAt               time.Time
		SentAt                *time.Time
		Burst                 bool
	}
	if err := n.db.Gorm(ctx).Raw(unansweredTold, id).Scan(&rows).Error; err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		who := models.RecipientID(cmp.Or(r.UserID, r.GroupID))
		at := slices.IndexFunc(out.People, func(p models.UnansweredBy) bool { return p.ID == who })
		if at < 0 {
			at = len(out.People)
			out.People = append(out.People, models.UnansweredBy{ID: who, Name: r.Name, Group: true})
		}
		by := models.ToldBy{Kind: r.Kind, At: r.FirstAt, Among: r.Burst, Failed: r.SentAt == nil && !r.Burst}
		if r.SentAt != nil {
			by.At, by.Among = *r.SentAt, false
		}
		out.People[at].Told = append(out.People[at].Told, by)
	}
	return nil
}
