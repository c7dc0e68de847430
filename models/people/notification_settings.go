package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// NotificationSettings are the actor's own; who has set none has the default. People only,
// else CodeForbidden.
func (p *People) NotificationSettings(ctx context.Context, actor models.Actor) (models.NotificationSettings, error) {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return models.NotificationSettings{}, err
	}
	return SettingsOf(p.db.Gorm(ctx), actor.UserID())
}

// SettingsOf are the settings of a person.
func SettingsOf(pool *gorm.DB, user models.UserID) (models.NotificationSettings, error) {
	var row models.NotificationSettingsRow
	err := pool.Where("user_id = ?", user).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		out := models.DefaultNotificationSettings()
		out.UserID = user
		return out, nil
	}
	if err != nil {
		return models.NotificationSettings{}, fmt.Errorf("read notification settings: %w", err)
	}
	out := models.NotificationSettings{
		UserID: user, DigestAt: row.DigestAt, QuietFrom: row.QuietFrom, QuietTo: row.QuietTo, Zone: row.Zone,
		CriticalBreaksThrough: row.CriticalBreaksThrough,
	}
	if err := json.Unmarshal([]byte(row.Moments), &out.Moments); err != nil {
		return out, fmt.Errorf("read notification settings: %w", err)
	}
	return out, nil
}

// SetNotificationSettings changes the actor's own; the same again is harmless. They count for notices from now on, and
// quiet hours at once. People only, else CodeForbidden; CodeInvalid names every field that is wrong.
func (p *People) SetNotificationSettings(
	ctx context.Context, actor models.Actor, in models.NotificationSettings,
) error {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return err
	}
	in.UserID = actor.UserID()
	if err := in.Check(); err != nil {
		return err
	}
	moments, err := json.Marshal(in.Moments)
	if err != nil {
		return fmt.Errorf("write notification settings: %w", err)
	}
	row := models.NotificationSettingsRow{
		UserID: in.UserID, Moments: string(moments), DigestAt: in.DigestAt, QuietFrom: in.QuietFrom, QuietTo: in.QuietTo,
		Zone: in.Zone, CriticalBreaksThrough: in.CriticalBreaksThrough,
	}
	return p.write(ctx, func(t *tx) error {
		var was []models.NotificationSettingsRow
		if err := t.Gorm().Where("user_id = ?", in.UserID).Limit(1).Find(&was).Error; err != nil {
			return fmt.Errorf("read notification settings: %w", err)
		}
		if len(was) == 1 && was[0] == row {
			return nil
		}
		if len(was) == 1 {
			if err := t.hurry(&was[0]); err != nil {
				return err
			}
		}
		return t.setSettings(actor, &in, &row)
	})
}

// hurry looks again at what the quiet hours before put off to their end.
func (t *tx) hurry(was *models.NotificationSettingsRow) error {
	quiet := models.NotificationSettings{QuietFrom: was.QuietFrom, QuietTo: was.QuietTo, Zone: was.Zone}
	end, ok := quiet.QuietUntil(t.Now)
	if !ok {
		return nil
	}
	if err := t.Gorm().Exec(`UPDATE notices`+db.ByNoticesDue+` SET due_at = ? WHERE recipient = ? AND due_at = ?`, t.Now,
		was.UserID, db.Stamp(end)).Error; err != nil {
		return fmt.Errorf("hurry notices: %w", err)
	}
	return nil
}

func (t *tx) setSettings(
	actor models.Actor, in *models.NotificationSettings, row *models.NotificationSettingsRow,
) error {
	if err := t.changes("notification_settings", row.UserID); err != nil {
		return err
	}
	if err := t.Gorm().Exec(`INSERT INTO notification_settings (user_id, moments, digest_at, quiet_from, quiet_to, zone, critical_breaks_through) VALUES (?, ?, ?, ?, ?, ?, ?)`+
		db.OrReplace("user_id", "moments", "digest_at", "quiet_from", "quiet_to", "zone", "critical_breaks_through"),
		row.UserID, row.Moments, row.DigestAt, row.QuietFrom, row.QuietTo, row.Zone, row.CriticalBreaksThrough).Error; err != nil {
		return fmt.Errorf("store notification settings: %w", err)
	}
	if err := t.Gorm().Exec(`DELETE FROM notices WHERE response_id = '' AND recipient = ? AND moment = ?`, in.UserID,
		models.NoticeDigest).Error; err != nil {
		return fmt.Errorf("drop digest: %w", err)
	}
	if at, ok := in.NextDigest(t.Now); ok {
		due := &models.DueNotice{Recipient: models.RecipientID(in.UserID), Moment: models.NoticeDigest, DueAt: db.Stamp(at)}
		if err := t.Gorm().Create(due).Error; err != nil {
			return fmt.Errorf("store digest: %w", err)
		}
	}
	t.Publish(events.Notices)
	return t.record(actor, "notifications.changed", ledger.Subject{Owner: in.UserID}, struct{}{})
}
