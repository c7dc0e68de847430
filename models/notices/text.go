package notices

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	// isReviewer is whether a request was routed to a person.
	isReviewer = `SELECT 1 FROM reviewers WHERE user_id = ? AND response_id = ?`
	burstWaits = `SELECT r.approval_timeout_at, r.risk FROM notified n` + db.ByNotifiedWaiting +
		` JOIN responses r ON r.id = n.response_id
 WHERE n.channel_id = ? AND n.waiting AND r.approval_status = 'pending' AND r.approval_timeout_at > ? ORDER BY r.approval_timeout_at`
	inboxWaits = `SELECT d.deadline AS approval_timeout_at, r.risk FROM deciders d JOIN responses r ON r.id = d.response_id WHERE d.user_id = ? AND d.deadline > ? ORDER BY d.deadline`
)

// writeNotice says in a message how things are now; false: there is nothing to tell any more.
// It has nothing of what a request is about: no input, description, reason or title.
func (t *tx) writeNotice(g *models.Sending, secret *models.ChannelSecret) (bool, error) {
	n := &g.Notice
	n.ID, n.Kind, n.Request = g.Send.ID, g.Send.Kind, g.Send.ResponseID
	switch n.Kind {
	case models.NoticeWaiting, models.NoticeUnseen, models.NoticeHalf, models.NoticeTenth, models.NoticeBreakthrough,
		models.NoticeSettled:
		return t.writeRequest(n, g.Channel.UserID)
	case models.NoticeFlood:
		return t.writeFlood(n)
	case models.NoticeTooFew:
		return t.writeTooFew(n)
	case models.NoticeBreakGlass:
		return t.writeBreakGlass(n, models.VoteID(g.Send.About))
	case models.NoticeBurst:
		return t.writeCount(n, burstWaits, string(g.Channel.ID))
	case models.NoticeDigest:
		return t.writeCount(n, inboxWaits, string(g.Channel.UserID))
	case models.NoticeCode:
		return secret.CodeSealed != nil && secret.CodeExpires != nil && t.Now.Before(*secret.CodeExpires), nil
	case models.NoticeChannelFailing:
		var labels []string
		if err := t.Gorm().Raw(`SELECT label FROM channels WHERE id = ? AND removed_at IS NULL`,
			g.Send.About).Scan(&labels).Error; err != nil || len(labels) == 0 {
			return false, err
		}
		n.Channel = labels[0]
		return true, nil
	case models.NoticeWebhookPaused:
		return t.writePaused(n, models.WebhookID(g.Send.About))
	case models.NoticePolicyProposed, models.NoticePolicyAlone:
		return t.writePolicy(n, string(g.Send.About))
	case models.NoticeLedgerHead:
		return t.writeHead(n, string(g.Send.About))
	case models.NoticeTest, models.NoticeInvite:
	}
	return false, nil
}

