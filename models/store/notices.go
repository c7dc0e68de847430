package store

import (
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/people"
)

// Notices to send are rows, written with their cause: a request that comes, a deadline that moves, an outcome. The
// room of notices makes messages of those that are due, and has them sent.

// recipients are the people and groups who have a channel that works, as the writer remembers them:
// without any, an ask, a vote and an outcome pay nothing.
type recipients struct {
	settings map[models.RecipientID]*models.NotificationSettings // without the zero key
	groups   map[string]models.RecipientID                       // by name
}

var (
	peopleWithChannels = `SELECT DISTINCT c.user_id FROM channels c` + db.ByChannelsInUse +
		` JOIN users u ON u.id = c.user_id
 WHERE ` + people.ChannelUsable + ` AND ` + people.MayDecide(`u`) + ` ORDER BY c.user_id`
	groupsWithChannels = `SELECT DISTINCT g.id, g.name FROM channels c` + db.ByChannelsInUse +
		` JOIN groups g ON g.id = c.group_id
 WHERE ` + people.ChannelUsable + ` AND g.removed_at IS NULL`
)

// recipientTables are those of which recipients consist.
var recipientTables = map[string]bool{"channels": true, "notification_settings": true, "users": true, "groups": true}

// recipients reads who has channels, unless it is known.
func (t *Tx) recipients() (*recipients, error) {
	if t.s.known.recipients != nil {
		return t.s.known.recipients, nil
	}
	out := &recipients{
		settings: map[models.RecipientID]*models.NotificationSettings{}, groups: map[string]models.RecipientID{},
	}
	var users []models.UserID
	if err := t.Gorm().Raw(peopleWithChannels).Scan(&users).Error; err != nil {
		return nil, fmt.Errorf("read who has channels: %w", err)
	}
	for _, user := range users {
		settings, err := people.SettingsOf(t.Gorm(), user)
		if err != nil {
			return nil, err
		}
		out.settings[models.RecipientID(user)] = &settings
	}
	var groups []models.Group
	if err := t.Gorm().Raw(groupsWithChannels).Scan(&groups).Error; err != nil {
		return nil, fmt.Errorf("read which groups have channels: %w", err)
	}
	for i := range groups {
		id, settings := models.RecipientID(groups[i].ID), models.DefaultNotificationSettings()
		out.groups[groups[i].Name], out.settings[id] = id, &settings
	}
	t.s.known.recipients = out
	return out, nil
}

// True if there is no channel at all.
func (w *recipients) nobody() bool { return len(w.settings) == 0 }

// awaits has people told of a pending request that has come into their inboxes. Where its
// owner is one of them it has just begun to wait, and the groups that it asks are told too.
func (t *Tx) awaits(w *recipients, r *models.Response, users []models.UserID) error {
	for _, user := range users {
		if err := t.awaitsFor(w, r, models.RecipientID(user)); err != nil {
			return err
		}
	}
	if len(w.groups) == 0 || !slices.Contains(users, r.OwnerID) {
		return nil
	}
	return t.awaitsGroups(w, r, r.Approvers())
}

