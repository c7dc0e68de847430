package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

const (
	namesOfDeciders = `SELECT u.id, u.name FROM deciders JOIN users u ON u.id = deciders.user_id WHERE u.disabled_at IS NULL AND `
	burstWaits      = `SELECT r.approval_timeout_at FROM notified n` + db.ByNotifiedWaiting + ` JOIN responses r ON r.id = n.response_id
 WHERE n.channel_id = ? AND n.waiting AND r.approval_status = 'pending' AND r.approval_timeout_at > ? ORDER BY r.approval_timeout_at`
	inboxWaits = `SELECT deadline FROM deciders WHERE user_id = ? AND deadline > ? ORDER BY deadline`
)

// writeNotice says in a message how things are now; false: there is nothing to tell any more.
// It has nothing of what a request is about: no input, description, reason or title.
func (t *tx) writeNotice(g *models.Sending, secret *models.ChannelSecret) (bool, error) {
	n := &g.Notice
	n.ID, n.Kind, n.Request = g.Send.ID, g.Send.Kind, g.Send.ResponseID
	switch n.Kind {
	case models.NoticeWaiting, models.NoticeUnseen, models.NoticeHalf, models.NoticeTenth, models.NoticeBreakthrough, models.NoticeSettled:
		return t.writeRequest(n, g.Channel.UserID)
	case models.NoticeBurst:
		return t.writeCount(n, burstWaits, string(g.Channel.ID))
	case models.NoticeDigest:
		return t.writeCount(n, inboxWaits, string(g.Channel.UserID))
	case models.NoticeCode:
		return secret.CodeSealed != nil && secret.CodeExpires != nil && t.Now.Before(*secret.CodeExpires), nil
	case models.NoticeChannelFailing:
		var labels []string
		if err := t.Gorm().Raw(`SELECT label FROM channels WHERE id = ? AND removed_at IS NULL`, g.Send.About).Scan(&labels).Error; err != nil || len(labels) == 0 {
			return false, err
		}
		n.Channel = labels[0]
		return true, nil
	case models.NoticeWebhookPaused:
		return t.writePaused(n, models.WebhookID(g.Send.About))
	case models.NoticeTest:
	}
	return false, nil
}

func (t *tx) writeRequest(n *models.Notice, to models.UserID) (bool, error) {
	a, err := t.standing(n.Request)
	if err != nil || a == nil {
		return false, err
	}
	if to != "" && to != a.OwnerID { // who has left a group meanwhile is told no more
		if asked, err := db.Exists(t.Row(t.s.hot.isReviewer, to, a.ID)); err != nil || !asked {
			return false, err
		}
	}
	pending := a.Status() == models.StatusPending && (!a.PastDeadline(t.Now) || a.HeldUntil != nil)
	if pending == (n.Kind == models.NoticeSettled) {
		return false, nil
	}
	n.Agent, n.Tool, n.Risk, n.Deadline = a.AgentName, a.ToolName, a.Risk, a.ApprovalTimeoutAt
	if !pending {
		n.Outcome = string(a.Status())
		if a.Vote != nil {
			n.By = a.Vote.UserName
		}
		return true, nil
	}
	n.Left = left(a.ApprovalTimeoutAt, t.Now)
	deciders, err := t.whoMayApprove(a)
	if err != nil {
		return false, err
	}
	for i, who := range deciders {
		if i == models.MostDeciders {
			n.MoreDeciders = len(deciders) - i
			break
		}
		n.Deciders = append(n.Deciders, who.Name)
	}
	return true, nil
}

// whoMayApprove are the people who have a pending request in their inbox, may sign in and may
// approve it: whose agent asks perhaps may not.
func (t *tx) whoMayApprove(a *models.Approval) ([]models.User, error) {
	var all, out []models.User
	if err := t.Gorm().Raw(namesOfDeciders+decidersOf+` ORDER BY u.name, u.id`, a.ID, a.OwnerID, a.ApprovalTimeoutAt).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("read deciders: %w", err)
	}
	who := a.Approvers()
	if !who.Limited() {
		return all, nil
	}
	for i := range all {
		may, err := t.allows(who, a.OwnerID, all[i].ID)
		if err != nil {
			return nil, err
		}
		if may {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// writeCount says how many requests wait, and when the first of them expires.
func (t *tx) writeCount(n *models.Notice, query, of string) (bool, error) {
	var deadlines []time.Time
	if err := t.Gorm().Raw(query, of, t.Now).Scan(&deadlines).Error; err != nil {
		return false, fmt.Errorf("count what waits: %w", err)
	}
	if len(deadlines) == 0 {
		return false, nil
	}
	n.Count, n.First = len(deadlines), left(deadlines[0], t.Now)
	return true, nil
}

// left is the time until a deadline; 0: there is none.
func left(deadline, now time.Time) time.Duration {
	if !deadline.Before(models.NoDeadline) {
		return 0
	}
	return deadline.Sub(now)
}

// allowHeadline keeps that messages about a request may carry its headline, where its rule
// says so (I12).
func (t *tx) allowHeadline(a *models.Approval, j policy.Judgement) error {
	if !j.NotifyHeadline || a.Status() != models.StatusPending {
		return nil
	}
	if err := t.Gorm().Create(&models.ToldHeadline{ResponseID: a.ID}).Error; err != nil {
		return fmt.Errorf("allow headline: %w", err)
	}
	return nil
}

// Telling is a request as messages about it may tell of it by its headline; nil where its rule
// does not allow that.
func (s *Store) Telling(ctx context.Context, id models.ResponseID) (*models.Response, error) {
	var out []models.Response
	err := s.db.Gorm(ctx).Where("id = (SELECT response_id FROM told_headlines WHERE response_id = ?)", id).Limit(1).Find(&out).Error
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &out[0], nil
}
