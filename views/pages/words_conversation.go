package pages

import (
	"time"

	"countersign/models"
)

// conversationName is a conversation's title, or what it is where it has none.
func conversationName(c *models.ConversationView) string {
	title := conversationTitle(c)
	switch {
	case title != "":
		return title
	case c.Standing:
		return c.AgentName + " – single requests"
	}
	return "Untitled conversation"
}

// conversationTitle is a conversation's title, or else the name that the agent
// gave its run. Both are claims.
func conversationTitle(c *models.ConversationView) string {
	if c.Title == "" {
		return deref(c.RunID)
	}
	return c.Title
}

// ConversationLabel is what a conversation is called: its title, or the name that
// the agent gave its run; empty for the agent's standing one. Both are claims.
func ConversationLabel(a *models.Approval) string {
	if a.ConversationTitle == "" && a.RunID != nil {
		return *a.RunID
	}
	return a.ConversationTitle
}

func askedAt(r *models.Response) time.Time {
	if r.ApprovalRequestedAt != nil {
		return *r.ApprovalRequestedAt
	}
	return r.CreatedAt
}