func (t *tx) writeRequest(n *models.Notice, to models.UserID) (bool, error) {
	a, err := t.Request(n.Request)
	if err != nil || a == nil {
		return false, err
	}
	if to != "" && to != a.OwnerID { // a person who has left the group meanwhile hears no more
		if reviewer, err := db.Exists(t.QueryRowContext(context.Background(), isReviewer, to, a.ID)); err != nil ||
			!reviewer {
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
	n.Left = remaining(a.ApprovalTimeoutAt, t.Now)
	deciders, err := t.WhoMayApprove(a)
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

// agentWaits counts the requests of an agent that wait, up to one more than are counted.
const agentWaits = `SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingAgent +
	` WHERE agent_id = ? AND approval_status = 'pending' LIMIT ?)`

// writeFlood says that an agent asks for more than people can look at; false: little waits by now.
func (t *tx) writeFlood(n *models.Notice) (bool, error) {
	a, err := t.Request(n.Request)
	if err != nil || a == nil {
		return false, err
	}
	n.Agent, n.Request = a.AgentName, ""
	if err := t.Gorm().Raw(agentWaits, a.AgentID, models.StatsCap).Scan(&n.Count).Error; err != nil {
		return false, fmt.Errorf("count what waits: %w", err)
	}
	return n.Count >= models.FloodAlike, nil
}

// writeTooFew says that not enough people are left who could sign a request; false: they are again, or it is over.
func (t *tx) writeTooFew(n *models.Notice) (bool, error) {
	a, err := t.Request(n.Request)
	if err != nil || a == nil || a.Status() != models.StatusPending || a.PastDeadline(t.Now) || a.StrandedAt == nil {
		return false, err
	}
	n.Agent, n.Tool, n.Risk, n.Deadline = a.AgentName, a.ToolName, a.Risk, a.ApprovalTimeoutAt
	n.Left = remaining(a.ApprovalTimeoutAt, t.Now)
	return true, nil
}

// writeBreakGlass says who decided alone, also if they have undone it since.
func (t *tx) writeBreakGlass(n *models.Notice, id models.VoteID) (bool, error) {
	a, err := t.Request(n.Request)
	if err != nil || a == nil {
		return false, err
	}
	var votes []models.Vote
	if err := t.Gorm().Where("id = ?", id).Limit(1).Find(&votes).Error; err != nil || len(votes) == 0 {
		return false, err
	}
	n.Agent, n.Tool, n.Risk, n.Deadline = a.AgentName, a.ToolName, a.Risk, models.NoDeadline
	n.By, n.Outcome = votes[0].UserName, string(models.StatusApproved)
	if votes[0].Verdict == models.VerdictReject {
		n.Outcome = string(models.StatusRejected)
	}
	n.Count = len(votes[0].Skipped())
	return true, nil
}

// writeCount says how many requests wait, when the first of them expires, and what the worst
// risk among them is.
func (t *tx) writeCount(n *models.Notice, query, of string) (bool, error) {
	var waits []struct {
		ApprovalTimeoutAt time.Time
		Risk              models.Risk
	}
	if err := t.Gorm().Raw(query, of, t.Now).Scan(&waits).Error; err != nil {
		return false, fmt.Errorf("count what waits: %w", err)
	}
	if len(waits) == 0 {
		return false, nil
	}
	n.Count, n.First = len(waits), remaining(waits[0].ApprovalTimeoutAt, t.Now)
	for _, w := range waits {
		if w.Risk.WorseThan(n.Risk) {
			n.Risk = w.Risk
		}
	}
	return true, nil
}

// remaining is the time until a deadline; 0: there is none.
func remaining(deadline, now time.Time) time.Duration {
	if !deadline.Before(models.NoDeadline) {
		return 0
	}
	return deadline.Sub(now)
}

// writePaused says in a message which webhook is paused, and why.
func (t *tx) writePaused(n *models.Notice, id models.WebhookID) (bool, error) {
	var rows []struct {
		Name, Label string
		PausedClass models.SendClass
	}
	if err := t.Gorm().Raw(`SELECT name, label, paused_class FROM webhooks WHERE id = ? AND removed_at IS NULL AND paused_why IN ('failing', 'gone')`, id).Scan(&rows).Error; err != nil || len(rows) == 0 {
		return false, err
	}
	n.Webhook, n.WebhookHost, n.Class = rows[0].Name, rows[0].Label, rows[0].PausedClass
	return true, nil
}

// writePolicy says who proposes a change of the policy, or who changes it alone: about is the digest of the proposal, or
// the version that was saved.
func (t *tx) writePolicy(n *models.Notice, about string) (bool, error) {
	if version, err := strconv.ParseInt(about, 10, 64); err == nil {
		var saved []models.Policy
		if err := t.Gorm().Where("version = ?", version).Limit(1).Find(&saved).Error; err != nil || len(saved) == 0 {
			return false, err
		}
		n.By, n.Outcome = saved[0].AuthorName, string(models.ProposalSaved)
		if admins := saved[0].Signed().Admins; len(admins) > 0 {
			n.By = admins[len(admins)-1].Name
		}
		return true, nil
	}
	var waits []models.PolicyProposal
	if err := t.Gorm().Where("id = 1 AND outcome = '' AND digest = ?", about).Limit(1).Find(&waits).Error; err != nil || len(waits) == 0 {
		return false, err
	}
	n.By = waits[0].ByName
	if n.Kind == models.NoticePolicyAlone {
		n.By = waits[0].AloneName
	}
	return true, nil
}

// writeHead says in a message what the head was that an entry told: the same at each attempt.
func (t *tx) writeHead(n *models.Notice, entry string) (bool, error) {
	seq, err := strconv.ParseInt(entry, 10, 64)
	if err != nil {
		return false, fmt.Errorf("read the entry of a head: %w", err)
	}
	head, at, err := t.n.store.ToldHead(context.WithoutCancel(t.Caller), seq)
	n.Head, n.HeadAt = head.String(), at
	return err == nil, err
}
