package api

import (
	"encoding/json"
	"time"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// exampleInvocation is the request of the other examples in this surface's words.
func exampleInvocation() *wire.Invocation {
	decided, timeout := exampleTime.Add(40*time.Second), exampleTime.Add(5*time.Minute)
	return &wire.Invocation{
		ToolUseID: "toolu_01", ToolCallID: exampleID, Agent: exampleAsker(), JobID: new("job-812"), SessionID: "release-1.4",
		ToolName: "deploy", ToolInput: exampleInput,
		Explained: wire.Explained{Description: "1.4 to production"}, RequiresApproval: true, Status: wire.ToolApproved,
		Cause: wire.Cause(models.CauseReviewer), Risk: wire.Risk(models.RiskHigh),
		Digest: exampleDigest, RequestedAt: exampleTime, TimeoutAt: &timeout, DecidedAt: &decided,
		DecidedBy: &wire.Decider{ID: exampleUser, Name: "Ada Lovelace"}, Reason: "go",
	}
}

func examplePendingInvocation() *wire.Invocation {
	i := exampleInvocation()
	i.Status, i.Cause, i.DecidedAt, i.DecidedBy, i.Reason = wire.ToolPending, wire.Cause(models.CauseNone), nil, nil, "Deployments to production need approval."
	i.Reviewers, i.WaitingFor = []string{"Ada Lovelace", models.AdminReviewers}, "a decision by Ada Lovelace or an admin"
	return i
}

func exampleHeldInvocation() *wire.Invocation {
	i := examplePendingInvocation()
	i.Held = exampleHolding()
	return i
}

func exampleSpentInvocation() *wire.Invocation {
	i := examplePendingInvocation()
	i.Kind, i.ToolUseID, i.ToolName, i.ToolInput = wire.KindBudget, "", models.ToolSetBudget, json.RawMessage(`{"budget":150}`)
	i.Description, i.JobID, i.TimeoutAt, i.Risk, i.Reason = "100 of 100 units of energy are spent, and the next response needs 1.", nil, nil, wire.Risk(models.RiskMedium), ""
	return i
}

func exampleToolAnswer() *wire.ToolAnswer {
	i := examplePendingInvocation()
	return &wire.ToolAnswer{
		RequiresApproval: true, Status: i.Status, ToolUseID: i.ToolUseID, ToolCallID: i.ToolCallID,
		JobID: i.JobID, SessionID: i.SessionID, TimeoutAt: i.TimeoutAt, Reason: i.Reason, Reviewers: i.Reviewers,
		WaitingFor: i.WaitingFor,
	}
}

func exampleConfig() *wire.ApprovalConfig {
	return &wire.ApprovalConfig{
		RequiredApprovalTools: []string{"send_email", "/.*delete.*/"}, DefaultTimeoutMinutes: 10, ApprovalEnabled: true,
	}
}

// toolDocs are the operations of the tool approval surface.
func toolDocs() map[string]operationDoc {
	return map[string]operationDoc{
		"request-tool-approval": {
			requests: map[string]any{"call": &wire.ToolRequest{
				ToolUseID: "toolu_01", JobID: "job-812", ToolName: "deploy", ToolInput: exampleInput, SessionID: "release-1.4",
				Explanation: wire.Explanation{Description: "1.4 to production"},
			}},
			answers: map[int]any{200: exampleToolAnswer()},
			problems: []models.Code{
				models.CodeBudgetExhausted, models.CodeKeyConflict, models.CodeIDTaken, models.CodeOtherAgent,
				models.CodeTooManyRequests, models.CodeTooManyPending,
			},
			spent: exampleSpentInvocation(),
		},
		"decide-tool-approval": {
			requests: map[string]any{
				"approve": &wire.ToolDecision{
					ToolUseID: "toolu_01", SessionID: "release-1.4", Decision: string(wire.ToolApproved), Digest: exampleDigest,
				},
				"reject": &wire.ToolDecision{
					ToolUseID: "toolu_01", SessionID: "release-1.4", Decision: string(wire.ToolRejected), Reason: "not on a Friday",
				},
			},
			answers: map[int]any{200: exampleInvocation(), 202: exampleHeldInvocation()},
			problems: []models.Code{
				models.CodeNotAReviewer, models.CodeNotFound, models.CodeAlreadyDecided, models.CodeExpired,
				models.CodeBeingDecided, models.CodeDigestMismatch,
				models.CodeAmbiguousSession, models.CodeDigestRequired, models.CodeWrongDecisionKind, models.CodeCommentRequired,
			},
			conflict: exampleInvocation(), held: exampleHeldInvocation(),
		},
		"get-tool-invocation": {
			answers:  map[int]any{200: exampleInvocation()},
			problems: []models.Code{models.CodeNotFound, models.CodeAmbiguousSession},
		},
		"list-pending-invocations": {
			answers:  map[int]any{200: &wire.PendingInvocations{Pending: []*wire.Invocation{examplePendingInvocation()}}},
			problems: []models.Code{models.CodeAmbiguousSession, models.CodeTooManyRequests},
		},
		"get-approval-config": {
			answers: map[int]any{200: exampleConfig()},
		},
		"change-approval-config": {
			requests: map[string]any{"tools": json.RawMessage(`{"required_approval_tools":["send_email","/.*delete.*/"],"default_timeout_minutes":10}`)},
			answers:  map[int]any{200: exampleConfig()},
		},
		"cleanup-approvals": {
			answers: map[int]any{200: &wire.CleanupResult{Expired: 2}},
		},
	}
}
