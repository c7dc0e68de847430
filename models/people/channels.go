package people

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// ChannelUsable is true of a channel c, as SQL, of somebody who may sign in, or of a group in use.
const ChannelUsable = `c.removed_at IS NULL AND c.verified_at IS NOT NULL AND c.disabled_at IS NULL`

// channelsInUse are the channels of a person or group, oldest first.
const channelsInUse = `SELECT * FROM channels` + db.ByChannelsInUse +
	` WHERE user_id || group_id = ? AND removed_at IS NULL ORDER BY id`

// channelData is what the ledger keeps of a change to a channel: of its target a digest.
type channelData struct {
	Channel models.ChannelID   `json:"channel"`
	Kind    models.ChannelKind `json:"kind"`
	Group   models.GroupID     `json:"group,omitzero"`
	Label   string             `json:"label_digest,omitzero"`
}

func (t *tx) recordChannel(actor models.Actor, action string, c *models.Channel, target []byte) error {
	data := channelData{Channel: c.ID, Kind: c.Kind, Group: c.GroupID}
	if target != nil {
		data.Label = models.DigestOfText(c.Label)
	}
	return t.record(actor, action, ledger.Subject{Owner: c.UserID}, data)
}

// onlyPeopleHaveChannels refuses programs: whom a channel belongs to is who is signed in.
func onlyPeopleHaveChannels(actor models.Actor) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only people have notifications.")
	}
	return nil
}

// Channels are the actor's own, oldest first. People only, else CodeForbidden.
func (p *People) Channels(ctx context.Context, actor models.Actor) ([]models.Channel, error) {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return nil, err
	}
	return channelsOf(p.db.Gorm(ctx), models.RecipientID(actor.UserID()))
}

// GroupChannels are those of a group, oldest first. For admins and the operator, else
// CodeForbidden.
func (p *People) GroupChannels(
	ctx context.Context, actor models.Actor, group models.GroupID,
) ([]models.Channel, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	return channelsOf(p.db.Gorm(ctx), models.RecipientID(group))
}

func channelsOf(pool *gorm.DB, of models.RecipientID) (out []models.Channel, err error) {
	if of == "" {
		return nil, nil
	}
	if err := pool.Raw(channelsInUse, of).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("list channels: %w", err)
	}
	return out, nil
}