// awaitsGroups has the groups told that are asked for a decision on a pending request.
func (t *Tx) awaitsGroups(w *recipients, r *models.Response, who models.Approvers) error {
	for _, a := range who.Asked() {
		id, ok := w.groups[a.Group]
		if !ok || a.Group == "" {
			continue
		}
		if err := t.awaitsFor(w, r, id); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) awaitsFor(w *recipients, r *models.Response, recipient models.RecipientID) error {
	settings := w.settings[recipient]
	if settings == nil {
		return nil
	}
	asked := t.Now
	if r.ApprovalRequestedAt != nil {
		asked = *r.ApprovalRequestedAt
	}
	for _, m := range momentsOf(settings.Moments[r.Risk], asked, t.batched(r), r.ApprovalTimeoutAt) {
		if _, err := t.Exec(t.s.hot.addNotice, r.ID, recipient, m.moment, m.at); err != nil {
			return fmt.Errorf("store notice: %w", err)
		}
		t.noticed()
	}
	return nil
}

// batched is when people first hear of a request: now, and of one of the batch with the others of the hour, at its end, or
// when half of its time is over.
func (t *Tx) batched(r *models.Response) time.Time {
	if r.WhenBusy != models.BusyBatch {
		return t.Now
	}
	at := t.Now.Truncate(time.Hour).Add(time.Hour)
	if half, _ := partsOf(t.Now, r.ApprovalTimeoutAt); half.Before(at) {
		return half
	}
	return at
}

// noticed wakes who sends, after the commit.
func (t *Tx) noticed() {
	if !t.notices {
		t.notices = true
		t.Publish(events.Notices)
	}
}

type moment struct {
	moment models.NoticeKind
	at     time.Time
}

// momentsOf are the notices about a request that was asked at one time and came to this person at another. A moment
// that has passed is sent at once only if there is no other.
func momentsOf(moments models.Moments, asked, now, deadline time.Time) []moment {
	out := make([]moment, 0, 4)
	if moments.AtOnce {
		out = append(out, moment{models.NoticeWaiting, now})
	}
	if moments.UnseenMinutes > 0 {
		if at := now.Add(time.Duration(moments.UnseenMinutes) * time.Minute); at.Before(deadline) {
			out = append(out, moment{models.NoticeUnseen, at})
		}
	}
	if !deadline.Before(models.NoDeadline) {
		return out
	}
	half, tenth := partsOf(asked, deadline)
	if moments.Half && half.After(now) {
		out = append(out, moment{models.NoticeHalf, half})
	}
	if moments.Tenth {
		at := tenth
		if at.Before(now) {
			at = now
		}
		out = append(out, moment{models.NoticeTenth, at})
	}
	return out
}

// partsOf are when half of a request's time is over, and when a tenth is left.
func partsOf(asked, deadline time.Time) (half, tenth time.Time) {
	span := deadline.Sub(asked)
	return db.Stamp(asked.Add(span / 2)), db.Stamp(deadline.Add(-span / 10))
}

const (
	moveNotice = `UPDATE notices SET due_at = ? WHERE response_id = ? AND moment = ?`
	// hurryNotices brings forward notices that were put off until after the deadline: they would never be sent.
	hurryNotices = `UPDATE notices SET due_at = ?2 WHERE response_id = ?1 AND moment IN ('waiting', 'unseen') AND due_at > ?2 AND due_at >= ?3`
	dropNotices  = `DELETE FROM notices WHERE response_id = ?`
	// followUps are the channels that got a message about a request and can get more, except the decider's.
	followUps = `SELECT n.channel_id, c.kind FROM notified n JOIN channels c ON c.id = n.channel_id
 WHERE n.response_id = ? AND n.sent_at IS NOT NULL AND n.burst = FALSE AND c.user_id <> ? AND ` + people.ChannelUsable
	dropUnsent = `DELETE FROM notice_sends` + db.ByNoticeSendsResponse +
		` WHERE response_id = ? AND response_id <> '' AND attempts = 0 AND kind <> 'break_glass' AND kind <> 'flood'`
	waitsNoMore  = `UPDATE notified SET waiting = FALSE WHERE response_id = ? AND waiting`
	leftUntold   = `UPDATE notified SET waiting = FALSE WHERE response_id = ? AND channel_id IN (SELECT c.id FROM channels c WHERE c.id = notified.channel_id AND c.user_id IN ?)`
	forgetToTell = `DELETE FROM notices WHERE response_id = ? AND recipient IN ?`
)

// noticesMove moves the notices before the deadline of a request. While its clock stops, the deadline is far away, and
// so are they.
func (t *Tx) noticesMove(a *models.Approval) error {
	if w, err := t.recipients(); err != nil || w.nobody() {
		return err
	}
	half, tenth := models.NoDeadline, models.NoDeadline
	if a.HasDeadline() {
		asked := a.CreatedAt
		if a.ApprovalRequestedAt != nil {
			asked = *a.ApprovalRequestedAt
		}
		half, tenth = partsOf(asked, a.ApprovalTimeoutAt)
	}
	for moment, at := range map[string]time.Time{"half": half, "tenth": tenth} {
		if err := t.Gorm().Exec(moveNotice, at, a.ID, moment).Error; err != nil {
			return fmt.Errorf("move notices: %w", err)
		}
	}
	if err := t.Gorm().Exec(hurryNotices, a.ID, t.Now, a.ApprovalTimeoutAt).Error; err != nil {
		return fmt.Errorf("move notices: %w", err)
	}
	t.noticed()
	return nil
}

// noticesEnd drops the notices about a request that has left pending, and sends its outcome to those who got one.
func (t *Tx) noticesEnd(a *models.Approval) error {
	if w, err := t.recipients(); err != nil || w.nobody() {
		return err
	}
	dropped, err := t.Exec(t.s.hot.dropNotices, a.ID)
	if err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	told, err := t.Exec(t.s.hot.waitsNoMore, a.ID)
	if err != nil {
		return fmt.Errorf("end notices: %w", err)
	}
	if dropped+told > 0 {
		t.noticed()
	}
	if told == 0 {
		return nil
	}
	if _, err := t.Exec(t.s.hot.dropUnsent, a.ID); err != nil {
		return fmt.Errorf("drop messages: %w", err)
	}
	var by models.UserID
	if a.DecidedBy != nil {
		by = *a.DecidedBy
	}
	var channels []models.Channel
	if err := t.Gorm().Raw(`SELECT channel_id AS id, kind FROM (`+followUps+`)`, a.ID,
		by).Scan(&channels).Error; err != nil {
		return fmt.Errorf("read who was told: %w", err)
	}
	for i := range channels {
		if err := t.QueueNotice(&channels[i], models.NoticeSettled, a.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// QueueNotice puts a message on its way, unless it follows another and the channel has no threads.
func (t *Tx) QueueNotice(
	c *models.Channel, kind models.NoticeKind, request models.ResponseID, about models.ChannelID,
) error {
	if kind == models.NoticeSettled && !c.Kind.FollowsUp() {
		return nil
	}
	send := &models.NoticeSend{
		ID: models.NewID[string](), ChannelID: c.ID, Kind: kind, ResponseID: request, About: about, At: t.Now, DueAt: t.Now,
	}
	if err := t.Gorm().Create(send).Error; err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	t.noticed()
	return nil
}

// noticesLeave drops the notices to people who are no longer asked.
func (t *Tx) noticesLeave(id models.ResponseID, users []models.UserID) error {
	if w, err := t.recipients(); err != nil || w.nobody() {
		return err
	}
	if err := t.Gorm().Exec(forgetToTell, id, users).Error; err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	if err := t.Gorm().Exec(leftUntold, id, users).Error; err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	return nil
}

// editAwaits has the groups told that an edit of a pending request was handed to.
func (t *Tx) editAwaits(a *models.Approval, vote *models.Vote) error {
	w, err := t.recipients()
	if err != nil || len(w.groups) == 0 {
		return err
	}
	who, _ := vote.Waits()
	return t.awaitsGroups(w, &a.Response, who)
}
