package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
)

// newCode is six random digits.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("make code: %w", err)
	}
	return fmt.Sprintf("%06d", n), nil
}

// sendCode sends a new code; the one before is void. It is sealed as long as it is valid: a reader of the database
// could otherwise verify an address of somebody else.
func (t *tx) sendCode(actor models.Actor, id models.ChannelID, address string) error {
	if err := t.countCode(actor.UserID(), address); err != nil {
		return err
	}
	code, err := newCode()
	if err != nil {
		return err
	}
	ciphertext, err := t.p.opts.Seal(code, aboutCode(id))
	if err != nil {
		return err
	}
	if err := t.Gorm().Exec(`UPDATE channels SET code_sealed = ?, code_expires = ?, code_tries = 0 WHERE id = ?`,
		ciphertext, t.Now.Add(models.CodeLife), id).Error; err != nil {
		return fmt.Errorf("store code: %w", err)
	}
	if err := t.Gorm().Exec(`DELETE FROM notice_sends WHERE channel_id = ? AND kind = ?`, id,
		models.NoticeCode).Error; err != nil {
		return fmt.Errorf("drop old code: %w", err)
	}
	send := &models.NoticeSend{ID: models.NewID[string](), ChannelID: id, Kind: models.NoticeCode, At: t.Now, DueAt: t.Now}
	if err := t.Gorm().Create(send).Error; err != nil {
		return fmt.Errorf("send code: %w", err)
	}
	t.Publish(events.Notices)
	return nil
}

// countCode refuses a person and an address that had enough codes in the last hour.
func (t *tx) countCode(user models.UserID, address string) error {
	since := t.Now.Add(-models.CodesWindow)
	if err := t.Gorm().Exec(`DELETE FROM notification_codes WHERE at <= ? OR at > ?`, since, t.Now).Error; err != nil {
		return fmt.Errorf("drop old codes: %w", err)
	}
	var sent []models.NotificationCode
	if err := t.Gorm().Where("user_id = ? OR address_digest = ?", user,
		address).Order("at").Find(&sent).Error; err != nil {
		return fmt.Errorf("count codes: %w", err)
	}
	var byPerson, toAddress []time.Time
	for _, c := range sent {
		if c.UserID == user {
			byPerson = append(byPerson, c.At)
		}
		if c.AddressDigest == address {
			toAddress = append(toAddress, c.At)
		}
	}
	for _, limit := range []struct {
		at   []time.Time
		most int
		text string
	}{
		{toAddress, models.CodesPerAddress, "This address was sent %d codes within an hour, which is the limit."},
		{byPerson, models.CodesPerPerson, "You have had %d codes sent within an hour, which is the limit."},
	} {
		if len(limit.at) < limit.most {
			continue
		}
		e := models.Errorf(models.CodeTooManyRequests, limit.text, limit.most)
		free := limit.at[len(limit.at)-limit.most].Add(models.CodesWindow)
		e.RetryAfterSeconds = int(free.Sub(t.Now)/time.Second) + 1
		return e
	}
	c := &models.NotificationCode{ID: models.NewID[string](), UserID: user, AddressDigest: address, At: t.Now}
	if err := t.Gorm().Create(c).Error; err != nil {
		return fmt.Errorf("count code: %w", err)
	}
	return nil
}

// ResendCode sends another code to a channel that is not verified; the one before is void.
// Codes: forbidden, not_found, conflict (it is verified), too_many_requests.
func (p *People) ResendCode(ctx context.Context, actor models.Actor, id models.ChannelID) error {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return err
	}
	return p.write(ctx, func(t *tx) error {
		c, err := t.channel(actor, id)
		if err != nil {
			return err
		}
		if c.VerifiedAt != nil {
			return models.Errorf(models.CodeConflict, "This channel is verified already.")
		}
		secret, err := t.secretOf(id)
		if err != nil {
			return err
		}
		return t.sendCode(actor, id, secret.AddressDigest)
	})
}

// VerifyChannel has a channel used from now on, if the code is the one that was sent to it.
// Codes: forbidden, not_found, invalid (naming "code"). A wrong code is counted: after
// models.CodeTries of them only a new one helps.
func (p *People) VerifyChannel(ctx context.Context, actor models.Actor, id models.ChannelID, code string) error {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return err
	}
	code = strings.TrimSpace(code)
	var wrong error // stored before it is returned
	err := p.write(ctx, func(t *tx) error {
		wrong = nil
		c, err := t.channel(actor, id)
		if err != nil || c.VerifiedAt != nil {
			return err
		}
		secret, err := t.secretOf(id)
		if err != nil {
			return err
		}
		if secret.CodeSealed == nil || secret.CodeExpires == nil || !t.Now.Before(*secret.CodeExpires) ||
			secret.CodeTries >= models.CodeTries {
			return models.Invalid("code", "has expired: have a new one sent")
		}
		want, err := p.opts.Unseal(secret.CodeSealed, aboutCode(id))
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(code)) != 1 {
			wrong = models.Invalid("code", "is not the one that was sent")
			return t.Gorm().Exec(`UPDATE channels SET code_tries = code_tries + 1 WHERE id = ?`, id).Error
		}
		return t.verified(actor, c)
	})
	if err != nil {
		return err
	}
	return wrong
}

func (t *tx) verified(actor models.Actor, c *models.Channel) error {
	if err := t.changes("channels", c.ID); err != nil {
		return err
	}
	if err := t.Gorm().Exec(`UPDATE channels SET verified_at = ?, code_sealed = NULL, code_expires = NULL, code_tries = 0 WHERE id = ?`, t.Now, c.ID).Error; err != nil {
		return fmt.Errorf("verify channel: %w", err)
	}
	t.Publish(events.Notices)
	return t.record(actor, "channel.verified", ledger.Subject{Owner: c.UserID},
		channelData{Channel: c.ID, Kind: c.Kind, Group: c.GroupID})
}

func (t *tx) secretOf(id models.ChannelID) (*models.ChannelSecret, error) {
	var secret models.ChannelSecret
	if err := t.Gorm().Where("id = ?", id).Take(&secret).Error; err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	return &secret, nil
}

// OpenCode is the code that is to be sent to a channel; empty: there is none that is good.
func (p *People) OpenCode(c *models.ChannelSecret, now time.Time) (string, error) {
	if c.CodeSealed == nil || c.CodeExpires == nil || !now.Before(*c.CodeExpires) {
		return "", nil
	}
	return p.opts.Unseal(c.CodeSealed, aboutCode(c.ID))
}
