package views

import (
	"strconv"

	"countersign/models"
)

// BudgetPageURL shows a conversation's budget with the changes before a sequence
// number; 0 is the newest.
func BudgetPageURL(id models.ConversationID, before int64) string {
	if before == 0 {
		return BudgetURL(id)
	}
	return with(BudgetURL(id), "before", strconv.FormatInt(before, 10))
}

// ConversationFilter is what narrows the list of conversations, as it is in
// the address.
type ConversationFilter struct {
	Status   string // of models.ConversationStatus
	Agent    string // its id
	Owner    string // an e-mail or an id, for admins
	Archived bool
}

// Any reports whether anything narrows.
func (f ConversationFilter) Any() bool { return f != ConversationFilter{} }

// ConversationListURL is the list of conversations, narrowed, going on after a
// page's key (empty: from the most recently active).
func ConversationListURL(f ConversationFilter, after string) string {
	archived := ""
	if f.Archived {
		archived = "true"
	}
	return with(ConversationsURL(), "status", f.Status, "agent", f.Agent, "owner", f.Owner, "archived", archived, "after",
		after)
}
