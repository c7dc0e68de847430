package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/nodes"
	"countersign/models/people"
	"countersign/models/requests"
)

// What other rooms and their workers ask of the store: notices, webhooks. A room after the
// store asks within its Tx, one before it by what Open gave it, within a share of its own.

// HoldsLease refuses a caller that has lost the lease, with CodeConflict: nothing is written.
func (t *Tx) HoldsLease(l *models.Lease) error { return nodes.Holds(t.Tx, l) }

// checkTarget judges addresses of webhooks by the hosts that are allowed; nil: nothing does.
func (s *Store) checkTarget() func(ctx context.Context, field, url string) error {
	if s.opts.CheckTarget == nil {
		return nil
	}
	return func(ctx context.Context, field, url string) error {
		hosts, err := s.People.HostsForSending(ctx)
		if err != nil {
			return err
		}
		return s.opts.CheckTarget(ctx, field, url, hosts)
	}
}

var (
	channelsOfPerson = `SELECT c.* FROM channels c` + db.ByChannelsInUse + ` JOIN users u ON u.id = c.user_id
 WHERE c.user_id || c.group_id = ? AND ` + people.ChannelUsable + ` AND ` + people.MayDecide(`u`)
	// channelsOfAdmin are those by which an admin learns of what no other person can mend. That a webhook was paused its
	// owner hears, if they are an admin with a channel, else all admins.
	channelsOfAdmin = channelsOfPerson + ` AND u.role = 'admin'`
	enabledAdmins   = `SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL ORDER BY id`
)

// tellOfPause has the owner of a webhook told that it was paused; all admins if the owner
// can't be told.
func (s *Store) tellOfPause(share *db.Tx, h *models.Webhook) error {
	t := s.within(share)
	told, err := t.tellBy(channelsOfAdmin, h.OwnerID, models.NoticeWebhookPaused, "", models.ChannelID(h.ID))
	if err != nil || told {
		return err
	}
	return t.tellAdmins(models.NoticeWebhookPaused, "", models.ChannelID(h.ID))
}

// tellAdmins has all admins told.
func (t *Tx) tellAdmins(kind models.NoticeKind, request models.ResponseID, about models.ChannelID) error {
	return t.tellAdminsBut("", kind, request, about)
}

func (t *Tx) tellAdminsBut(but models.UserID, kind models.NoticeKind, request models.ResponseID, about models.ChannelID) error {
	var admins []models.UserID
	if err := t.Gorm().Raw(enabledAdmins).Scan(&admins).Error; err != nil {
		return fmt.Errorf("read admins: %w", err)
	}
	for _, id := range admins {
		if id == but {
			continue
		}
		if _, err := t.tellBy(channelsOfAdmin, id, kind, request, about); err != nil {
			return err
		}
	}
	return nil
}

// TellAdmins has all admins but one told at once, within the share of a room behind the store.
func TellAdmins(t *Tx, kind models.NoticeKind, about models.ChannelID, but models.UserID) error {
	return t.tellAdminsBut(but, kind, "", about)
}

// tellBy has a person told at once by some of their channels, and reports whether they have any.
func (t *Tx) tellBy(
	channelsOf string, to models.UserID, kind models.NoticeKind, request models.ResponseID, about models.ChannelID,
) (told bool, err error) {
	var channels []models.Channel
	if err := t.Gorm().Raw(channelsOf+` ORDER BY c.id`, to).Scan(&channels).Error; err != nil {
		return false, fmt.Errorf("read channels: %w", err)
	}
	for i := range channels {
		if err := t.QueueNotice(&channels[i], kind, request, about); err != nil {
			return false, err
		}
	}
	return len(channels) > 0, nil
}

// RequestOfEvent is a request as it holds now, for who sends events about it; nil: there is
// none. It judges no rights.
func (s *Store) RequestOfEvent(ctx context.Context, id models.ResponseID) (*models.Approval, error) {
	now := s.db.Now()
	a, err := s.Requests.ReadApproval(context.WithoutCancel(ctx), id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, err
	}
	return requests.At(a, now), nil
}

// NameOf is the name of a person, for who sends events about them; empty: there is none.
func (s *Store) NameOf(ctx context.Context, id models.UserID) (string, error) {
	var names []string
	if err := s.db.Gorm(ctx).Raw(`SELECT name FROM users WHERE id = ?`, id).Scan(&names).Error; err != nil ||
		len(names) == 0 {
		return "", err
	}
	return names[0], nil
}

// NotificationSettings are when a person or group is notified; nil: they have no channel that works, or may not sign
// in.
func (t *Tx) NotificationSettings(recipient models.RecipientID) (*models.NotificationSettings, error) {
	w, err := t.recipients()
	if err != nil {
		return nil, err
	}
	return w.settings[recipient], nil
}

var namesOfDeciders = `SELECT u.id, u.name FROM deciders JOIN users u ON u.id = deciders.user_id WHERE ` + people.MayDecide(`u`) + ` AND `

// WhoMayApprove are the people who have a pending request in their inbox, may sign in and may
// approve it: whose agent asks perhaps may not.
func (t *Tx) WhoMayApprove(a *models.Approval) ([]models.User, error) {
	var all, out []models.User
	if err := t.Gorm().Raw(namesOfDeciders+decidersOf+` ORDER BY u.name, u.id`, a.ID, a.OwnerID,
		a.ApprovalTimeoutAt).Scan(&all).Error; err != nil {
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
