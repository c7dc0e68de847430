package api

import (
	"encoding/json"
	"time"

	"countersign/handlers/api/wire"
	"countersign/models"
)

const exampleMessage models.MessageID = "0198a5c3-2b40-7f00-9d11-51e7c0a4b601"

func exampleBudget() wire.Budget {
	return wire.Budget{Total: new(int64(100)), Used: 12, Remaining: new(int64(88))}
}

func exampleRun() wire.Conversation {
	return wire.Conversation{
		ID: exampleConversation, Title: "Clean up old logs", Status: wire.ConversationStatus(models.ConversationWaitingInput),
		Pending: 1,
		Agent:   wire.Named[wire.AgentID]{ID: "0198a5b0-2a00-7b11-9c00-1f2e3d4c5b6a", Name: "janitor"},
		Owner:   wire.Named[wire.UserID]{ID: exampleUser, Name: "Ada Lovelace"},
		RunID:   new("logs"), OnReject: models.OnRejectContinue, CreatedAt: exampleTime,
		UpdatedAt: exampleTime.Add(time.Minute), Budget: exampleBudget(),
	}
}

// exampleProposal is a proposal that waits.
func exampleProposal() *wire.ConversationResponse {
	return &wire.ConversationResponse{
		ResponseID: exampleID, RequestID: exampleConversation, Sequence: 3, Kind: wire.KindProposal,
		Content:  "Delete the logs that are older than 90 days: 2.1 GB in /var/log/app.",
		ToolName: models.ToolRespondWithApproval, Energy: 1, EnergyBudget: new(int64(100)),
		ModelUsed: "example-1", Digest: exampleDigest, Risk: wire.Risk(models.RiskMedium), RequiresApproval: true,
		Status:    new(wire.StatusPending),
		Advice:    models.Advice(models.StatusPending, models.CauseNone, models.KindProposal),
		Timestamp: exampleTime.Add(time.Minute),
		URL:       "https://sign.example.com/approvals/" + exampleID,
	}
}

func exampleApproved() *wire.ConversationResponse {
	r := exampleProposal()
	r.Status, r.Cause = new(wire.StatusApproved), wire.Cause(models.CauseReviewer)
	r.Advice = models.Advice(models.Status(*r.Status), models.Cause(r.Cause), models.Kind(r.Kind))
	r.Decision = &wire.Decision{
		Approved: true, Reason: "keep the newest week", By: &wire.Decider{ID: exampleUser, Name: "Ada Lovelace"},
		At: exampleTime.Add(2 * time.Minute),
	}
	return r
}

func exampleHeldResponse() *wire.ConversationResponse {
	r := exampleProposal()
	r.Held = exampleHolding()
	return r
}

func exampleBudgetRequest() *wire.ConversationResponse {
	r := exampleProposal()
	r.Kind, r.Content, r.ToolName, r.EnergyBudget, r.Energy = wire.KindBudget, "", models.ToolSetBudget, nil, 0
	r.Input, r.Description = json.RawMessage(`{"budget":150}`), "100 of 100 units of energy are spent, and the next response needs 1."
	r.Advice = models.Advice(models.StatusPending, models.CauseNone, models.KindBudget)
	return r
}

func exampleHistory() *wire.ConversationHistory {
	ada := authorOf(models.ActorUser, exampleUser, "Ada Lovelace")
	run := exampleRun()
	janitor := authorOf(models.ActorAgent, string(run.Agent.ID), run.Agent.Name)
	return &wire.ConversationHistory{Conversation: run, After: 3, Entries: []wire.ConversationEntry{
		{
			Sequence: 1, Type: "message", Timestamp: exampleTime, Author: ada,
			Message: &wire.ConversationMessage{ID: wire.MessageID(exampleMessage), Content: "The disk is nearly full."},
		},
		{Sequence: 2, Type: "budget", Timestamp: exampleTime, Author: ada, Budget: &wire.BudgetStep{New: 100}},
		{
			Sequence: 3, Type: "response", Timestamp: exampleTime.Add(time.Minute), Author: janitor, Response: exampleProposal(),
		},
	}}
}

// decisionProblems are what deciding in a conversation may be refused for.
var decisionProblems = []models.Code{
	models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided,
	models.CodeDigestMismatch,
	models.CodeNoPendingApproval, models.CodeSeveralWaiting, models.CodeDigestRequired, models.CodeWrongDecisionKind,
	models.CodeCommentRequired,
}

