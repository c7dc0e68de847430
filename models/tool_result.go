package models

import (
	"errors"

	"github.com/go-json-experiment/json"
)

// Delivered is the result of a plain reply.
const Delivered = `{"status":"delivered"}`

// toolResult is what a tool call comes to, as the model reads it. The causes are
// told apart (I10); words of people are members of their own, quoted by JSON.
type toolResult struct {
	Status   string            `json:"status,omitempty"`
	Cause    Cause             `json:"cause,omitempty"`
	By       string            `json:"by,omitempty"`
	Feedback string            `json:"feedback,omitempty"` // the reviewer's words
	Reason   string            `json:"reason,omitempty"`   // the system's
	Granted  *int64            `json:"granted,omitempty"`
	Changed  *budgetChanged    `json:"budgetChange,omitempty"`
	Budget   *budgetState      `json:"budget,omitempty"`
	Error    string            `json:"error,omitempty"`
	Fields   map[string]string `json:"fields,omitempty"`
}

type budgetState struct {
	Total     *int64 `json:"total"`
	Used      int64  `json:"used"`
	Reserved  int64  `json:"reserved"`
	Remaining *int64 `json:"remaining"`
}

type budgetChanged struct {
	From *int64 `json:"from"`
	To   int64  `json:"to"`
}

func (r *toolResult) encode() string {
	raw, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return `{"error":"internal error"}` // text that is not UTF-8, which the store holds none of
	}
	return string(raw)
}

func budgetStateOf(b Budget) *budgetState {
	return &budgetState{Total: b.Total, Used: b.Used, Reserved: b.Reserved, Remaining: b.Remaining()}
}

// AppliedResult is the result of a change of the budget that holds at once.
func AppliedResult(b Budget) string {
	return (&toolResult{Status: "applied", Budget: budgetStateOf(b)}).encode()
}

// RefusedResult is the result of a call that changed nothing, and names the wrong fields. An error of another type
// reads as an internal one.
func RefusedResult(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return (&toolResult{Error: "internal error"}).encode()
	}
	return (&toolResult{Error: e.Error(), Fields: e.Fields}).encode()
}

// OutcomeResult is the result of a call that stored a proposal or a budget
// request, as it is now, with the change of the budget that came with the
// decision and the current budget.
func OutcomeResult(a *Approval, change *BudgetStep, b Budget) string {
	out := toolResult{Status: string(a.Status()), Cause: a.Cause, Budget: budgetStateOf(b)}
	switch {
	case a.Vote != nil:
		out.By, out.Feedback = a.Vote.UserName, a.Feedback()
	case a.Status() == StatusNone: // allowed by a rule: no one decided
		out.Status, out.Reason = string(StatusApproved), a.PolicyReason
	default:
		out.Reason = a.Feedback()
	}
	if change != nil {
		if a.Kind == KindBudget {
			out.Granted = &change.New
		}
		out.Changed = &budgetChanged{From: change.Old, To: change.New}
	}
	return out.encode()
}
