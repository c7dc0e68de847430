package models

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of budgets, in units of energy.
const (
	MaxBudget = 1_000_000_000_000 // that a conversation may have
	// warnPercent of a budget spent or reserved is when people are warned.
	warnPercent = 80
)

// Budget is what a conversation may spend and has spent, in units of energy.
type Budget struct {
	Total    *int64 // nil: unlimited
	Used     int64
	Reserved int64 // for model calls that are under way
}

// Remaining is max(0, total − used − reserved); nil: unlimited.
func (b Budget) Remaining() *int64 {
	if b.Total == nil {
		return nil
	}
	return new(max(0, *b.Total-b.Used-b.Reserved))
}

// Exhausted reports whether nothing is left.
func (b Budget) Exhausted() bool { return b.Total != nil && *b.Remaining() == 0 }

// Low reports whether at least four fifths are spent or reserved.
func (b Budget) Low() bool {
	return b.Total != nil && b.Used+b.Reserved >= (*b.Total*warnPercent+99)/100
}

// BudgetChange is a new budget, or a step from the current one. At most one of the two
// is set; none means no change.
type BudgetChange struct {
	Set   *int64
	Delta *int64
}

// None reports whether nothing is to change.
func (c BudgetChange) None() bool { return c.Set == nil && c.Delta == nil }

// Apply is the budget after a change of the current one (nil: none). A delta below zero stops at 0. setField and
// deltaField are the names by which the asker knows the two.
//
// Codes: invalid, no_budget (a delta where no budget is set).
func (c BudgetChange) Apply(current *int64, setField, deltaField string) (int64, error) {
	switch {
	case c.Set != nil && c.Delta != nil:
		return 0, Invalid(deltaField, "can't be combined with %s; send one of the two", setField)
	case c.Set != nil:
		if *c.Set < 0 || *c.Set > MaxBudget {
			return 0, Invalid(setField, "must be from 0 to %d", int64(MaxBudget))
		}
		return *c.Set, nil
	case c.Delta == nil:
		return 0, Invalid(setField, "is required")
	case *c.Delta < -MaxBudget || *c.Delta > MaxBudget:
		return 0, Invalid(deltaField, "must be from %d to %d", int64(-MaxBudget), int64(MaxBudget))
	case current == nil:
		return 0, &Error{
			Code: CodeNoBudget, Text: "This conversation has no budget to change; set one.",
			Fields: map[string]string{deltaField: "needs an existing budget"},
		}
	}
	next := max(0, *current+*c.Delta)
	if next > MaxBudget {
		return 0, Invalid(deltaField, "would raise the budget above %d", int64(MaxBudget))
	}
	return next, nil
}

// BudgetInput is the input of a budget request: the sum asked for.
func BudgetInput(budget int64) string { return fmt.Sprintf(`{"budget":%d}`, budget) }

// BudgetAsked reads the sum out of the input of a budget request, as sent or as
// edited. CodeInvalid names input.budget.
func BudgetAsked(input []byte) (int64, error) {
	var in struct {
		Budget jsontext.Value `json:"budget"`
	}
	if err := json.Unmarshal(input, &in, json.RejectUnknownMembers(true),
		jsontext.AllowDuplicateNames(false)); err != nil || in.Budget == nil {
		return 0, Invalid("input", `must be an object with one member, as in {"budget": 100}`)
	}
	n, err := WholeNumber("input.budget", in.Budget)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > MaxBudget {
		return 0, Invalid("input.budget", "must be from 0 to %d", int64(MaxBudget))
	}
	return n, nil
}
