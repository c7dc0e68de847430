package notices

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	activeAtDesk = `SELECT active_at FROM desk_active WHERE user_id = ? AND active_at > ?`
	dropSeen     = `DELETE FROM notices WHERE recipient = ? AND due_at <= ? AND EXISTS (SELECT 1 FROM seen s
 WHERE s.response_id = notices.response_id AND s.user_id = notices.recipient AND s.active_at > ? AND s.active_at <= ?)`
	bringForward = `UPDATE notices SET due_at = ? WHERE recipient = ? AND due_at > ? AND due_at <= ? AND moment = ? AND response_id <> ''`
	deferAll     = `UPDATE notices SET due_at = ? WHERE recipient = ? AND due_at <= ? AND response_id <> ''`
	toldWaiting  = `SELECT n.response_id, r.risk FROM notified n` + db.ByNotifiedWaiting +
		` JOIN responses r ON r.id = n.response_id
 WHERE n.channel_id = ? AND n.waiting AND r.approval_status = 'pending' AND r.approval_timeout_at > ?`
	toldAt = `SELECT told_at FROM channels WHERE id = ?`
)

// waitForDesk puts off all messages to a person who is active at the desk: there they see the requests come. There is
// no message about the request on the screen at that moment; what else still waits once they have left is sent then.
func (t *tx) waitForDesk(recipient models.RecipientID) (bool, error) {
	var at []time.Time
	if err := t.Gorm().Raw(activeAtDesk, recipient, t.Now.Add(-models.ActiveFor)).Scan(&at).Error; err != nil {
		return false, fmt.Errorf("read who has a page open: %w", err)
	}
	if len(at) == 0 || at[0].After(t.Now) { // the clock was ahead
		return false, nil
	}
	if err := t.Gorm().Exec(dropSeen, recipient, t.Now, t.Now.Add(-models.ActiveFor), t.Now).Error; err != nil {
		return false, fmt.Errorf("drop notices of what is looked at: %w", err)
	}
	if err := t.Gorm().Exec(deferAll, db.Stamp(at[0].Add(models.ActiveFor)), recipient, t.Now).Error; err != nil {
		return false, fmt.Errorf("put notices off: %w", err)
	}
	return true, nil
}

// grown is what a person hears of now: of many only where some channel has something new to say. The rest is put off,
// and counts with later requests (bringForward).
func (t *tx) grown(recipient models.RecipientID, channels []models.Channel, tell []dueRequest) ([]dueRequest, error) {
	if len(tell) <= models.BurstAbove {
		return tell, nil
	}
	for i := range channels {
		if news, err := t.hasNews(&channels[i], tell); err != nil || news {
			return tell, err
		}
	}
	ids := make([]models.ResponseID, 0, len(tell))
	for _, d := range tell {
		ids = append(ids, d.id)
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	if err := t.Gorm().Exec(deferDue, db.Stamp(t.Now.Add(models.NoticePause)), recipient, t.Now,
		string(list)).Error; err != nil {
		return nil, fmt.Errorf("put notices off: %w", err)
	}
	return nil, nil
}

// bringForward makes due the notices that were put off and would be due within a pause: they are sent, or put off
// again, together with those that are due now.
func (t *tx) bringForward(recipient models.RecipientID) error {
	if err := t.Gorm().Exec(bringForward, t.Now, recipient, t.Now, t.Now.Add(models.NoticePause),
		models.NoticeWaiting).Error; err != nil {
		return fmt.Errorf("bring notices forward: %w", err)
	}
	return nil
}

// hasNews reports whether a channel says more by telling of many now than it said last: as
// many again wait, a worse one, a reminder is due, or it is long ago.
func (t *tx) hasNews(c *models.Channel, tell []dueRequest) (bool, error) {
	var last []struct{ ToldAt *time.Time }
	if err := t.Gorm().Raw(toldAt, c.ID).Scan(&last).Error; err != nil {
		return false, fmt.Errorf("read when somebody was told: %w", err)
	}
	if len(last) == 0 || last[0].ToldAt == nil || last[0].ToldAt.After(t.Now) ||
		t.Now.Sub(*last[0].ToldAt) >= models.BurstPause {
		return true, nil
	}
	var waits []struct {
		ResponseID models.ResponseID
		Risk       models.Risk
	}
	if err := t.Gorm().Raw(toldWaiting, c.ID, t.Now).Scan(&waits).Error; err != nil {
		return false, fmt.Errorf("read what was told: %w", err)
	}
	told, worst := map[models.ResponseID]bool{}, models.Risk("")
	for _, w := range waits {
		told[w.ResponseID] = true
		if w.Risk.WorseThan(worst) {
			worst = w.Risk
		}
	}
	fresh := 0
	for _, d := range tell {
		switch {
		case d.kind != models.NoticeWaiting: // a reminder, which comes once
			return true, nil
		case told[d.id]:
			continue
		case d.risk.WorseThan(worst):
			return true, nil
		}
		fresh++
	}
	return fresh >= max(1, len(told)), nil
}
