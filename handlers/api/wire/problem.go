package wire

// Problem is how an error is answered: a problem document by RFC 9457. This is what
// a client reads of it.
type Problem struct {
	Detail    string         `json:"detail"`
	Code      Code           `json:"code"`
	Errors    []FieldProblem `json:"errors"`
	RequestID string         `json:"requestId"` // what to look for in the server's log
	Approval  *Approval      `json:"approval"`  // with 409: the request as it is now; with 402: the budget request

	// ApprovalID is the budget request to wait for, with 402.
	ApprovalID ResponseID `json:"approvalId"`

	// Waiting are those of which one is to be named, with several_waiting.
	Waiting []WaitingRequest `json:"waiting"`
}

// FieldProblem names one field and the value it wants.
type FieldProblem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Code is the stable name of a kind of problem.
type Code string

// The codes, each with the HTTP status that it comes with.
const (
	CodeInvalid           Code = "invalid"             // 422: a field is wrong; Errors say which
	CodeDigestRequired    Code = "digest_required"     // 422: approving high or critical risk needs the digest shown
	CodeWrongDecisionKind Code = "wrong_decision_kind" // 422: this kind of request takes another kind of verdict
	// 422: the agent would run what it sent; reject, with suggestedInput
	CodeTakesNoEdits     Code = "takes_no_edits"
	CodeCommentRequired  Code = "comment_required"  // 422
	CodeResponseRequired Code = "response_required" // 422: a question needs an answer
	CodeNoBudget         Code = "no_budget"         // 422

	CodeUnauthenticated Code = "unauthenticated" // 401: no valid token
	CodeForbidden       Code = "forbidden"       // 403: the token may not do this
	CodeNotAReviewer    Code = "not_a_reviewer"  // 403: the rule lets only others approve it
	CodeNotFound        Code = "not_found"       // 404: no such thing, or not for this token to see

	CodeAlreadyDecided    Code = "already_decided"     // 409: settled; Approval is the outcome
	CodeExpired           Code = "expired"             // 409: past its deadline
	CodeBeingDecided      Code = "being_decided"       // 409: another verdict is held or on its way
	CodeDigestMismatch    Code = "digest_mismatch"     // 409: the request has changed since it was shown
	CodeKeyConflict       Code = "key_conflict"        // 409: same key, another request
	CodeIDTaken           Code = "id_taken"            // 409: choose another id
	CodeOtherAgent        Code = "other_agent"         // 409: the run belongs to another agent
	CodeAmbiguousSession  Code = "ambiguous_session"   // 409: several sessions have this name; say which
	CodeSeveralWaiting    Code = "several_waiting"     // 409: several wait in the conversation: name one of Waiting
	CodeNoPendingApproval Code = "no_pending_approval" // 409: nothing in the conversation waits to be decided
	CodeConflict          Code = "conflict"            // 409: a name already in use

	CodePreconditionFailed   Code = "precondition_failed"   // 412: If-Match does not name the active version
	CodePreconditionRequired Code = "precondition_required" // 428: If-Match is missing

	CodeBudgetExhausted Code = "budget_exhausted"  // 402: wait for ApprovalID, then send the same again
	CodeTooManyRequests Code = "too_many_requests" // 429
	CodeTooManyPending  Code = "too_many_pending"  // 429
	CodeTooLarge        Code = "too_large"         // 413
	CodeDiskFull        Code = "disk_full"         // 507: nothing new is stored until there is space
	CodeUnavailable     Code = "unavailable"       // 503: try again
	CodeInternal        Code = "internal"          // 500
)
