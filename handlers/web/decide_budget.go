package web

import (
	"context"
	"time"

	"countersign/models"
	"countersign/views/pages"
)

// sharesRead is how many kinds of things a page reads of what energy was spent
// on.
const sharesRead = 50

// addBudget adds what a decider has to know of the budget, for those who may
// change it: whom a request was only routed to sees that request and no more.
func (s *Site) addBudget(ctx context.Context, actor models.Actor, a *models.Approval, in *pages.ApprovalInput) error {
	if a.Kind != models.KindProposal && a.Kind != models.KindBudget {
		return nil
	}
	if a.AsksForAllowance() {
		var err error
		in.AgentBudget, err = s.store.AgentBudget(ctx, actor, a.AgentID)
		return err
	}
	conv, err := s.store.Conversation(ctx, actor, a.ConversationID)
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	in.Budget = new(conv.Budget())
	if a.Kind != models.KindBudget {
		return nil
	}
	if in.Points, err = s.store.EnergyOf(ctx, actor, conv.ID, burnPoints); err != nil {
		return err
	}
	in.Shares, err = s.store.EnergyBy(ctx, actor, conv.ID, sharesRead)
	return err
}

// budget reads what a verdict does to the budget: the sum of a budget request,
// which is its edited input, or a budget that was chosen besides.
func (f verdictForm) budget(in *models.DecisionInput) error {
	if f.verdict == models.VerdictApprove && f.values.Has("sum") {
		sum, err := energyIn("sum", f.values.Get("sum"))
		if err != nil {
			return err
		}
		in.Input = []byte(models.BudgetInput(sum))
		if f.values.Has("until") { // more energy for an agent: the form says until when
			until, err := time.Parse(time.RFC3339, f.values.Get("until"))
			if err != nil {
				return models.Invalid("sum", "belongs to a request that this form does not show: open the request anew")
			}
			in.Input = []byte(models.Allowance{Energy: sum, Until: until}.Input())
		}
	}
	if f.values.Get("set_budget") == "true" {
		budget, err := energyIn("new_budget", f.values.Get("new_budget"))
		if err != nil {
			return err
		}
		in.Budget.Set = &budget
	}
	return nil
}
