package api

import (
	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
)

func budgetOf(b models.Budget) wire.Budget {
	return wire.Budget{Total: b.Total, Used: b.Used, Reserved: b.Reserved, Remaining: b.Remaining()}
}

// conversationOf and responseOf are the only mapping from stored rows to this surface.
func conversationOf(v *models.ConversationView) wire.Conversation {
	return wire.Conversation{
		ID: wire.ConversationID(v.ID), Title: v.Title, Status: wire.ConversationStatus(v.Status), RunID: v.RunID,
		ParentRunID: v.ParentRunID, OnReject: v.OnReject, Pending: v.Pending,
		Agent:    wire.Named[wire.AgentID]{ID: wire.AgentID(v.AgentID), Name: v.AgentName},
		Owner:    wire.Named[wire.UserID]{ID: wire.UserID(v.OwnerID), Name: v.OwnerName},
		PausedAt: v.PausedAt, ArchivedAt: v.ArchivedAt, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		Budget: budgetOf(v.Budget()),
	}
}

func responseOf(kit handlers.Kit, a *models.Approval) *wire.ConversationResponse {
	status := a.Status()
	input, reported := inputOf(a)
	out := &wire.ConversationResponse{
		ResponseID: wire.ResponseID(a.ID), RequestID: wire.ConversationID(a.ConversationID), Sequence: a.Sequence,
		Kind: wire.Kind(a.Kind), Content: a.Content, ToolName: a.ToolName,
		ToolUseID: a.ToolUseID, BatchID: a.BatchID, IsCompleted: a.IsCompleted,
		Input: input, ReportedInput: reported, Options: optionsOf(a.Options), Explained: wire.Explained(a.AgentExplanation()),
		Energy: a.Energy, EnergyBudget: a.EnergyBudget,
		ModelUsed: a.ModelUsed, Digest: a.Digest, Risk: wire.Risk(a.Risk), Checklist: a.Checklist(),
		RequiresApproval: a.NeedsApproval(), Cause: wire.Cause(a.Cause),
		Timestamp: a.CreatedAt, TimeoutAt: timeoutOf(a), Removed: a.RemovedText(),
	}
	if !needsNone(a) {
		out.URL, out.Advice = kit.ApprovalURL(a.ID), a.Advice(status)
		out.Status, out.Decision, out.Held, out.OpenNote = new(shown(a)), decisionOf(a, status), heldOf(a), openNoteOf(a)
	}
	return out
}

// needsNone reports whether a response is a reply, which needs no decision.
func needsNone(a *models.Approval) bool { return a.Status() == models.StatusNone && !a.LetThrough() }

// approvalStateOf gives the short form of a request's state; nil for none.
func approvalStateOf(a *models.Approval) *wire.ApprovalState {
	if a == nil {
		return nil
	}
	return &wire.ApprovalState{
		ResponseID: wire.ResponseID(a.ID), Kind: wire.Kind(a.Kind), Status: shown(a), Held: heldOf(a),
	}
}

func conversationPath(id models.ConversationID) string { return "/conversations/" + string(id) }
