package notices

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

// How messages are tried again.
const (
	firstResend   = 5 * time.Second // each pause is four times the one before
	longestResend = 15 * time.Minute
	mostResend    = time.Hour // that a service may ask for
	sendAttempts  = 8
)

const (
	// dueSends is of each channel the message that is due first: one that is slow has many, and
	// the others need not wait for them.
	dueSends = `SELECT s.* FROM (SELECT DISTINCT channel_id FROM notice_sends` + db.ByNoticeSendsChannel + `) c
 JOIN notice_sends s ON s.id = (SELECT f.id FROM notice_sends f` + db.ByNoticeSendsChannel + ` WHERE f.channel_id = c.channel_id ORDER BY f.due_at, f.id LIMIT 1)
 ORDER BY s.due_at, s.id LIMIT ?`
	beginSend   = `UPDATE notice_sends SET attempts = attempts + 1, due_at = ? WHERE id = ?`
	dropSend    = `DELETE FROM notice_sends WHERE id = ?`
	dropSendsOf = `DELETE FROM notice_sends WHERE channel_id = ?`
	settledDue  = `SELECT count(*) FROM notice_sends WHERE channel_id = ? AND kind = 'settled' AND due_at <= ?`
	dropSettled = `DELETE FROM notice_sends WHERE channel_id = ? AND kind = 'settled' AND attempts = 0`
)

// resendAfter is how long a message waits after an attempt, of which it was the nth.
func resendAfter(n int) time.Duration {
	pause := firstResend
	for range n - 1 {
		if pause *= 4; pause > longestResend {
			return longestResend
		}
	}
	return pause
}

// Due are at most limit messages that are to be sent now, those due first and at most one
// of each channel, and when the next is due (zero: none is).
func (n *Notices) Due(ctx context.Context, limit int) (out []models.NoticeSend, next time.Time, err error) {
	var rows []models.NoticeSend
	if err := n.db.Gorm(ctx).Raw(dueSends, limit+1).Scan(&rows).Error; err != nil {
		return nil, next, fmt.Errorf("read messages: %w", err)
	}
	now := n.db.Now()
	for _, r := range rows {
		if r.DueAt.After(now) || len(out) == limit {
			return out, r.DueAt, nil
		}
		out = append(out, r)
	}
	return out, next, nil
}

// Begin makes the message of a row from the current state, and notes the attempt before it is made: a crash costs at
// most one message more. nil: there is nothing to send any more, or not yet. Codes: conflict (the lease is lost).
func (n *Notices) Begin(ctx context.Context, l *models.Lease, id string) (*models.Sending, error) {
	var out *models.Sending
	var secret models.ChannelSecret
	err := n.write(ctx, func(t *tx) error {
		out, secret = nil, models.ChannelSecret{}
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		var found []models.NoticeSend
		if err := t.Gorm().Where("id = ?", id).Limit(1).Find(&found).Error; err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		if len(found) == 0 || found[0].DueAt.After(t.Now) {
			return nil
		}
		attempt := &models.Sending{Send: found[0]}
		start, err := t.beginSend(attempt, &secret)
		if start {
			out = attempt
		}
		return err
	})
	if err != nil || out == nil {
		return nil, err
	}
	if out.Notice.Kind == models.NoticeCode {
		if out.Notice.Code, err = n.store.People.OpenCode(&secret, n.db.Now()); err != nil {
			return out, err
		}
	}
	out.Target, err = n.store.People.OpenTarget(&secret)
	return out, err
}

// beginSend reports whether there is something to send; if not, the row is gone or put off.
func (t *tx) beginSend(g *models.Sending, secret *models.ChannelSecret) (bool, error) {
	send := &g.Send
	if err := t.Gorm().Where("id = ?", send.ChannelID).Take(&g.Channel).Error; err != nil {
		return false, fmt.Errorf("read channel: %w", err)
	}
	if err := t.Gorm().Where("id = ?", send.ChannelID).Take(secret).Error; err != nil {
		return false, fmt.Errorf("read channel: %w", err)
	}
	ok := secret.RemovedAt == nil && (g.Channel.Usable() || send.Kind == models.NoticeCode && g.Channel.DisabledAt == nil)
	if ok && g.Channel.UserID != "" {
		var err error
		if ok, err = t.Enabled(g.Channel.UserID); err != nil {
			return false, err
		}
	}
	if ok && g.Channel.Kind == models.ChannelWebPush {
		if open, err := t.endPush(&g.Channel, secret); err != nil || !open {
			return false, err // its messages went with it
		}
	}
	if ok {
		if later, err := t.postpone(g); err != nil || later {
			return false, err
		}
		var err error
		if ok, err = t.writeNotice(g, secret); err != nil {
			return false, err
		}
	}
	if !ok {
		return false, t.Gorm().Exec(dropSend, send.ID).Error
	}
	send.Attempts++
	send.DueAt = db.Stamp(t.Now.Add(resendAfter(send.Attempts)))
	if err := t.Gorm().Exec(beginSend, send.DueAt, send.ID).Error; err != nil {
		return false, fmt.Errorf("note attempt: %w", err)
	}
	return true, nil
}

