package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/handlers/api/wire"
)

// AnswerError is an answer of the server without an outcome: the server refused the request, or failed.
type AnswerError struct {
	Status     int
	Code       wire.Code // empty if the answer was no problem document
	Text       string
	Fields     []wire.FieldProblem
	RetryAfter time.Duration  // zero if the server named none
	Approval   *wire.Approval // with 409: the current request; with 402: the budget request
	// ApprovalID is the budget request to wait for, with 402.
	ApprovalID wire.ResponseID
	RequestID  string
}

// Error is the server's text.
func (e *AnswerError) Error() string { return e.Text }

// UnreachableError says that no answer came at all.
type UnreachableError struct{ Err error }

// Error says what went wrong on the way.
func (e *UnreachableError) Error() string { return "the server does not answer: " + e.Err.Error() }

// Unwrap is what went wrong on the way.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Retryable reports whether sending the same request again may help: no server answered, the server failed or is
// stopping, or there were too many requests. after is how long the server asks the client to wait; zero if it does
// not.
func Retryable(err error) (after time.Duration, ok bool) {
	if _, unreachable := errors.AsType[*UnreachableError](err); unreachable {
		return 0, true
	}
	if answer, ok := errors.AsType[*AnswerError](err); ok &&
		(answer.Status >= http.StatusInternalServerError || answer.Status == http.StatusTooManyRequests) {
		return answer.RetryAfter, true
	}
	return 0, false
}

// noSpace reports whether the server's disk is full: nothing new is taken.
func noSpace(err error) bool {
	answer, ok := errors.AsType[*AnswerError](err)
	return ok && answer.Code == wire.CodeDiskFull
}

// refusesField reports whether the server refused the request because of this field alone.
func refusesField(err error, field string) bool {
	answer, ok := errors.AsType[*AnswerError](err)
	return ok && (answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnprocessableEntity) &&
		len(answer.Fields) == 1 && answer.Fields[0].Field == field
}

// Answered reports whether an error is the word of a server that works: then
// nothing may go on as if none had been there.
func Answered(err error) bool {
	answer, ok := errors.AsType[*AnswerError](err)
	return ok && (answer.Status < http.StatusInternalServerError || answer.Status == http.StatusInsufficientStorage)
}

// BudgetError says that the budget did not allow a request, and that no more was
// granted: the request was not taken.
type BudgetError struct {
	Request *wire.Approval // the budget request, as it was settled
}

// Error says what became of the budget request.
func (e *BudgetError) Error() string {
	text := "The conversation's energy budget does not allow this, and the request for more "
	switch {
	case e.Request.Status == wire.StatusApproved || e.Request.Status == wire.StatusResolved:
		return text + "was granted without being enough."
	case e.Request.Decision != nil && e.Request.Decision.By != nil:
		text += "was " + string(e.Request.Status) + " by " + e.Request.Decision.By.Name
	default:
		text += "was " + string(e.Request.Status)
	}
	if e.Request.Decision != nil && e.Request.Decision.Reason != "" {
		text += ": " + e.Request.Decision.Reason
	}
	return text
}

// exhausted reports whether an answer says that the budget is spent, and names
// the request to wait for.
func exhausted(err error) (wire.ResponseID, bool) {
	answer, ok := errors.AsType[*AnswerError](err)
	if !ok || answer.Code != wire.CodeBudgetExhausted || answer.ApprovalID == "" {
		return "", false
	}
	return answer.ApprovalID, true
}

// unreachable tells the caller's own end from a server that is not there.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err() //nolint:wrapcheck // the caller's own
	}
	return &UnreachableError{Err: err}
}

func notOurs(status int) error {
	return &AnswerError{Status: status, Text: "The server at this address is not Countersign; check the server's address."}
}

func answerError(res *http.Response, raw []byte) error {
	var problem wire.Problem
	e := &AnswerError{Status: res.StatusCode}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	if err := json.Unmarshal(raw, &problem); err != nil || problem.Code == "" {
		e.Text = "The server answered " + strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode) + "."
		if location := res.Header.Get("Location"); location != "" {
			e.Text += " It moved: set the server's address to where it redirects."
		}
		return e
	}
	e.Code, e.Text, e.Fields = problem.Code, problem.Detail, problem.Errors
	e.Approval, e.ApprovalID, e.RequestID = problem.Approval, problem.ApprovalID, problem.RequestID
	return e
}
