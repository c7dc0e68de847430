package store

import (
	"fmt"

	"countersign/models"
	"countersign/models/events"
)

const (
	decidersOf    = `SELECT user_id FROM deciders INDEXED BY deciders_response WHERE response_id = ?`
	movesDeciders = `UPDATE deciders SET deadline = ? WHERE response_id = ?`
)

// tellDeciders tells those who may decide a pending request, and all who look at
// it, that something about it changed. It returns whom it was routed to, beside
// the owner: they read the entry too.
func (t *tx) tellDeciders(a *models.Approval) (routed []models.UserID, err error) {
	var all []models.UserID
	if err := t.Gorm().Raw(decidersOf, a.ID).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("read deciders: %w", err)
	}
	t.Publish(events.InboxOfAdmins, events.Approval(string(a.ID)), events.Conversation(string(a.ConversationID)))
	for _, user := range all {
		t.Publish(events.InboxOf(string(user)))
		if user != a.OwnerID {
			routed = append(routed, user)
		}
	}
	return routed, nil
}
