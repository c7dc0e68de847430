package words

import (
	"time"

	"countersign/models"
)

// ConversationName is a conversation's title, or what it is where it has none.
func ConversationName(c *models.ConversationView) string {
	title := ConversationTitle(c)
	switch {
	case title != "":
		return title
	case c.Standing:
		return c.AgentName + " – single requests"
	}
	return "Untitled conversation"
}

// ConversationTitle is a conversation's title, or else the name that the agent
// gave its run. Both are claims.
func ConversationTitle(c *models.ConversationView) string {
	if c.Title == "" {
		return Deref(c.RunID)
	}
	return c.Title
}

// ConversationLabel is the name of a conversation: its title, or the name that the agent gave its run; empty for the
// agent's default one. Both are claims.
func ConversationLabel(a *models.Approval) string {
	if a.ConversationTitle == "" && a.RunID != nil {
		return *a.RunID
	}
	return a.ConversationTitle
}

// AskedAt is when it was asked.
func AskedAt(r *models.Response) time.Time {
	if r.ApprovalRequestedAt != nil {
		return *r.ApprovalRequestedAt
	}
	return r.CreatedAt
}