// AddChannel adds a channel for the actor, or for a group, which admins may. All but a
// browser are sent a code, and told of nothing before VerifyChannel has it.
//
// Codes: forbidden, invalid (naming the field), not_found (the group), conflict (too many
// channels, or the same one again), too_many_requests (codes).
func (p *People) AddChannel(ctx context.Context, actor models.Actor, in models.ChannelInput) (*models.Channel, error) {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return nil, err
	}
	if in.Group != "" && !actor.MayAdminister() {
		return nil, models.AdminsOnly()
	}
	label, err := checkChannel(&in)
	if err != nil {
		return nil, err
	}
	if in.Kind == models.ChannelWebPush && (in.Group != "" || actor.SessionID == "") {
		return nil, models.Invalid("kind", "must be another: a browser is told while somebody is signed in with it")
	}
	c := &models.Channel{ID: models.NewID[models.ChannelID](), GroupID: in.Group, Kind: in.Kind, Label: label}
	if in.Group == "" {
		c.UserID = actor.UserID()
	}
	ciphertext, err := p.sealTarget(c.ID, in.Target)
	if err != nil {
		return nil, err
	}
	secret := &models.ChannelSecret{ID: c.ID, TargetSealed: ciphertext, AddressDigest: addressDigest(in.Kind, in.Target)}
	if c.Kind == models.ChannelWebPush {
		secret.SessionID = actor.SessionID
	}
	err = p.write(ctx, func(t *tx) error { return t.addChannel(actor, c, secret) })
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (t *tx) addChannel(actor models.Actor, c *models.Channel, secret *models.ChannelSecret) error {
	if c.Kind == models.ChannelWebPush {
		if err := t.removeBrowser(actor, secret.AddressDigest); err != nil {
			return err
		}
	}
	if err := t.roomForChannel(c, secret.AddressDigest); err != nil {
		return err
	}
	c.CreatedAt, c.VerifiedAt = t.Now, nil
	if !c.Kind.NeedsCode() {
		c.VerifiedAt = &t.Now
	}
	if err := t.Gorm().Exec(`INSERT INTO channels (id, user_id, group_id, kind, label, created_at, verified_at, session_id, target_sealed, address_digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.ID, c.UserID, c.GroupID, c.Kind, c.Label, c.CreatedAt, c.VerifiedAt, secret.SessionID, secret.TargetSealed, secret.AddressDigest).Error; err != nil {
		return fmt.Errorf("store channel: %w", err)
	}
	if c.Kind.NeedsCode() {
		if err := t.sendCode(actor, c.ID, secret.AddressDigest); err != nil {
			return err
		}
	}
	t.Publish(events.Notices)
	t.adds("channels", c.ID)
	return t.recordChannel(actor, "channel.added", c, secret.TargetSealed)
}

// roomForChannel refuses one too many, and one that is there already.
func (t *tx) roomForChannel(c *models.Channel, address string) error {
	if c.GroupID != "" {
		var groups int64
		if err := t.Gorm().Model(&models.Group{}).Where("id = ? AND removed_at IS NULL",
			c.GroupID).Count(&groups).Error; err != nil {
			return fmt.Errorf("look for group: %w", err)
		}
		if groups == 0 {
			return models.NotFound("group")
		}
	}
	var digests []string
	if err := t.Gorm().Raw(`SELECT address_digest FROM channels`+db.ByChannelsInUse+` WHERE user_id || group_id = ? AND removed_at IS NULL`, c.Recipient()).Scan(&digests).Error; err != nil {
		return fmt.Errorf("look for channels: %w", err)
	}
	if slices.Contains(digests, address) {
		return models.Errorf(models.CodeConflict, "There is already a channel to this address.")
	}
	if len(digests) >= models.MaxChannels {
		return models.Errorf(models.CodeConflict, "There are %d channels, which is the limit: remove one first.",
			len(digests))
	}
	return nil
}

// RemoveChannel removes a channel of the actor, or of a group, which admins may. Its queued messages are not sent.
// Codes: forbidden, not_found.
func (p *People) RemoveChannel(ctx context.Context, actor models.Actor, id models.ChannelID) error {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return err
	}
	return p.writeAnyway(ctx, func(t *tx) error {
		c, err := t.channel(actor, id)
		if err != nil {
			return err
		}
		return t.removeChannel(actor, c)
	})
}

// removeChannel forgets where a channel goes. Its row stays for the messages that it sent.
func (t *tx) removeChannel(actor models.Actor, c *models.Channel) error {
	if err := t.changes("channels", c.ID); err != nil {
		return err
	}
	removal := t.Gorm().Exec(`UPDATE channels SET removed_at = ?, target_sealed = NULL, code_sealed = NULL, code_expires = NULL WHERE id = ? AND removed_at IS NULL`, t.Now, c.ID)
	if removal.Error != nil {
		return fmt.Errorf("remove channel: %w", removal.Error)
	}
	if !db.ExactlyOne(removal.RowsAffected) {
		return models.NotFound("channel")
	}
	if err := t.Gorm().Exec(`DELETE FROM notice_sends WHERE channel_id = ?`, c.ID).Error; err != nil {
		return fmt.Errorf("drop messages: %w", err)
	}
	if err := DropUntold(t.Gorm(), c.Recipient()); err != nil {
		return err
	}
	t.Publish(events.Notices)
	return t.recordChannel(actor, "channel.removed", c, nil)
}

// DropUntold drops the notices to somebody who has no channel left. The digest stays: it is theirs again with the next
// channel.
func DropUntold(pool *gorm.DB, of models.RecipientID) error {
	if err := pool.Exec(`DELETE FROM notices WHERE recipient = ?1 AND response_id <> '' AND NOT EXISTS (SELECT 1 FROM channels`+db.ByChannelsInUse+`
 WHERE user_id || group_id = ?1 AND removed_at IS NULL AND disabled_at IS NULL AND verified_at IS NOT NULL)`, of).Error; err != nil {
		return fmt.Errorf("drop notices: %w", err)
	}
	return nil
}

// removeChannelsOf removes all channels of a group.
func (t *tx) removeChannelsOf(actor models.Actor, group models.GroupID) error {
	all, err := channelsOf(t.Gorm(), models.RecipientID(group))
	if err != nil {
		return err
	}
	for i := range all {
		if err := t.removeChannel(actor, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// removeBrowser removes the channels of a browser in which somebody has signed in again: those of all earlier sessions,
// of any person.
func (t *tx) removeBrowser(actor models.Actor, address string) error {
	var all []models.Channel
	if err := t.Gorm().Raw(`SELECT * FROM channels`+db.ByChannelsBrowsers+` WHERE removed_at IS NULL AND kind = 'web_push' AND address_digest = ? ORDER BY id`, address).Scan(&all).Error; err != nil {
		return fmt.Errorf("look for channels: %w", err)
	}
	for i := range all {
		if err := t.removeChannel(actor, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

// RemovePushOf removes in a transaction the browsers' channels of a session that is over.
func (p *People) RemovePushOf(in *db.Tx, user models.UserID, session models.SessionID) error {
	t := &tx{Tx: in, p: p}
	return t.removePush(models.System("notifier"), user, session)
}

// removePush removes the browser's channels of a session.
func (t *tx) removePush(actor models.Actor, user models.UserID, session models.SessionID) error {
	return t.removePushIf(actor, user, func(of models.SessionID) bool { return of == session })
}

// removePushBut removes all browsers' channels of a person but those of keep, which may be
// empty.
func (t *tx) removePushBut(actor models.Actor, user models.UserID, keep models.SessionID) error {
	return t.removePushIf(actor, user, func(of models.SessionID) bool { return keep == "" || of != keep })
}

func (t *tx) removePushIf(actor models.Actor, user models.UserID, over func(models.SessionID) bool) error {
	all, err := channelsOf(t.Gorm(), models.RecipientID(user))
	if err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		if c.Kind != models.ChannelWebPush {
			continue
		}
		secret, err := t.secretOf(c.ID)
		if err != nil {
			return err
		}
		if !over(secret.SessionID) {
			continue
		}
		if err := t.removeChannel(actor, c); err != nil {
			return err
		}
	}
	return nil
}

// channel is one in use that the actor may change; CodeNotFound, also for those of others.
func (t *tx) channel(actor models.Actor, id models.ChannelID) (*models.Channel, error) {
	return channelFor(t.Gorm(), actor, id)
}

func channelFor(pool *gorm.DB, actor models.Actor, id models.ChannelID) (*models.Channel, error) {
	var c models.Channel
	err := pool.Where("id = ? AND removed_at IS NULL", id).Take(&c).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, models.NotFound("channel")
	}
	if err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	if c.UserID != actor.UserID() && (c.GroupID == "" || !actor.MayAdminister()) {
		return nil, models.NotFound("channel")
	}
	return &c, nil
}

// WebhookSecret signs the messages of a generic webhook; it is for those who may change the channel. Codes: forbidden,
// not_found, also for channels of other kinds.
func (p *People) WebhookSecret(ctx context.Context, actor models.Actor, id models.ChannelID) (string, error) {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return "", err
	}
	pool := p.db.Gorm(ctx)
	c, err := channelFor(pool, actor, id)
	if err != nil {
		return "", err
	}
	if c.Kind != models.ChannelWebhook {
		return "", models.NotFound("secret")
	}
	var secret models.ChannelSecret
	if err := pool.Where("id = ?", id).Take(&secret).Error; err != nil {
		return "", fmt.Errorf("read channel: %w", err)
	}
	target, err := p.OpenTarget(&secret)
	return target.Token, err
}

// TestOf is what sends a test by a channel that the actor may change. Codes: forbidden,
// not_found, conflict (it is not verified).
func (p *People) TestOf(ctx context.Context, actor models.Actor, id models.ChannelID) (*models.Sending, error) {
	if err := onlyPeopleHaveChannels(actor); err != nil {
		return nil, err
	}
	pool := p.db.Gorm(ctx)
	c, err := channelFor(pool, actor, id)
	if err != nil {
		return nil, err
	}
	if c.VerifiedAt == nil {
		return nil, models.Errorf(models.CodeConflict, "Verify this channel first: enter the code that was sent to it.")
	}
	var secret models.ChannelSecret
	if err := pool.Where("id = ?", id).Take(&secret).Error; err != nil {
		return nil, fmt.Errorf("read channel: %w", err)
	}
	out := &models.Sending{Channel: *c, Notice: models.Notice{ID: models.NewID[string](), Kind: models.NoticeTest}}
	out.Target, err = p.OpenTarget(&secret)
	return out, err
}
