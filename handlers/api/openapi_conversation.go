package api

import (
	"encoding/json"
	"time"

	"countersign/models"
)

const exampleMessage models.MessageID = "0198a5c3-2b40-7f00-9d11-51e7c0a4b601"

func exampleBudget() Budget {
	return Budget{Total: new(int64(100)), Used: 12, Remaining: new(int64(88))}
}

func exampleRun() Conversation {
	return Conversation{
		ID: exampleConversation, Title: "Clean up old logs", Status: models.ConversationWaitingInput, Pending: 1,
		Agent: Named[models.AgentID]{ID: "0198a5b0-2a00-7b11-9c00-1f2e3d4c5b6a", Name: "janitor"},
		Owner: Named[models.UserID]{ID: exampleUser, Name: "Ada Lovelace"},
		RunID: new("logs"), OnReject: models.OnRejectContinue, CreatedAt: exampleAsked, UpdatedAt: exampleAsked.Add(time.Minute), Budget: exampleBudget(),
	}
}

// exampleProposal is a proposal that waits.
func exampleProposal() *ConversationResponse {
	status := models.StatusPending
	return &ConversationResponse{
		ResponseID: exampleID, RequestID: exampleConversation, Sequence: 3, Kind: models.KindProposal,
		Content: "Delete the logs that are older than 90 days: 2.1 GB in /var/log/app.", ToolName: models.ToolRespondWithApproval, Energy: 1, EnergyBudget: new(int64(100)),
		ModelUsed: "example-1", Digest: exampleDigest, Risk: models.RiskMedium, RequiresApproval: true, Status: &status,
		Advice: models.Advice(status, models.CauseNone, models.KindProposal), Timestamp: exampleAsked.Add(time.Minute),
		URL: "https://sign.example.com/approvals/" + string(exampleID),
	}
}

func exampleApproved() *ConversationResponse {
	r := exampleProposal()
	r.Status, r.Cause = new(models.StatusApproved), models.CauseReviewer
	r.Advice = models.Advice(*r.Status, r.Cause, r.Kind)
	r.Decision = &Decision{
		Approved: true, Reason: "keep the newest week", By: &Decider{ID: exampleUser, Name: "Ada Lovelace"}, At: exampleAsked.Add(2 * time.Minute),
	}
	return r
}

func exampleHeldResponse() *ConversationResponse {
	r := exampleProposal()
	r.Held = exampleHolding()
	return r
}

func exampleBudgetRequest() *ConversationResponse {
	r := exampleProposal()
	r.Kind, r.Content, r.ToolName, r.EnergyBudget, r.Energy = models.KindBudget, "", models.ToolSetBudget, nil, 0
	r.Input, r.Description = json.RawMessage(`{"budget":150}`), "100 of 100 units of energy are spent, and the next response needs 1."
	r.Advice = models.Advice(models.StatusPending, models.CauseNone, models.KindBudget)
	return r
}

func exampleHistory() *ConversationHistory {
	ada := Author{models.ActorUser, string(exampleUser), "Ada Lovelace"}
	run := exampleRun()
	janitor := Author{models.ActorAgent, string(run.Agent.ID), run.Agent.Name}
	return &ConversationHistory{Conversation: run, After: 3, Entries: []ConversationEntry{
		{
			Sequence: 1, Type: "message", Timestamp: exampleAsked, Author: ada,
			Message: &ConversationMessage{ID: exampleMessage, Content: "The disk is nearly full."},
		},
		{Sequence: 2, Type: "budget", Timestamp: exampleAsked, Author: ada, Budget: &BudgetStep{New: 100}},
		{Sequence: 3, Type: "response", Timestamp: exampleAsked.Add(time.Minute), Author: janitor, Response: exampleProposal()},
	}}
}

// decisionProblems are what deciding in a conversation may be refused for.
var decisionProblems = []models.Code{
	models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeDigestMismatch,
	models.CodeNoPendingApproval, models.CodeDigestRequired, models.CodeWrongDecisionKind, models.CodeCommentRequired,
}

