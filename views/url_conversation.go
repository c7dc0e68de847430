package views

import (
	"net/url"
	"strconv"

	"countersign/models"
)

// ConversationsURL lists conversations; a POST to it begins one.
func ConversationsURL() string { return "/conversations" }

// NewConversationURL is the form that begins a conversation.
func NewConversationURL() string { return "/conversations/new" }

// ConversationURL shows one conversation, at the end of its history.
func ConversationURL(id models.ConversationID) string {
	return "/conversations/" + url.PathEscape(string(id))
}

// ConversationEndURL is ConversationURL, scrolled to where it goes on.
func ConversationEndURL(id models.ConversationID) string { return ConversationURL(id) + "#end" }

// ConversationPageURL shows the entries before a sequence number; 0 is the end.
func ConversationPageURL(id models.ConversationID, before int64) string {
	if before == 0 {
		return ConversationURL(id)
	}
	return with(ConversationURL(id), "before", strconv.FormatInt(before, 10))
}

// ConversationPartURL answers with one part of the page, for the part's own
// refetch.
func ConversationPartURL(id models.ConversationID, part string) string {
	return with(ConversationURL(id), "part", part)
}

// ConversationAfterURL answers with what came after a sequence number, for the
// history's own growth.
func ConversationAfterURL(id models.ConversationID, after int64) string {
	return with(ConversationURL(id), "part", "after", "after", strconv.FormatInt(after, 10))
}

// ConversationEntryURL answers with one response of the history, for its own
// refetch.
func ConversationEntryURL(id models.ConversationID, response models.ResponseID) string {
	return with(ConversationURL(id), "part", "entry", "entry", string(response))
}

// ConversationDraftURL answers with what the built-in agent is writing.
func ConversationDraftURL(id models.ConversationID) string { return ConversationURL(id) + "/draft" }

// SayURL takes the POST of a message.
func SayURL(id models.ConversationID) string { return ConversationURL(id) + "/say" }

// ConversationDecideURL takes the POST of a verdict and leads back to the
// conversation.
func ConversationDecideURL(id models.ConversationID, response models.ResponseID) string {
	return ConversationURL(id) + "/decide/" + url.PathEscape(string(response))
}

// SteerURL takes the POST that pauses, resumes, stops, archives or unarchives.
func SteerURL(id models.ConversationID) string { return ConversationURL(id) + "/steer" }

// AfterRejectionURL takes the POST of what a rejection does to the rest of its batch.
func AfterRejectionURL(id models.ConversationID) string { return ConversationURL(id) + "/on-reject" }

// RenameURL takes the POST of a new title.
func RenameURL(id models.ConversationID) string { return ConversationURL(id) + "/rename" }

// BudgetURL takes the POST that changes a conversation's budget.
func BudgetURL(id models.ConversationID) string { return ConversationURL(id) + "/budget" }

// ConversationTopic is the event sent when a conversation changed.
func ConversationTopic(id models.ConversationID) string { return "conversation:" + string(id) }

// DraftTopic is the event sent when the built-in agent wrote on.
func DraftTopic(id models.ConversationID) string { return "draft:" + string(id) }

// stream is the page's own stream of events: what concerns its reader, and what
// the page shows.
func (p Page) stream() string {
	pairs := []string{"conversation", string(p.Conversation), "agent", string(p.Agent)}
	for _, id := range p.Watch {
		pairs = append(pairs, "approval", string(id))
	}
	return with(EventsURL(), append(pairs, "since", p.Since)...)
}

// ConversationBatchURL answers with the batch that begins with a call, for its
// own refetch.
func ConversationBatchURL(id models.ConversationID, first models.ResponseID) string {
	return with(ConversationURL(id), "part", "batch", "entry", string(first))
}

// CallURL shows all that is kept of a tool call: what it was called with, and
// what it gave.
func CallURL(id models.ConversationID, call models.ResponseID) string {
	return ConversationURL(id) + "/calls/" + url.PathEscape(string(call))
}

// CloseCallURL takes the POST that closes a call that is stuck.
func CloseCallURL(id models.ConversationID, call models.ResponseID) string {
	return CallURL(id, call) + "/close"
}
