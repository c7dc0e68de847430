package notices

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
)

const (
	// dueRecipients are those who have channels, when each is next to be told of something, and
	// when they were last.
	dueRecipients = `SELECT x.recipient,
 (SELECT n.due_at FROM notices n` + db.ByNoticesDue + ` WHERE n.recipient = x.recipient ORDER BY n.due_at LIMIT 1) AS due_at,
 (SELECT c.told_at FROM channels c` + db.ByChannelsInUse + ` WHERE c.user_id || c.group_id = x.recipient AND c.removed_at IS NULL ORDER BY c.told_at DESC LIMIT 1) AS told_at
 FROM (SELECT DISTINCT c.user_id || c.group_id AS recipient FROM channels c` + db.ByChannelsInUse + ` WHERE ` + people.ChannelUsable + `) x`
	dueNotices = `SELECT n.response_id, n.moment, r.approval_status, r.approval_timeout_at, r.held_until, r.risk, r.owner_id, s.first_at, s.active_at
 FROM notices n` + db.ByNoticesDue + ` JOIN responses r ON r.id = n.response_id LEFT JOIN seen s ON s.response_id = n.response_id AND s.user_id = n.recipient
 WHERE n.recipient = ? AND n.due_at <= ? ORDER BY n.due_at, n.response_id`
	addDigest = db.InsertNew + `notices (response_id, recipient, moment, due_at) VALUES ('', ?, ?, ?)`
	dueDigest = `SELECT due_at FROM notices WHERE response_id = '' AND recipient = ? AND moment = 'digest' AND due_at <= ?`

	usableChannels = `SELECT c.* FROM channels c` + db.ByChannelsInUse + ` WHERE c.user_id || c.group_id = ? AND ` +
		people.ChannelUsable + ` ORDER BY c.id`
	noteTold = `UPDATE channels SET told_at = ? WHERE user_id || group_id = ? AND removed_at IS NULL`
	dropDue  = `DELETE FROM notices WHERE recipient = ? AND due_at <= ? AND response_id <> ''`
	inboxNow = `SELECT count(*) FROM deciders WHERE user_id = ? AND deadline > ?`
)

var deferDue = `UPDATE notices SET due_at = ? WHERE recipient = ? AND due_at <= ? AND response_id` + db.Within(`?`)

// digestLate is how late a digest may be: the morning's is of no use at noon.
const digestLate = time.Hour

// dueRecipient is somebody who is to be told of something at a time.
type dueRecipient struct {
	Recipient models.RecipientID
	DueAt     *time.Time
	ToldAt    *time.Time
}

// at is when messages to them may be made; false: there is nothing to tell. They can't have
// been told later than now: the clock was ahead.
func (d dueRecipient) at(now time.Time) (time.Time, bool) {
	if d.DueAt == nil {
		return time.Time{}, false
	}
	at := *d.DueAt
	if d.ToldAt != nil && !d.ToldAt.After(now) && at.Before(d.ToldAt.Add(models.NoticePause)) {
		at = d.ToldAt.Add(models.NoticePause)
	}
	return at, true
}

