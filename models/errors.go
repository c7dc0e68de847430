package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Code names a kind of failure. Surfaces map codes to their own status once;
// the strings are stable and are what clients see.
type Code string

// The codes (ARCHITECTURE.md, "Errors"); the last few are for the inside.
const (
	CodeInvalid Code = "invalid" // 422: a field is wrong; Fields says which
	// 422: approving high or critical risk needs the digest shown; so do ticks that name no request
	CodeDigestRequired    Code = "digest_required"
	CodeWrongDecisionKind Code = "wrong_decision_kind" // 422: this kind of request takes another kind of verdict
	// 422: the asker would run the input that it sent; reject it, and suggest the new input
	CodeTakesNoEdits     Code = "takes_no_edits"
	CodeCommentRequired  Code = "comment_required"  // 422
	CodeResponseRequired Code = "response_required" // 422: a question needs an answer
	CodeNoBudget         Code = "no_budget"         // 422

	CodeUnauthenticated Code = "unauthenticated" // 401: no valid credential
	CodeForbidden       Code = "forbidden"       // 403: the credential lacks the capability
	CodeNotAReviewer    Code = "not_a_reviewer"  // 403: sees the request, and the rule lets only others approve it
	CodeNotFound        Code = "not_found"       // 404: no such object, or not visible to the asker

	CodeAlreadyDecided   Code = "already_decided"   // 409: settled; the error has the current outcome
	CodeExpired          Code = "expired"           // 409: past its deadline
	CodeBeingDecided     Code = "being_decided"     // 409: another verdict is held or on its way
	CodeDigestMismatch   Code = "digest_mismatch"   // 409: the reader saw other content than the current one
	CodeKeyConflict      Code = "key_conflict"      // 409: same key, another request
	CodeIDTaken          Code = "id_taken"          // 409: a client-chosen id that exists elsewhere
	CodeOtherAgent       Code = "other_agent"       // 409: a run of another agent of the same owner
	CodeAmbiguousSession Code = "ambiguous_session" // 409: several sessions have the name; say which
	// 409: several wait in the conversation, and the policy wants one to be named
	CodeSeveralWaiting    Code = "several_waiting"
	CodeNoPendingApproval Code = "no_pending_approval" // 409: nothing in the conversation waits to be decided
	CodeConflict          Code = "conflict"            // 409: any other clash (a name already in use)

	CodePreconditionFailed   Code = "precondition_failed"   // 412: If-Match does not name the active version
	CodePreconditionRequired Code = "precondition_required" // 428: If-Match is missing

	CodeBudgetExhausted Code = "budget_exhausted"  // 402
	CodeTooManyRequests Code = "too_many_requests" // 429
	CodeTooManyPending  Code = "too_many_pending"  // 429
	CodeTooLarge        Code = "too_large"         // 413: body over the limit
	CodeDiskFull        Code = "disk_full"         // 507: nothing new is stored until there is space
	CodeUnavailable     Code = "unavailable"       // 503: shutting down, or the store cannot answer
	CodeInternal        Code = "internal"          // 500
)

// Error is the one error type that crosses package borders on purpose. Text is written for the person or program that
// reads it and never echoes a value that was sent; Fields maps the name of an input to the expected value.
type Error struct {
	Code   Code
	Text   string
	Fields map[string]string

	// Approval is the current row in a conflict, for those who may see it.
	Approval *Approval
	// Waiting are the requests of which one is to be named, with several_waiting.
	Waiting []WaitingRequest
	// RetryAfterSeconds is set with the 429 codes.
	RetryAfterSeconds int
}

// Error joins the text and the fields in a stable order.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Text
	}
	parts := make([]string, 0, len(e.Fields))
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, name+": "+e.Fields[name])
	}
	if e.Text == "" {
		return strings.Join(parts, "; ")
	}
	return e.Text + " (" + strings.Join(parts, "; ") + ")"
}

// Is makes errors.Is(err, &Error{Code: c}) compare by code alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf builds an Error of a code with a formatted text.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Invalid is a 422 that names one field and the expected value.
func Invalid(field, format string, args ...any) *Error {
	return &Error{
		Code: CodeInvalid, Text: "The request is not valid.", Fields: map[string]string{field: fmt.Sprintf(format, args...)},
	}
}

// NotFound is a 404: there is no such thing, or it may not be seen.
func NotFound(what string) *Error { return Errorf(CodeNotFound, "No such %s.", what) }

// FieldsOf is what an error says about fields; nothing for none.
func FieldsOf(err error) map[string]string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
}

// ErrorCode returns the code of err: CodeInternal for anything that is not an
// Error, and the empty code for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
