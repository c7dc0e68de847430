package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers"
	"countersign/models"
)

// commonProblems are the codes that an operation may answer with because it needs a token, needs a capability, or has
// a body.
func commonProblems(op *huma.Operation) []models.Code {
	if op.Path == "/openapi.json" {
		return []models.Code{handlers.CodeUnknownHost, models.CodeInternal}
	}
	if len(op.Security) == 0 {
		return []models.Code{models.CodeInternal}
	}
	codes := []models.Code{
		models.CodeUnauthenticated, handlers.CodeUnknownHost, models.CodeInvalid, models.CodeUnavailable, models.CodeInternal,
	}
	if who, ok := op.Metadata[metadataWho].(Capability); ok && who != Anyone {
		codes = append(codes, models.CodeForbidden)
	}
	if op.RequestBody != nil {
		codes = append(codes, models.CodeTooLarge)
	}
	if op.Method != http.MethodGet {
		codes = append(codes, models.CodeDiskFull)
	}
	return codes
}

// problemTexts are the details of the examples. A code without one has its title
// for a detail.
var problemTexts = map[models.Code]string{
	models.CodeDigestRequired:    "Approving a request of high risk needs the digest that was shown.",
	models.CodeWrongDecisionKind: "This is a question: answer it, choose an option, or decline it with approved: false.",
	models.CodeTakesNoEdits:      "The agent would run the input that it sent: reject the request, and send the other one as suggestedInput. (input: can't be edited)",
	models.CodeCommentRequired:   "The other system requires a reason for a rejection. (reason: is required)",
	models.CodeResponseRequired:  "A question needs an answer that is not empty.",
	models.CodeUnauthenticated:   "A bearer token is needed: Authorization: Bearer TOKEN.",
	models.CodeForbidden:         "Only a person may do this: use a reviewer's token or the page.",
	models.CodeNotAReviewer:      "You can't approve this request; you may reject it. Only finance@example.com can approve.",
	models.CodeNotFound:          "No pending approval request for ID: 0198a5c2-7d10-7c33-a2f4-6d1f1f0b7d42",
	models.CodeAlreadyDecided:    "This request was already approved by Ada Lovelace.",
	models.CodeExpired:           "This request has expired: Approval request timed out (5 minutes).",
	models.CodeBeingDecided:      "The decision of Ada Lovelace on this request is on its way.",
	models.CodeDigestMismatch:    "This is not the request that was shown: its digest differs.",
	models.CodeKeyConflict:       "Another request was made under this key.",
	models.CodeIDTaken:           "The id is taken: choose another.",
	models.CodeOtherAgent:        "This run belongs to another agent.",
	models.CodeAmbiguousSession:  "This tool use id exists in more than one session: send session_id.",
	models.CodeSeveralWaiting:    "Several requests wait in this conversation, and the policy (explicit_response_id) wants one to be named: send responseId.",
	models.CodeNoPendingApproval: "No proposal and no budget request is pending in this conversation.",
	models.CodeNoBudget:          "This conversation has no budget to change; set one.",

	models.CodePreconditionFailed:   "Version 8 of the policy is active. Read it, and make your change to it.",
	models.CodePreconditionRequired: "If-Match is required: the ETag of the version that you changed, from GET /v1/policy.",

	models.CodeBudgetExhausted: "The conversation's energy budget does not allow this: it costs 1, and 0 of 100 are left. " +
		"A person was asked for more: wait for that request, then repeat this one.",
	models.CodeTooManyRequests: "This token may ask 600 times a minute; try again in 3 s. Repeats of an existing request are not counted.",
	models.CodeTooManyPending:  "This agent has 10000 requests waiting, which is the limit; wait until some are decided, or cancel them.",
	models.CodeTooLarge:        "A body may be at most 5242880 bytes.",
	models.CodeDiskFull:        "Disk full: nothing new is accepted until there is space. Signing in, rejecting and cancelling still work.",
	models.CodeUnavailable:     "The server could not answer in time; try again.",
	models.CodeInternal:        "Something went wrong here; the server's log says what.",
	handlers.CodeUnknownHost:   "This server answers to the host of its public URL and to localhost only.",
}

// exampleProblem is a problem document of a code.
func exampleProblem(code models.Code) *handlers.Problem {
	e := &models.Error{Code: code, Text: problemTexts[code]}
	if code == models.CodeInvalid {
		e = models.Invalid("limit", "must be from 1 to 200")
	}
	p := handlers.ProblemOf(e)
	if p.Detail == "" {
		p.Detail = p.Title + "."
		p.Message = p.Detail
	}
	if code == models.CodeInternal {
		p.RequestID = "5f0c9a3be1d24c78"
	}
	return p
}
