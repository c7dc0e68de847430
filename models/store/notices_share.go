package store

import (
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// What the room of notices asks of the store, within a share of its own.

// Request reads a request whoever it belongs to; nil: there is none. It judges no rights.
func (s *Store) Request(share *db.Tx, id models.ResponseID) (*models.Approval, error) {
	return s.within(share).standing(id)
}

// NotificationSettings are when somebody is told of something; nil: they have no channel that
// works, or may not sign in.
func (s *Store) NotificationSettings(share *db.Tx, recipient models.RecipientID) (*models.NotificationSettings, error) {
	w, err := s.within(share).told()
	if err != nil {
		return nil, err
	}
	return w.settings[recipient], nil
}

// QueueNotice puts a message on its way, unless it follows another and the channel has no threads.
func (s *Store) QueueNotice(share *db.Tx, c *models.Channel, kind models.NoticeKind, request models.ResponseID, about models.ChannelID) error {
	return s.within(share).queue(c, kind, request, about)
}

const namesOfDeciders = `SELECT u.id, u.name FROM deciders JOIN users u ON u.id = deciders.user_id WHERE u.disabled_at IS NULL AND `

// WhoMayApprove are the people who have a pending request in their inbox, may sign in and may
// approve it: whose agent asks perhaps may not.
func (s *Store) WhoMayApprove(share *db.Tx, a *models.Approval) ([]models.User, error) {
	t := s.within(share)
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
