package store

import (
	"countersign/models"
	"countersign/models/requests"
)

// decidedBudget is what a decision means for the conversation's budget.
type decidedBudget struct {
	conv   *models.Conversation // nil: nothing
	next   int64
	change bool
	reason string

	allowance *models.Allowance // what it allows the agent, in all its conversations
}

// checkBudget finds what a verdict does to the conversation's budget, before
// anything is written: a change that came with it, whichever it is, else the sum
// of the budget request that it approves. Codes: forbidden, invalid, no_budget.
func (t *Tx) checkBudget(
	actor models.Actor, a *models.Approval, in models.DecisionInput, vote *models.Vote,
) (*decidedBudget, error) {
	if in.Budget.None() && a.Kind != models.KindBudget {
		return nil, nil //nolint:nilnil // most decisions do nothing to a budget
	}
	if a.AsksForAllowance() {
		if !in.Budget.None() {
			return nil, models.Invalid("newBudget",
				"does not belong to this request, which is for the agent in all its conversations; edit its input to allow a different amount")
		}
		got, err := allowed(a, vote)
		return &decidedBudget{allowance: &got}, err
	}
	conv, err := t.Conversation(a.ConversationID)
	if err != nil {
		return nil, err
	}
	out := &decidedBudget{conv: conv, reason: vote.Reason}
	switch {
	case !in.Budget.None():
		if !requests.Owns(actor, conv) {
			return nil, models.Errorf(models.CodeForbidden, "Only the conversation's owner or an admin may change its budget.")
		}
		if a.Kind == models.KindBudget && vote.Input != nil {
			return nil, models.Invalid("input", "can't be combined with newBudget or budgetChange; send one of them")
		}
		out.change = true
	case vote.Verdict == models.VerdictApprove:
		out.change = true
	}
	if out.change {
		out.next, err = budgetAfter(a, vote, in.Budget, conv.EnergyBudget)
	}
	return out, err
}

// budgetAfter is the budget after an approval.
func budgetAfter(a *models.Approval, vote *models.Vote, change models.BudgetChange, standing *int64) (int64, error) {
	switch {
	case !change.None():
		return change.Apply(standing, "newBudget", "budgetChange")
	case vote.Input != nil:
		return models.BudgetAsked([]byte(*vote.Input))
	}
	return models.BudgetAsked([]byte(a.ToolInputJSON))
}

// releaseBudget does to the budget what a held approval was given with, now that
// it is the outcome. A step that no longer fits, because the budget changed
// meanwhile, is left out: it must not keep the approval from its release.
func (t *Tx) releaseBudget(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if vote.Budget().None() && a.Kind != models.KindBudget {
		return nil
	}
	if a.AsksForAllowance() {
		got, err := allowed(a, vote)
		if err != nil {
			return err
		}
		return t.allow(actor, a, got)
	}
	conv, err := t.Conversation(a.ConversationID)
	if err != nil {
		return err
	}
	b := &decidedBudget{conv: conv, reason: vote.Reason}
	if next, err := budgetAfter(a, vote, vote.Budget(), conv.EnergyBudget); err == nil {
		b.next, b.change = next, true
	}
	return t.applyBudget(actor, a, b)
}

// applyBudget does it, after the row was settled.
func (t *Tx) applyBudget(actor models.Actor, a *models.Approval, b *decidedBudget) error {
	if b == nil {
		return nil
	}
	if b.allowance != nil {
		return t.allow(actor, a, *b.allowance)
	}
	// The settling may have moved the conversation.
	conv, err := t.Conversation(b.conv.ID)
	if err != nil {
		return err
	}
	if a.Kind == models.KindBudget {
		if err := t.budgetDecided(conv); err != nil {
			return err
		}
		if a.Status() == models.StatusRejected {
			if err := t.budgetRefused(conv, a); err != nil {
				return err
			}
		}
	}
	if !b.change {
		return nil
	}
	return t.changeBudget(actor, conv, b.next, b.reason, &a.ID)
}
