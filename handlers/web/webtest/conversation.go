package webtest

import (
	"countersign/models"
	"countersign/models/requests"
)

// Conversation is one of the owner's agent with a reply in it, and the budget
// given.
func (w *World) Conversation(budget int64) models.ConversationID {
	w.TB.Helper()
	id := models.NewID[models.ConversationID]()
	w.Respond(id, models.KindReply, "Good morning.", 1)
	if budget >= 0 {
		w.Budget(id, budget)
	}
	return id
}

// Respond has the owner's agent put something forward.
func (w *World) Respond(id models.ConversationID, kind models.Kind, content string, energy int64) *models.Approval {
	w.TB.Helper()
	a, err := w.Store.Respond(w.TB.Context(), w.Agent,
		models.ResponseInput{ConversationID: id, Kind: kind, Content: content, Energy: &energy})
	if err != nil {
		w.TB.Fatalf("respond: %v", err)
	}
	return a
}

// Budget has the owner set a budget.
func (w *World) Budget(id models.ConversationID, budget int64) {
	w.TB.Helper()
	if _, err := w.Store.ChangeBudget(w.TB.Context(), w.Owner, id, models.BudgetChange{Set: &budget}, ""); err != nil {
		w.TB.Fatalf("set budget: %v", err)
	}
}

// BudgetRequest has the agent ask for a budget.
func (w *World) BudgetRequest(id models.ConversationID, want int64) *models.Approval {
	w.TB.Helper()
	got, err := w.Store.ChangeBudget(w.TB.Context(), w.Agent, id, models.BudgetChange{Set: &want}, "Four files are left.")
	if err != nil || got.Approval == nil {
		w.TB.Fatalf("ask for budget: %+v, %v", got, err)
	}
	return got.Approval
}

// Total is the current budget; -1 for none.
func (w *World) Total(id models.ConversationID) int64 {
	w.TB.Helper()
	v, err := w.Store.Requests.Conversation(w.TB.Context(), w.Admin, id)
	if err != nil {
		w.TB.Fatal(err)
	}
	if v.EnergyBudget == nil {
		return -1
	}
	return *v.EnergyBudget
}

// BudgetPath is the page of the budget.
func BudgetPath(id models.ConversationID) string { return "/conversations/" + string(id) + "/budget" }

// ConversationPath is the page of a conversation.
func ConversationPath(id models.ConversationID) string { return "/conversations/" + string(id) }

// Proposes has the owner's agent propose something, and would like a budget of
// want, if it is above 0.
func (w *World) Proposes(id models.ConversationID, content string, want int64) *models.Approval {
	w.TB.Helper()
	in := models.ResponseInput{ConversationID: id, Kind: models.KindProposal, Content: content, ModelUsed: "gpt-x"}
	if want > 0 {
		in.EnergyBudget = &want
	}
	a, err := w.Store.Respond(w.TB.Context(), w.Agent, in)
	if err != nil {
		w.TB.Fatalf("propose: %v", err)
	}
	return a
}

// History is all that was said and done in a conversation.
func (w *World) History(id models.ConversationID) []models.HistoryEntry {
	w.TB.Helper()
	h, err := w.Store.Requests.History(w.TB.Context(), w.Admin, id,
		requests.HistoryQuery{After: requests.FromStart, Limit: models.MaxPage})
	if err != nil {
		w.TB.Fatal(err)
	}
	return h.Entries
}

func callPath(w *World, id models.ConversationID) string {
	w.TB.Helper()
	history, err := w.Store.Requests.History(w.TB.Context(), w.Owner, id, requests.HistoryQuery{})
	if err != nil || len(history.Entries) == 0 {
		w.TB.Fatal(err)
	}
	return ConversationPath(id) + "/calls/" + string(history.Entries[0].Response.ID)
}