// conversationDocs are the operations of the conversations surface.
func conversationDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"send-message": {
			requests: map[string]any{
				"begin": &wire.MessageRequest{Content: "The disk is nearly full.", EnergyBudget: new(wire.WholeNumber(50))},
				"approve": &wire.MessageRequest{
					Content: "Go ahead.", ID: exampleConversation, ApprovalResponse: &wire.ApprovalResponse{Approved: new(true)},
				},
				"approve_with_budget": &wire.MessageRequest{
					Content: "Go ahead, and check the other hosts.", ID: exampleConversation,
					ApprovalResponse: &wire.ApprovalResponse{
						Approved: new(true), ResponseID: exampleID, Digest: exampleDigest, NewBudget: new(wire.WholeNumber(100)),
					},
				},
				"budget_alone": &wire.MessageRequest{
					Content: "Take your time.", ID: exampleConversation,
					ApprovalResponse: &wire.ApprovalResponse{BudgetChange: new(wire.WholeNumber(50))},
				},
			},
			answers: map[int]any{202: &wire.MessageAnswer{
				ID: exampleConversation, MessageID: (*wire.MessageID)(new(exampleMessage)),
				Status:   wire.ConversationStatus(models.ConversationRunning),
				Approval: &wire.ApprovalState{ResponseID: exampleID, Kind: wire.KindProposal, Status: wire.StatusApproved},
				Budget:   exampleBudget(),
			}},
			problems: append([]models.Code{models.CodeNoBudget, models.CodeTooManyRequests}, decisionProblems...),
			conflict: exampleApproved(), held: exampleHeldResponse(),
		},
		"list-conversations": {
			answers: map[int]any{200: &wire.ConversationPage{Conversations: []wire.Conversation{exampleRun()}, Next: "MTcyOA"}},
		},
		"get-conversation": {
			answers:  map[int]any{200: exampleHistory()},
			problems: []models.Code{models.CodeNotFound, models.CodeTooManyRequests},
		},
		"list-conversation-approvals": {
			answers: map[int]any{200: &wire.ConversationApprovals{
				RequestID: exampleConversation,
				Approvals: []wire.ConversationApproval{{
					ID: exampleID, Agent: exampleAsker(), Kind: wire.KindProposal, Content: exampleProposal().Content,
					Timestamp: exampleTime.Add(time.Minute),
					Status:    wire.StatusApproved, ApprovalTimestamp: new(exampleTime.Add(2 * time.Minute)),
					Feedback: new("keep the newest week"), Digest: exampleDigest, Risk: wire.Risk(models.RiskMedium),
				}},
			}},
			problems: []models.Code{models.CodeNotFound, models.CodeTooManyRequests},
		},
		"approve-in-conversation": {
			requests: map[string]any{
				"latest": &wire.ApproveRequest{Feedback: "keep the newest week"},
				"with_budget": &wire.ApproveRequest{
					ResponseID: exampleID, Digest: exampleDigest, NewBudget: new(wire.WholeNumber(100)),
				},
			},
			answers: map[int]any{
				200: &wire.ApproveResult{
					Status: wire.StatusApproved, ResponseID: exampleID, BudgetUpdated: true, NewBudget: new(int64(100)),
				},
				202: &wire.ApproveResult{Status: wire.StatusPending, ResponseID: exampleID, Held: exampleHolding()},
			},
			problems: append([]models.Code{models.CodeNoBudget}, decisionProblems...),
			conflict: exampleApproved(), held: exampleHeldResponse(),
		},
		"reject-in-conversation": {
			requests: map[string]any{"latest": &wire.RejectRequest{Feedback: "not while the audit runs"}},
			answers: map[int]any{
				200: &wire.RejectResult{Status: wire.StatusRejected, ResponseID: exampleID},
				202: &wire.RejectResult{Status: wire.StatusPending, ResponseID: exampleID, Held: exampleHolding()},
			},
			problems: decisionProblems,
			conflict: exampleApproved(), held: exampleHeldResponse(),
		},
		"add-response": {
			requests: map[string]any{
				"reply": &wire.ResponseRequest{
					Kind: wire.KindReply, Content: "I am looking for what fills the disk.", ResponseID: exampleID,
				},
				"proposal": &wire.ResponseRequest{
					Kind: wire.KindProposal, Content: exampleProposal().Content, ResponseID: exampleID,
					Energy: new(wire.WholeNumber(1)), ModelUsed: "example-1", EnergyBudget: new(wire.WholeNumber(100)),
				},
			},
			answers: map[int]any{200: exampleApproved(), 202: exampleProposal()},
			problems: []models.Code{
				models.CodeBudgetExhausted, models.CodeKeyConflict, models.CodeIDTaken, models.CodeOtherAgent,
				models.CodeTooManyRequests, models.CodeTooManyPending,
			},
			conflict: exampleApproved(),
			spent:    exampleBudgetRequest(),
		},
		"change-budget": {
			requests: map[string]any{
				"set":  &wire.BudgetRequest{Budget: new(wire.WholeNumber(100))},
				"step": &wire.BudgetRequest{Delta: new(wire.WholeNumber(-20))},
			},
			answers: map[int]any{
				200: &wire.BudgetAnswer{RequestID: exampleConversation, Budget: exampleBudget()},
				202: &wire.BudgetAnswer{
					RequestID: exampleConversation, Budget: exampleBudget(), ApprovalID: new(wire.ResponseID(exampleID)),
					Approval: &wire.ApprovalState{ResponseID: exampleID, Kind: wire.KindBudget, Status: wire.StatusPending},
				},
			},
			problems: []models.Code{models.CodeNotFound, models.CodeNoBudget, models.CodeKeyConflict, models.CodeAlreadyDecided},
			conflict: exampleApproved(),
		},
	}
}
