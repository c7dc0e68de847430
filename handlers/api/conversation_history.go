package api

import (
	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// historyOf shows a page of a history; after is what the reader had read.
func historyOf(kit handlers.Kit, v *models.ConversationView, h *models.History, after int64) *wire.ConversationHistory {
	out := &wire.ConversationHistory{
		Conversation: conversationOf(v), Entries: make([]wire.ConversationEntry, 0, len(h.Entries)),
		After: max(h.After, after),
	}
	if h.Before != 0 {
		out.Before = &h.Before
	}
	for i := range h.Entries {
		out.Entries = append(out.Entries, entryOf(kit, &h.Entries[i]))
	}
	return out
}

func entryOf(kit handlers.Kit, e *models.HistoryEntry) wire.ConversationEntry {
	out := wire.ConversationEntry{Sequence: e.Sequence, Timestamp: e.At}
	switch {
	case e.Message != nil:
		m := e.Message
		out.Type, out.Author = "message", authorOf(m.AuthorKind, m.AuthorID, m.AuthorName)
		out.Message = &wire.ConversationMessage{
			ID: wire.MessageID(m.ID), Content: m.Content, ResponseID: (*wire.ResponseID)(m.ResponseID), Removed: m.Removed,
		}
	case e.Response != nil:
		r := e.Response
		out.Type, out.Author = "response", authorOf(models.ActorAgent, string(r.AgentID), r.AgentName)
		out.Response = responseOf(kit, r)
	case e.Budget != nil:
		b := e.Budget
		out.Type, out.Author = "budget", authorOf(b.ActorKind, b.ActorID, b.ActorName)
		out.Budget = &wire.BudgetStep{Old: b.Old, New: b.New, Reason: b.Reason, ResponseID: (*wire.ResponseID)(b.ResponseID)}
	}
	return out
}

func authorOf(kind models.ActorKind, id, name string) wire.Author {
	return wire.Author{Kind: wire.ActorKind(kind), ID: id, Name: name}
}
