package api

import (
	"time"

	"countersign/handlers"
	"countersign/models"
)

// ConversationHistory is a conversation with one page of what was said and done
// in it, oldest first.
type ConversationHistory struct {
	Conversation

	Entries []ConversationEntry `json:"entries"`
	Before  *int64              `json:"before" doc:"For the page before this one; null: this is the beginning"`
	After   int64               `json:"after" doc:"The last sequence that was read: for what comes after"`
}

// ConversationEntry is one thing in a conversation: the member that Type names
// is set.
type ConversationEntry struct {
	Sequence  int64                 `json:"sequence"`
	Type      string                `json:"type" enum:"message,response,budget"`
	Timestamp time.Time             `json:"timestamp"`
	Author    Author                `json:"author"`
	Message   *ConversationMessage  `json:"message,omitempty"`
	Response  *ConversationResponse `json:"response,omitempty"`
	Budget    *BudgetStep           `json:"budget,omitempty"`
}

// Author is who said or did something.
type Author struct {
	Kind models.ActorKind `json:"kind" enum:"user,agent,system,operator"`
	ID   string           `json:"id"`
	Name string           `json:"name"`
}

// ConversationMessage is what was said by a person, or by the system.
type ConversationMessage struct {
	ID         models.MessageID   `json:"id"`
	Content    string             `json:"content"`
	ResponseID *models.ResponseID `json:"responseId" doc:"What was decided together with it; null: nothing"`
	Removed    *string            `json:"removed,omitempty" doc:"Set when the content was removed: the text that stands in its place"`
}

// BudgetStep is one change of the budget.
type BudgetStep struct {
	Old        *int64             `json:"old" doc:"Null: there was none"`
	New        int64              `json:"new"`
	Reason     string             `json:"reason"`
	ResponseID *models.ResponseID `json:"responseId" doc:"The request whose decision brought it; null: none"`
}

// historyOf shows a page of a history; after is what the reader had read.
func historyOf(kit handlers.Kit, v *models.ConversationView, h *models.History, after int64) *ConversationHistory {
	out := &ConversationHistory{Conversation: conversationOf(v), Entries: make([]ConversationEntry, 0, len(h.Entries)), After: max(h.After, after)}
	if h.Before != 0 {
		out.Before = &h.Before
	}
	for i := range h.Entries {
		out.Entries = append(out.Entries, entryOf(kit, &h.Entries[i]))
	}
	return out
}

func entryOf(kit handlers.Kit, e *models.HistoryEntry) ConversationEntry {
	out := ConversationEntry{Sequence: e.Sequence, Timestamp: e.At}
	switch {
	case e.Message != nil:
		m := e.Message
		out.Type, out.Author = "message", Author{m.AuthorKind, m.AuthorID, m.AuthorName}
		out.Message = &ConversationMessage{ID: m.ID, Content: m.Content, ResponseID: m.ResponseID, Removed: m.Removed}
	case e.Response != nil:
		r := e.Response
		out.Type, out.Author = "response", Author{models.ActorAgent, string(r.AgentID), r.AgentName}
		out.Response = responseOf(kit, r)
	case e.Budget != nil:
		b := e.Budget
		out.Type, out.Author = "budget", Author{b.ActorKind, b.ActorID, b.ActorName}
		out.Budget = &BudgetStep{Old: b.Old, New: b.New, Reason: b.Reason, ResponseID: b.ResponseID}
	}
	return out
}