// conversationDocs are the operations of the conversations surface.
var conversationDocs = map[string]operationDoc{
	"send-message": {
		requests: map[string]any{
			"begin":   &MessageRequest{Content: "The disk is nearly full.", EnergyBudget: new(WholeNumber(50))},
			"approve": &MessageRequest{Content: "Go ahead.", ID: string(exampleConversation), ApprovalResponse: &ApprovalResponse{Approved: new(true)}},
			"approve_with_budget": &MessageRequest{
				Content: "Go ahead, and check the other hosts.", ID: string(exampleConversation),
				ApprovalResponse: &ApprovalResponse{Approved: new(true), ResponseID: string(exampleID), Digest: exampleDigest, NewBudget: new(WholeNumber(100))},
			},
			"budget_alone": &MessageRequest{
				Content: "Take your time.", ID: string(exampleConversation), ApprovalResponse: &ApprovalResponse{BudgetChange: new(WholeNumber(50))},
			},
		},
		answers: map[int]any{202: &MessageAnswer{
			ID: exampleConversation, MessageID: new(exampleMessage), Status: models.ConversationRunning,
			Approval: &ApprovalState{ResponseID: exampleID, Kind: models.KindProposal, Status: models.StatusApproved}, Budget: exampleBudget(),
		}},
		problems: append([]models.Code{models.CodeNoBudget, models.CodeTooManyRequests}, decisionProblems...),
		conflict: exampleApproved(), held: exampleHeldResponse(),
	},
	"list-conversations": {
		answers: map[int]any{200: &ConversationPage{Conversations: []Conversation{exampleRun()}, Next: "MTcyOA"}},
	},
	"get-conversation": {
		answers: map[int]any{200: exampleHistory()}, problems: []models.Code{models.CodeNotFound, models.CodeTooManyRequests},
	},
	"list-conversation-approvals": {
		answers: map[int]any{200: &ConversationApprovals{RequestID: exampleConversation, Approvals: []ConversationApproval{{
			ID: exampleID, Kind: models.KindProposal, Content: exampleProposal().Content, Timestamp: exampleAsked.Add(time.Minute),
			Status: models.StatusApproved, ApprovalTimestamp: new(exampleAsked.Add(2 * time.Minute)), Feedback: new("keep the newest week"), Digest: exampleDigest, Risk: models.RiskMedium,
		}}}},
		problems: []models.Code{models.CodeNotFound, models.CodeTooManyRequests},
	},
	"approve-in-conversation": {
		requests: map[string]any{
			"latest":      &ApproveRequest{Feedback: "keep the newest week"},
			"with_budget": &ApproveRequest{ResponseID: string(exampleID), Digest: exampleDigest, NewBudget: new(WholeNumber(100))},
		},
		answers: map[int]any{
			200: &ApproveResult{Status: models.StatusApproved, ResponseID: exampleID, BudgetUpdated: true, NewBudget: new(int64(100))},
			202: &ApproveResult{Status: models.StatusPending, ResponseID: exampleID, Held: exampleHolding()},
		},
		problems: append([]models.Code{models.CodeNoBudget}, decisionProblems...),
		conflict: exampleApproved(), held: exampleHeldResponse(),
	},
	"reject-in-conversation": {
		requests: map[string]any{"latest": &RejectRequest{Feedback: "not while the audit runs"}},
		answers: map[int]any{
			200: &RejectResult{Status: models.StatusRejected, ResponseID: exampleID},
			202: &RejectResult{Status: models.StatusPending, ResponseID: exampleID, Held: exampleHolding()},
		},
		problems: decisionProblems,
		conflict: exampleApproved(), held: exampleHeldResponse(),
	},
	"add-response": {
		requests: map[string]any{
			"reply": &ResponseRequest{Kind: models.KindReply, Content: "I am looking for what fills the disk.", ResponseID: string(exampleID)},
			"proposal": &ResponseRequest{
				Kind: models.KindProposal, Content: exampleProposal().Content, ResponseID: string(exampleID),
				Energy: new(WholeNumber(1)), ModelUsed: "example-1", EnergyBudget: new(WholeNumber(100)),
			},
		},
		answers: map[int]any{200: exampleApproved(), 202: exampleProposal()},
		problems: []models.Code{
			models.CodeBudgetExhausted, models.CodeKeyConflict, models.CodeIDTaken, models.CodeOtherAgent, models.CodeTooManyRequests, models.CodeTooManyPending,
		},
		conflict: exampleApproved(),
		spent:    exampleBudgetRequest(),
	},
	"change-budget": {
		requests: map[string]any{"set": &BudgetRequest{Budget: new(WholeNumber(100))}, "step": &BudgetRequest{Delta: new(WholeNumber(-20))}},
		answers: map[int]any{
			200: &BudgetAnswer{RequestID: exampleConversation, Budget: exampleBudget()},
			202: &BudgetAnswer{
				RequestID: exampleConversation, Budget: exampleBudget(), ApprovalID: new(exampleID),
				Approval: &ApprovalState{ResponseID: exampleID, Kind: models.KindBudget, Status: models.StatusPending},
			},
		},
		problems: []models.Code{models.CodeNotFound, models.CodeNoBudget, models.CodeAlreadyDecided},
		conflict: exampleApproved(),
	},
}