// Take makes messages of due notices, and returns the time of the next one (zero: none). A recipient of a message
// within models.NoticePause waits; the notices that have become due meanwhile are one message if they are more than
// models.BurstAbove. Its cost follows how many have channels, and how many are due. Codes: conflict (the lease is
// lost).
func (n *Notices) Take(ctx context.Context, l *models.Lease) (next time.Time, err error) {
	var all []dueRecipient
	if err := n.db.Gorm(ctx).Raw(dueRecipients).Scan(&all).Error; err != nil {
		return next, fmt.Errorf("read who is to be told: %w", err)
	}
	now := n.db.Now()
	for _, d := range all {
		at, some := d.at(now)
		if some && !at.After(now) {
			if err := n.write(ctx, func(t *tx) error {
				if err := t.HoldsLease(l); err != nil {
					return err
				}
				return t.takeNotices(d.Recipient)
			}); err != nil {
				return next, err
			}
			if at, some, err = n.nextFor(ctx, d.Recipient); err != nil {
				return next, err
			}
		}
		if some && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

func (n *Notices) nextFor(ctx context.Context, recipient models.RecipientID) (time.Time, bool, error) {
	var found []dueRecipient
	if err := n.db.Gorm(ctx).Raw(dueRecipients+` WHERE x.recipient = ?`, recipient).Scan(&found).Error; err != nil {
		return time.Time{}, false, fmt.Errorf("read who is to be told: %w", err)
	}
	if len(found) == 0 {
		return time.Time{}, false, nil
	}
	at, some := found[0].at(n.db.Now())
	return at, some, nil
}

// dueRequest is a request of which somebody is to be told now.
type dueRequest struct {
	id       models.ResponseID
	kind     models.NoticeKind // the most pressing of its moments
	deadline time.Time
	risk     models.Risk
	owner    models.UserID
}

// takeNotices makes messages of what somebody is to be told now, or puts it off.
func (t *tx) takeNotices(recipient models.RecipientID) error {
	settings, err := t.NotificationSettings(recipient)
	if err != nil {
		return err
	}
	if settings == nil { // a person who may not sign in gets no message
		return t.tellNothing(recipient)
	}
	var channels []models.Channel
	if err := t.Gorm().Raw(usableChannels, recipient).Scan(&channels).Error; err != nil {
		return fmt.Errorf("read channels: %w", err)
	}
	count, err := t.takeDigest(recipient, settings, channels)
	if err != nil {
		return err
	}
	if there, err := t.waitForDesk(recipient); err != nil || there {
		return err
	}
	if err := t.bringForward(recipient); err != nil {
		return err
	}
	tell, err := t.chooseDue(recipient, settings)
	if err != nil {
		return err
	}
	tell, err = t.grown(recipient, channels, tell)
	if err != nil {
		return err
	}
	if err := t.Gorm().Exec(dropDue, recipient, t.Now).Error; err != nil {
		return fmt.Errorf("take notices: %w", err)
	}
	for i := range channels {
		n, err := t.tellBy(&channels[i], tell)
		if err != nil {
			return err
		}
		count += n
	}
	if count == 0 {
		return nil
	}
	if err := t.Gorm().Exec(noteTold, t.Now, recipient).Error; err != nil {
		return fmt.Errorf("note when somebody was told: %w", err)
	}
	return nil
}

// tellNothing drops the notices to somebody who may not sign in; the digest comes again once they may.
func (t *tx) tellNothing(recipient models.RecipientID) error {
	settings, err := people.SettingsOf(t.Gorm(), models.UserID(recipient))
	if err != nil {
		return err
	}
	if _, err := t.takeDigest(recipient, &settings, nil); err != nil {
		return err
	}
	if err := t.Gorm().Exec(dropDue, recipient, t.Now).Error; err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	return nil
}

// takeDigest sends the morning's, unless nothing waits, and puts down the next.
func (t *tx) takeDigest(
	recipient models.RecipientID, settings *models.NotificationSettings, channels []models.Channel,
) (count int, err error) {
	var at []time.Time
	if err := t.Gorm().Raw(dueDigest, recipient, t.Now).Scan(&at).Error; err != nil || len(at) == 0 {
		return 0, err
	}
	if err := t.Gorm().Exec(`DELETE FROM notices WHERE response_id = '' AND recipient = ?`, recipient).Error; err != nil {
		return 0, fmt.Errorf("take digest: %w", err)
	}
	if next, ok := settings.NextDigest(t.Now); ok {
		if err := t.Gorm().Exec(addDigest, recipient, models.NoticeDigest, db.Stamp(next)).Error; err != nil {
			return 0, fmt.Errorf("store next digest: %w", err)
		}
	}
	if at[0].Add(digestLate).Before(t.Now) {
		return 0, nil
	}
	var waits []int
	if err := t.Gorm().Raw(inboxNow, recipient, t.Now).Scan(&waits).Error; err != nil || len(waits) == 0 || waits[0] == 0 {
		return 0, err
	}
	for i := range channels {
		if err := t.QueueNotice(&channels[i], models.NoticeDigest, "", ""); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// noticeRank orders the moments of one request: the last one is sent.
var noticeRank = map[models.NoticeKind]int{
	models.NoticeWaiting: 0, models.NoticeUnseen: 1, models.NoticeHalf: 2, models.NoticeTenth: 3,
}

// chooseDue are the requests of which somebody hears now. Those that wait are put off; the other due ones are over.
func (t *tx) chooseDue(
	recipient models.RecipientID, settings *models.NotificationSettings,
) (tell []dueRequest, err error) {
	rows, err := t.dueNotices(recipient)
	if err != nil {
		return nil, err
	}
	later := map[time.Time][]models.ResponseID{}
	for _, d := range rows {
		until, err := t.putOff(settings, d)
		if err != nil {
			return nil, err
		}
		if !until.IsZero() {
			later[until] = append(later[until], d.id)
			continue
		}
		tell = append(tell, d.dueRequest)
	}
	for until, ids := range later {
		list, err := json.Marshal(ids)
		if err != nil {
			return nil, err
		}
		if err := t.Gorm().Exec(deferDue, db.Stamp(until), recipient, t.Now, string(list)).Error; err != nil {
			return nil, fmt.Errorf("put notices off: %w", err)
		}
	}
	return tell, nil
}

// candidate is a request that may be told.
type candidate struct {
	dueRequest

	held bool
}

// dueNotices are the pending requests of which somebody is to be told now, without those that
// they look at.
func (t *tx) dueNotices(recipient models.RecipientID) ([]*candidate, error) {
	var rows []struct {
		ResponseID        models.ResponseID
		Moment            models.NoticeKind
		ApprovalStatus    models.Status
		ApprovalTimeoutAt time.Time
		HeldUntil         *time.Time
		Risk              models.Risk
		OwnerID           models.UserID
		FirstAt, ActiveAt *time.Time
	}
	if err := t.Gorm().Raw(dueNotices, recipient, t.Now).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read what is to be told: %w", err)
	}
	var out []*candidate
	known := map[models.ResponseID]*candidate{}
	for i := range rows {
		r := &rows[i]
		over := r.ApprovalStatus != models.StatusPending || !t.Now.Before(r.ApprovalTimeoutAt) && r.HeldUntil == nil
		active := r.ActiveAt != nil && !r.ActiveAt.After(t.Now) && t.Now.Sub(*r.ActiveAt) < models.ActiveFor
		if over || active || r.Moment == models.NoticeUnseen && r.FirstAt != nil {
			continue
		}
		d := known[r.ResponseID]
		if d == nil {
			d = &candidate{dueRequest{r.ResponseID, r.Moment, r.ApprovalTimeoutAt, r.Risk, r.OwnerID}, r.HeldUntil != nil}
			known[r.ResponseID], out = d, append(out, d)
		}
		if noticeRank[r.Moment] > noticeRank[d.kind] {
			d.kind = r.Moment
		}
	}
	return out, nil
}

// putOff is when somebody hears of a request instead of now; zero: they hear of it now, in quiet hours as one that
// breaks through.
func (t *tx) putOff(settings *models.NotificationSettings, d *candidate) (time.Time, error) {
	if d.held { // somebody has decided, and may take it back
		return t.Now.Add(models.NoticePause), nil
	}
	end, quiet := settings.QuietUntil(t.Now)
	if !quiet {
		return time.Time{}, nil
	}
	if settings.CriticalBreaksThrough && d.risk == models.RiskCritical {
		return time.Time{}, nil
	}
	if !settings.QuietThrough(t.Now, d.deadline) {
		return end, nil
	}
	silent, err := t.allQuiet(d)
	if err != nil || !silent {
		return end, err
	}
	d.kind = models.NoticeBreakthrough
	return time.Time{}, nil
}

// allQuiet reports whether everybody who may decide a request, and has a channel to be told of
// it by, has quiet hours until its deadline.
func (t *tx) allQuiet(d *candidate) (bool, error) {
	a, err := t.Request(d.id)
	if err != nil || a == nil {
		return false, err
	}
	deciders, err := t.WhoMayApprove(a)
	if err != nil {
		return false, err
	}
	for _, who := range deciders {
		settings, err := t.NotificationSettings(models.RecipientID(who.ID))
		if err != nil {
			return false, err
		}
		if settings == nil || settings.Moments[d.risk].None() {
			continue // they hear of it in no case
		}
		if !settings.QuietThrough(t.Now, d.deadline) || settings.CriticalBreaksThrough && d.risk == models.RiskCritical {
			return false, nil
		}
	}
	return true, nil
}

const (
	addNotified   = db.InsertNew + `notified (response_id, channel_id, first_at, burst) VALUES (?, ?, ?, ?)`
	markAlone     = `UPDATE notified SET burst = FALSE WHERE response_id = ? AND channel_id = ? AND burst`
	countNotified = `SELECT count(*) FROM notified WHERE response_id = ? AND channel_id = ?`
)

// tellBy queues the messages to somebody by one channel, and returns how many they are.
func (t *tx) tellBy(c *models.Channel, tell []dueRequest) (int, error) {
	burst := len(tell) > models.BurstAbove
	count := 0
	for _, d := range tell {
		if !burst && !c.Kind.FollowsUp() {
			var before []int
			if err := t.Gorm().Raw(countNotified, d.id, c.ID).Scan(&before).Error; err != nil {
				return count, fmt.Errorf("read who was told: %w", err)
			}
			if len(before) > 0 && before[0] > 0 {
				continue
			}
		}
		if err := t.Gorm().Exec(addNotified, d.id, c.ID, t.Now, burst).Error; err != nil {
			return count, fmt.Errorf("note who is told: %w", err)
		}
		if burst {
			continue
		}
		if err := t.Gorm().Exec(markAlone, d.id, c.ID).Error; err != nil {
			return count, fmt.Errorf("note who is told: %w", err)
		}
		if err := t.QueueNotice(c, d.kind, d.id, ""); err != nil {
			return count, err
		}
		count++
	}
	if burst {
		return 1, t.QueueNotice(c, models.NoticeBurst, "", "")
	}
	return count, nil
}
