package api

import (
	"encoding/json"
	"time"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// The examples are one story: an agent asks to deploy, Ada approves.
const (
	exampleID           = "0198a5c2-7d10-7c33-a2f4-6d1f1f0b7d42"
	exampleWish         = "0198a5c2-7d44-7f02-8c61-51d0c4a7b900"
	exampleConversation = "0198a5c2-7c02-7aa1-9e57-2b8f0c4d9e11"
	exampleUser         = "0198a5b0-1f44-7d0e-8c6a-94d2b7a1c003"
	exampleNote         = "0198a5c2-f1a0-7b1c-8e44-94d2b7a1c0f3"
	exampleAgent        = "0198a5b0-1f44-7d0e-8c6a-94d2b7a1c0a1"
	exampleDigest       = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
)

var (
	exampleInput = json.RawMessage(`{"version":"1.4","target":"production"}`)
	exampleTime  = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
)

// examplePending is a request that waits.
func examplePending() *wire.Approval {
	timeout := exampleTime.Add(5 * time.Minute)
	return &wire.Approval{
		ApprovalID: exampleID, ConversationID: exampleConversation, Agent: exampleAsker(), Sequence: 7,
		Kind: wire.KindToolCall, ToolName: "deploy", Input: exampleInput,
		Explained: wire.Explained{Description: "1.4 to production"},
		ToolUseID: new("toolu_01"), RunID: new("release-1.4"),
		Digest: exampleDigest, Risk: wire.Risk(models.RiskHigh), Status: wire.StatusPending,
		Advice:           models.Advice(models.StatusPending, models.CauseNone, models.KindToolCall),
		RequiresApproval: true, RequestedAt: exampleTime, Timestamp: exampleTime, TimeoutAt: &timeout,
		Policy: wire.Policy{
			Version: 3, Rule: "production", Reason: "Deployments to production need approval.",
			SelfApproval: wire.SelfApproval(models.SelfAllowed),
		},
		URL: "https://sign.example.com/approvals/" + exampleID,

		Reviewers: []string{"Ada Lovelace", models.AdminReviewers}, WaitingFor: "a decision by Ada Lovelace or an admin",
	}
}

func exampleAsker() wire.Asker {
	return wire.Asker{
		ID: exampleAgent, Name: "release-bot", Owner: wire.Named[wire.UserID]{ID: exampleUser, Name: "Ada Lovelace"},
	}
}

// exampleSettled is the same request, approved.
func exampleSettled() *wire.Approval {
	a := examplePending()
	a.Status, a.Cause = wire.StatusApproved, wire.Cause(models.CauseReviewer)
	a.Reviewers, a.WaitingFor = nil, ""
	a.Advice = models.Advice(models.Status(a.Status), models.Cause(a.Cause), models.Kind(a.Kind))
	a.Decision = &wire.Decision{
		Approved: true, Reason: "go", By: &wire.Decider{ID: exampleUser, Name: "Ada Lovelace"},
		At: exampleTime.Add(40 * time.Second), Input: exampleInput,
	}
	respond(a)
	return a
}

// exampleSpent is the budget request of a conversation that has spent its budget.
func exampleSpent() *wire.Approval {
	a := examplePending()
	a.Kind, a.ToolName, a.Input, a.ToolUseID, a.TimeoutAt, a.Risk = wire.KindBudget, models.ToolSetBudget, json.RawMessage(`{"budget":150}`), nil, nil, wire.Risk(models.RiskMedium)
	a.Description, a.Policy = "100 of 100 units of energy are spent, and the next response needs 1.", wire.Policy{Version: 3, SelfApproval: wire.SelfApproval(models.SelfAllowed)}
	a.Advice = models.Advice(models.Status(a.Status), models.Cause(a.Cause), models.Kind(a.Kind))
	return a
}

// exampleHeld is a request of another system, which is sent the decision first.
func exampleHeld() *wire.Approval {
	a := examplePending()
	a.Held, a.WaitingFor = exampleHolding(), "delivery of the decision to release gate"
	a.Origin = &wire.Origin{
		Upstream: "release gate", CallID: new("call-c17ea629"), MatchedBy: wire.MatchedBy(models.MatchedByInput),
	}
	return a
}

// exampleUndo is a request whose approval may still be taken back.
func exampleUndo() *wire.Approval {
	a := examplePending()
	a.Held = &wire.Held{Reason: "undo", Until: new(exampleTime.Add(50 * time.Second))}
	a.WaitingFor = "the release of Ada Lovelace's approval in 8 seconds"
	return a
}

// exampleQuestion is what a reviewer asks back, and its answer.
func exampleQuestion() wire.Note {
	ada := authorOf(models.ActorUser, exampleUser, "Ada Lovelace")
	return wire.Note{OpenNote: wire.OpenNote{
		ID: exampleNote, Text: "Is the migration in it?", By: ada, At: exampleTime.Add(30 * time.Second),
	}, Asks: true}
}

func exampleAnswer() wire.Note {
	bot := authorOf(models.ActorAgent, exampleAgent, "release-bot")
	return wire.Note{OpenNote: wire.OpenNote{
		ID: "0198a5c3-0a55-7f0e-9d61-2b8f0c4d9e22", Text: "No, it ran yesterday.", By: bot,
		At: exampleTime.Add(90 * time.Second),
	}}
}

func exampleExtended() *wire.Approval {
	a := examplePending()
	a.TimeoutAt = new(exampleTime.Add(40*time.Second + time.Hour))
	return a
}

func exampleHolding() *wire.Held {
	return &wire.Held{Reason: "upstream", Until: new(exampleTime.Add(10*time.Minute + 40*time.Second))}
}

func exampleCancelled() *wire.Approval {
	a := examplePending()
	a.Status, a.Cause = wire.StatusCancelled, wire.Cause(models.CauseCancelled)
	a.Reviewers, a.WaitingFor = nil, ""
	a.Advice = models.Advice(models.Status(a.Status), models.Cause(a.Cause), models.Kind(a.Kind))
	a.Decision = &wire.Decision{Reason: "withdrawn by the agent", At: exampleTime.Add(40 * time.Second)}
	respond(a)
	return a
}

// approvalDocs are the operations of the approval queue.
func approvalDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"ask": {
			requests: map[string]any{
				"call": &wire.AskRequest{
					ToolUseID: "toolu_01", RunID: "release-1.4", ToolName: "deploy", Input: exampleInput,
					Explanation: wire.Explanation{Description: "1.4 to production"},
				},
				"question": &wire.AskRequest{
					ToolUseID: "toolu_02", RunID: "release-1.4", Kind: wire.KindQuestion,
					Explanation: wire.Explanation{Description: "Which region first?"},
					Options:     []wire.Option{{Name: "eu", Title: "Europe"}, {Name: "us", Title: "United States"}},
				},
			},
			answers: map[int]any{200: exampleSettled(), 202: examplePending()},
			problems: []models.Code{
				models.CodeBudgetExhausted, models.CodeKeyConflict, models.CodeIDTaken, models.CodeOtherAgent,
				models.CodeTooManyRequests, models.CodeTooManyPending,
			},
			spent: exampleSpent(),
		},
		"get-approval": {
			answers:  map[int]any{200: exampleSettled()},
			problems: []models.Code{models.CodeNotFound},
		},
		"cancel-approval": {
			answers: map[int]any{200: exampleCancelled()},
			problems: []models.Code{
				models.CodeForbidden, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided,
				models.CodeWrongDecisionKind,
			},
			conflict: exampleSettled(), held: exampleHeld(),
		},
		"add-note": {
			requests: map[string]any{
				"question": &wire.NoteRequest{Text: "Is the migration in it?"},
				"answer":   &wire.NoteRequest{Text: "No, it ran yesterday."},
			},
			answers: map[int]any{201: &wire.NoteResult{
				ApprovalID: exampleID, Note: exampleAnswer(), TimeoutAt: new(exampleTime.Add(6 * time.Minute)),
			}},
			problems: []models.Code{
				models.CodeForbidden, models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired,
				models.CodeBeingDecided, models.CodeWrongDecisionKind,
			},
			conflict: exampleSettled(), held: exampleUndo(),
		},
		"list-notes": {
			answers:  map[int]any{200: &wire.Notes{Notes: []wire.Note{exampleQuestion(), exampleAnswer()}}},
			problems: []models.Code{models.CodeNotFound},
		},
		"extend-approval": {
			requests: map[string]any{"an_hour": &wire.ExtendRequest{Minutes: 60}},
			answers:  map[int]any{200: exampleExtended()},
			problems: []models.Code{
				models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired,
				models.CodeBeingDecided, models.CodeWrongDecisionKind,
			},
			conflict: exampleSettled(), held: exampleUndo(),
		},
		"undo-approval": {
			answers: map[int]any{200: examplePending()},
			problems: []models.Code{
				models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeConflict,
			},
			conflict: exampleSettled(), held: exampleUndo(),
		},
		"withdraw-decision": {
			requests: map[string]any{"refused": &wire.WithdrawRequest{Reason: "The other system is broken until Monday."}},
			answers:  map[int]any{200: examplePending()},
			problems: []models.Code{
				models.CodeForbidden, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided,
				models.CodeConflict, models.CodeCommentRequired,
			},
			conflict: exampleSettled(), held: exampleHeld(),
		},
		"respond": {
			requests: map[string]any{
				"approve":   &wire.RespondRequest{Approved: new(true), Reason: "go", Digest: exampleDigest},
				"checklist": &wire.RespondRequest{Approved: new(true), Digest: exampleDigest, Checked: []int{0, 1}},
				"edit": &wire.RespondRequest{
					Approved: new(true), Digest: exampleDigest, Input: json.RawMessage(`{"version":"1.4","target":"staging"}`),
				},
				"reject":            &wire.RespondRequest{Approved: new(false), Reason: "not on a Friday"},
				"settle_a_question": &wire.RespondRequest{Option: new("eu")},
			},
			answers: map[int]any{
				200: &wire.RespondResult{
					Success: true, ApprovalID: exampleID, Status: wire.StatusApproved,
					Response: wire.Responded{Approved: true, Reason: "go", Timestamp: exampleTime.Add(40 * time.Second)},
				},
				202: &wire.RespondResult{
					Success: true, ApprovalID: exampleID, Status: wire.StatusPending, Held: exampleHolding(),
					Response: wire.Responded{Approved: true, Reason: "go", Timestamp: exampleTime.Add(40 * time.Second)},
				},
			},
			problems: []models.Code{
				models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired,
				models.CodeBeingDecided, models.CodeDigestMismatch,
				models.CodeDigestRequired, models.CodeWrongDecisionKind, models.CodeTakesNoEdits, models.CodeCommentRequired,
				models.CodeResponseRequired,
			},
			conflict: exampleSettled(), held: exampleHeld(),
		},
		"list-approvals": {
			answers:  map[int]any{200: &wire.Page{Approvals: []*wire.Approval{exampleSettled()}, Next: "MTcyOA"}},
			problems: listProblems,
		},
		"list-pending": {
			answers: map[int]any{200: &wire.PendingPage{Pending: []*wire.Approval{exampleHeld()}}}, problems: listProblems,
		},
		"approval-stats": {
			answers: map[int]any{200: &wire.Stats{PendingCount: 1, ResolversCount: 1, ResponsesCount: 4}},
		},
	}
}