// endPush removes a browser's channel whose session is over; true: the session is open.
func (t *tx) endPush(c *models.Channel, secret *models.ChannelSecret) (open bool, err error) {
	var sessions int64
	if err := t.Gorm().Model(&models.WebSession{}).
		Where("id = ? AND user_id = ? AND revoked_at IS NULL AND expires_at > ?", secret.SessionID, c.UserID, t.Now).Count(&sessions).Error; err != nil {
		return false, fmt.Errorf("read session: %w", err)
	}
	if sessions > 0 {
		return true, nil
	}
	return false, t.n.store.People.RemovePushOf(t.Tx.Tx, c.UserID, secret.SessionID)
}

// postpone puts off, or drops, messages without hurry: outcomes in quiet hours, and all of those of which more than
// models.BurstAbove come together.
func (t *tx) postpone(g *models.Sending) (bool, error) {
	if g.Send.Kind != models.NoticeSettled && g.Send.Kind != models.NoticeChannelFailing {
		return false, nil
	}
	settings, err := t.NotificationSettings(g.Channel.Recipient())
	if err != nil {
		return false, err
	}
	if settings != nil {
		if end, quiet := settings.QuietUntil(t.Now); quiet {
			return true, t.Gorm().Exec(`UPDATE notice_sends SET due_at = ? WHERE id = ?`, db.Stamp(end), g.Send.ID).Error
		}
	}
	if g.Send.Kind != models.NoticeSettled || g.Send.Attempts > 0 {
		return false, nil
	}
	var n []int
	if err := t.Gorm().Raw(settledDue, g.Channel.ID, t.Now).Scan(&n).Error; err != nil {
		return false, fmt.Errorf("count outcomes: %w", err)
	}
	if len(n) == 0 || n[0] <= models.BurstAbove {
		return false, nil
	}
	return true, t.Gorm().Exec(dropSettled, g.Channel.ID).Error
}

// End notes how an attempt ended. Codes: conflict (the lease is lost).
func (n *Notices) End(ctx context.Context, l *models.Lease, g *models.Sending, r models.SendResult) error {
	return n.write(ctx, func(t *tx) error {
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		if err := t.noteAttempt(&g.Channel, g.Notice.Kind, r); err != nil {
			return err
		}
		if r.Class == models.SendSent {
			return t.finish(g)
		}
		return t.retry(g, r)
	})
}

// EndTest notes how sending a test ended.
func (n *Notices) EndTest(ctx context.Context, g *models.Sending, r models.SendResult) error {
	return n.write(ctx, func(t *tx) error { return t.noteAttempt(&g.Channel, models.NoticeTest, r) })
}

const (
	attemptSent   = `UPDATE channels SET last_class = ?, last_status = ?, last_sent_at = ?, failures = 0, first_failure = NULL, failing_since = NULL WHERE id = ?`
	attemptFailed = `UPDATE channels SET last_class = ?1, last_status = ?2, failures = failures + 1, first_failure = coalesce(first_failure, ?3),
 failing_since = CASE WHEN failures + 1 >= ?4 THEN coalesce(failing_since, first_failure, ?3) END WHERE id = ?5`
	disableGone = `UPDATE channels SET disabled_at = ? WHERE id = ? AND disabled_at IS NULL AND removed_at IS NULL`
)

// noteAttempt keeps the last attempt of a channel. Where it has begun to fail, its person hears of that by another.
func (t *tx) noteAttempt(c *models.Channel, kind models.NoticeKind, r models.SendResult) error {
	if r.Class == models.SendSent {
		return t.Gorm().Exec(attemptSent, r.Class, r.Status, t.Now, c.ID).Error
	}
	if err := t.Gorm().Exec(attemptFailed, r.Class, r.Status, t.Now, models.FailuresUntilKnown, c.ID).Error; err != nil {
		return fmt.Errorf("note failure: %w", err)
	}
	var now models.Channel
	if err := t.Gorm().Where("id = ?", c.ID).Take(&now).Error; err != nil {
		return fmt.Errorf("read channel: %w", err)
	}
	gone := r.Class == models.SendGone && now.DisabledAt == nil && kind != models.NoticeTest
	if gone {
		if err := t.disableGone(&now); err != nil {
			return err
		}
	}
	if gone || now.FailingSince != nil && c.FailingSince == nil {
		return t.tellOfFailing(&now)
	}
	return nil
}

// disableGone sends nothing more to an address of which its service says that it is gone.
func (t *tx) disableGone(c *models.Channel) error {
	if err := t.Changes("channels", c.ID); err != nil {
		return err
	}
	changed := t.Gorm().Exec(disableGone, t.Now, c.ID)
	if changed.Error != nil || !db.ExactlyOne(changed.RowsAffected) {
		return changed.Error
	}
	if err := t.Gorm().Exec(dropSendsOf, c.ID).Error; err != nil {
		return fmt.Errorf("drop messages: %w", err)
	}
	if err := people.DropUntold(t.Gorm(), c.Recipient()); err != nil {
		return err
	}
	return t.Record(models.System("notifier"), "channel.disabled", ledger.Subject{Owner: c.UserID},
		channelEntry{Channel: c.ID, Kind: c.Kind, Group: c.GroupID})
}

type channelEntry struct {
	Channel models.ChannelID   `json:"channel"`
	Kind    models.ChannelKind `json:"kind"`
	Group   models.GroupID     `json:"group,omitzero"`
}

// tellOfFailing tells whose channel fails, by their others.
func (t *tx) tellOfFailing(broken *models.Channel) error {
	var channels []models.Channel
	if err := t.Gorm().Raw(usableChannels, broken.Recipient()).Scan(&channels).Error; err != nil {
		return fmt.Errorf("read channels: %w", err)
	}
	for i := range channels {
		if c := &channels[i]; c.ID != broken.ID && c.Working() {
			if err := t.QueueNotice(c, models.NoticeChannelFailing, "", broken.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish takes a message off its way. Where the request has been settled meanwhile, the outcome
// follows it.
func (t *tx) finish(g *models.Sending) error {
	if err := t.Gorm().Exec(dropSend, g.Send.ID).Error; err != nil {
		return fmt.Errorf("drop message: %w", err)
	}
	id := g.Send.ResponseID
	if g.Send.Kind == models.NoticeBurst {
		if err := t.Gorm().Exec(burstSent, t.Now, g.Channel.ID, g.Send.At).Error; err != nil {
			return fmt.Errorf("note who was told: %w", err)
		}
	}
	if id == "" || g.Send.Kind == models.NoticeSettled {
		return nil
	}
	if err := t.Gorm().Exec(`UPDATE notified SET sent_at = ? WHERE response_id = ? AND channel_id = ? AND sent_at IS NULL`,
		t.Now, id, g.Channel.ID).Error; err != nil {
		return fmt.Errorf("note who was told: %w", err)
	}
	a, err := t.Request(id)
	if err != nil || a == nil || a.Status() == models.StatusPending {
		return err
	}
	if a.DecidedBy != nil && g.Channel.UserID == *a.DecidedBy {
		return nil
	}
	var count int64
	if err := t.Gorm().Model(&models.NoticeSend{}).Where("response_id = ? AND channel_id = ? AND kind = ?", id,
		g.Channel.ID, models.NoticeSettled).Count(&count).Error; err != nil || count > 0 {
		return err
	}
	return t.QueueNotice(&g.Channel, models.NoticeSettled, id, "")
}

// burstSent notes when the recipients heard of the requests in one message. They heard of them among others, so no
// outcome follows.
const burstSent = `UPDATE notified SET sent_at = ?1 WHERE response_id IN (SELECT n.response_id FROM notified n` +
	db.ByNotifiedWaiting + ` WHERE n.channel_id = ?2 AND n.waiting)
 AND channel_id = ?2 AND burst AND sent_at IS NULL AND first_at <= ?3`

// isFinal reports whether the same message would fail again if it were sent again. Three rejections ask for patience:
// too slow, too early, too many.
func isFinal(r models.SendResult) bool {
	switch r.Class {
	case models.SendRejected:
		return r.Status != http.StatusRequestTimeout && r.Status != http.StatusTooEarly &&
			r.Status != http.StatusTooManyRequests
	case models.SendRefusedHost, models.SendRedirect, models.SendTooLarge, models.SendNotConfigured, models.SendGone:
		return true
	case models.SendSent, models.SendNameNotFound, models.SendConnect, models.SendCertificate, models.SendTimeout,
		models.SendUnavailable:
	}
	return false
}

// retry keeps a message for another attempt, or gives it up.
func (t *tx) retry(g *models.Sending, r models.SendResult) error {
	if isFinal(r) || g.Send.Attempts >= sendAttempts {
		return t.Gorm().Exec(dropSend, g.Send.ID).Error
	}
	if r.RetryAfter <= 0 {
		return nil // when it is due is there already
	}
	at := db.Stamp(t.Now.Add(min(r.RetryAfter, mostResend)))
	if at.Before(g.Send.DueAt) {
		return nil
	}
	return t.Gorm().Exec(`UPDATE notice_sends SET due_at = ? WHERE id = ?`, at, g.Send.ID).Error
}
