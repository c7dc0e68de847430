package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// ChangeBudget changes a conversation's budget. Its owner and admins may change it at will. Its agent may set one if
// there is none, and lower it; to raise it makes a budget request, at most one at a time, which the policy may let the
// system approve at once (I4).
//
// Codes: not_found, invalid, no_budget; key_conflict with the pending request, if it asks for another budget;
// already_decided with the request that a person rejected, as long as the budget has not changed and no person has
// written.
func (s *Store) ChangeBudget(
	ctx context.Context, actor models.Actor, id models.ConversationID, c models.BudgetChange, reason string,
) (*models.BudgetResult, error) {
	if err := models.CheckText("reason", reason, models.MaxReason); err != nil {
		return nil, err
	}
	var out *models.BudgetResult
	err := s.write(ctx, func(t *Tx) error {
		conv, err := t.Conversation(id)
		if err != nil {
			return err
		}
		if conv == nil || !requests.SeesConversation(actor, conv) {
			return models.NotFound("conversation")
		}
		request, err := t.WishBudget(actor, conv, c, reason)
		if err != nil {
			return err
		}
		out = &models.BudgetResult{Budget: conv.Budget(), Approval: request}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// WishBudget is Store.ChangeBudget for an actor who sees the conversation: it updates conv. It reads the conversation
// again, for an earlier step of the transaction may have changed its budget.
func (t *Tx) WishBudget(
	actor models.Actor, conv *models.Conversation, c models.BudgetChange, reason string,
) (*models.Approval, error) {
	now, err := t.Conversation(conv.ID)
	if err != nil {
		return nil, err
	}
	*conv = *now
	next, err := c.Apply(conv.EnergyBudget, "budget", "delta")
	if err != nil {
		return nil, err
	}
	if actor.IsPerson() || conv.EnergyBudget == nil || next <= *conv.EnergyBudget {
		return nil, t.changeBudget(actor, conv, next, reason, nil)
	}
	why := reason
	if why == "" {
		why = fmt.Sprintf("The agent asks to raise the energy budget from %d to %d; %d are spent.", *conv.EnergyBudget, next,
			conv.EnergyUsed)
	}
	hadRefusal := conv.BudgetRefused
	request, err := t.requestBudget(actor, conv, next, why)
	if err != nil {
		return nil, err
	}
	if request.Status() == models.StatusPending && request.ToolInputJSON != models.BudgetInput(next) {
		return nil, &models.Error{
			Code: models.CodeKeyConflict, Approval: request,
			Text: fmt.Sprintf("A budget of %s is asked for already and waits for a person; nothing was changed. Wait for it, or cancel it and ask again.", budgetWanted(request)),
		}
	}
	if hadRefusal != nil && *hadRefusal == request.ID {
		return nil, &models.Error{
			Code: models.CodeAlreadyDecided, Approval: request,
			Text: "More budget was requested and rejected; nobody is asked again until the budget changes or a person writes.",
		}
	}
	return request, nil
}

// budgetWanted is the budget that a request asks for, in words.
func budgetWanted(request *models.Approval) string {
	want, err := models.BudgetAsked([]byte(request.ToolInputJSON))
	if err != nil {
		return "another size"
	}
	return fmt.Sprint(want)
}

type budgetEntry struct {
	Old      *int64            `json:"old"`
	New      int64             `json:"new"`
	Response models.ResponseID `json:"response,omitempty"`
	Reason   string            `json:"reason_digest,omitempty"`
	Sequence int64             `json:"sequence"`
}

// changeBudget makes next the budget of conv and records why; it ignores an unchanged budget. It settles a budget
// request that this makes needless.
func (t *Tx) changeBudget(
	actor models.Actor, conv *models.Conversation, next int64, reason string, response *models.ResponseID,
) error {
	old := conv.EnergyBudget
	if old != nil && *old == next {
		return nil
	}
	place, _, err := t.take(conv.ID, 0)
	if err != nil {
		return err
	}
	step := &models.BudgetStep{
		ConversationID: conv.ID, Sequence: place.sequence, At: t.Now, ActorKind: actor.Kind, ActorID: actor.ID,
		ActorName: actor.Name,
		Old:       old, New: next, Reason: reason, ResponseID: response,
	}
	if err := t.Gorm().Create(step).Error; err != nil {
		return fmt.Errorf("store budget: %w", err)
	}
	t.Adds("budget_steps", step.ConversationID, step.Sequence)
	switch actor.Kind {
	case models.ActorUser:
		conv.BudgetAdded = 0
	case models.ActorSystem:
		if old != nil {
			conv.BudgetAdded += max(0, next-*old)
		}
	case models.ActorAgent, models.ActorOperator:
	}
	conv.EnergyBudget = &next
	if !actor.IsAgent() {
		conv.BudgetRefused = nil // an agent would ask again as soon as it had lowered its budget by one
	}
	if err := t.Changes("conversations", conv.ID); err != nil {
		return err
	}
	err = t.Gorm().Model(&models.Conversation{}).Where("id = ?", conv.ID).UpdateColumns(map[string]any{
		"energy_budget": next, "budget_added": conv.BudgetAdded, "budget_refused": conv.BudgetRefused,
	}).Error
	if err != nil {
		return fmt.Errorf("store budget: %w", err)
	}
	t.changed(conv.ID)
	t.Publish(events.Agent(string(conv.AgentID)))
	entry := budgetEntry{Old: old, New: next, Reason: models.DigestOfText(reason), Sequence: place.sequence}
	if response != nil {
		entry.Response = *response
	}
	if err := t.Record(actor, "conversation.budget", ledger.Subject{Owner: conv.OwnerID, Conversation: conv.ID},
		entry); err != nil {
		return err
	}
	if actor.IsAgent() {
		return nil // it knows, and cannot have granted itself what it asked for
	}
	if old != nil && next > *old {
		if err := t.needlessBudget(actor, conv, next); err != nil {
			return err
		}
	}
	return t.Wake(actor, conv.ID)
}

// needlessBudget settles a budget request that is pending although its conversation got more budget in another way:
// its waiters go on.
func (t *Tx) needlessBudget(actor models.Actor, conv *models.Conversation, next int64) error {
	a, err := t.pendingBudget(string(conv.ID))
	if err != nil || a == nil {
		return err
	}
	return t.settleAs(actor, a, models.StatusResolved, models.CauseElsewhere,
		fmt.Sprintf("%s set the energy budget to %d.", actor.Name, next))
}

// pendingBudget is the budget request that is pending for a conversation, or for
// an agent: whose id it is; or nil. One whose time is up is written down as expired first: another may be made.
func (t *Tx) pendingBudget(id string) (*models.Approval, error) {
	found, err := t.rowID(t.Row(t.s.hot.pendingBudget, id))
	if err != nil || found == "" {
		return nil, err
	}
	a, err := t.Request(found)
	if err != nil || !a.PastDeadline(t.Now) {
		return a, err
	}
	return nil, t.expireNow(a)
}

// requestBudget returns the current budget request of a conversation with a budget: the pending one, else the rejected
// one, else a new one for want units, which the policy may have settled already.
func (t *Tx) requestBudget(
	actor models.Actor, conv *models.Conversation, want int64, why string,
) (*models.Approval, error) {
	if a, err := t.pendingBudget(string(conv.ID)); a != nil || err != nil {
		return a, err
	}
	if conv.BudgetRefused != nil {
		return t.Request(*conv.BudgetRefused)
	}
	input := models.BudgetInput(want)
	canonical, err := models.Canonical(models.KindBudget, models.ToolSetBudget, []byte(input))
	if err != nil {
		return nil, err
	}
	r := models.Response{
		Kind: models.KindBudget, Digest: models.Digest(canonical), Explanation: models.Explanation{Description: why},
		ToolName: models.ToolSetBudget, ToolInputJSON: input,
	}
	small, err := t.isSmall(actor, conv, want, r)
	if err != nil {
		return nil, err
	}
	a, err := t.addJudged(actor, conv, r, terms{waitless: small})
	if err != nil {
		return nil, err
	}
	switch a.Status() {
	case models.StatusRejected:
		if a.Cause == models.CauseStopped {
			return a, nil // it may ask again when the stop is lifted
		}
		return a, t.budgetRefused(conv, a)
	case models.StatusPending:
		if small {
			return a, t.approveSmall(conv, a, want)
		}
	case models.StatusNone, models.StatusApproved, models.StatusExpired, models.StatusCancelled, models.StatusResolved,
		models.StatusRan:
	}
	return a, nil
}

// isSmall reports whether the policy lets the system approve a budget request: it
// allows that much, and no rule wants a person to look.
func (t *Tx) isSmall(actor models.Actor, conv *models.Conversation, want int64, r models.Response) (bool, error) {
	version, p, err := t.Policy()
	if err != nil {
		return false, err
	}
	j, err := t.judge(version, p, policy.Call{Kind: r.Kind, ToolName: r.ToolName},
		judgedRow(t.responseIn(actor, conv, r), r.ToolInputJSON, t.Now))
	if err != nil {
		return false, err
	}
	return j.Rule == policy.RuleExplicit &&
		conv.BudgetAdded+want-*conv.EnergyBudget <= p.Document().AutoBudgetIncrease, nil
}

// budgetDecided notes that a person has decided how much a conversation may
// spend: what the system may add counts from there.
func (t *Tx) budgetDecided(conv *models.Conversation) error {
	if conv.BudgetAdded == 0 {
		return nil
	}
	conv.BudgetAdded = 0
	if err := t.Gorm().Model(&models.Conversation{}).Where("id = ?", conv.ID).UpdateColumn("budget_added",
		0).Error; err != nil {
		return fmt.Errorf("store decided budget: %w", err)
	}
	return nil
}

// approveSmall has the system approve a budget request.
func (t *Tx) approveSmall(conv *models.Conversation, a *models.Approval, want int64) error {
	system, text := models.System("policy"), "The policy lets the system add this much (auto_budget_increase)."
	end, err := t.endAs(system, a, models.StatusApproved, models.CausePolicy, text)
	if err != nil {
		return err
	}
	// It was pending only within this transaction, so no wait ends.
	if err := t.recordEnd(system, a, ending{readers: end.readers}); err != nil {
		return err
	}
	return t.changeBudget(system, conv, want, text, &a.ID)
}

// budgetRefused notes that more budget was refused: until the budget changes or a person writes, the system asks for
// no more.
func (t *Tx) budgetRefused(conv *models.Conversation, a *models.Approval) error {
	conv.BudgetRefused, conv.BudgetAdded = &a.ID, 0
	err := t.Gorm().Model(&models.Conversation{}).Where("id = ?", conv.ID).
		UpdateColumns(map[string]any{"budget_refused": a.ID, "budget_added": 0}).Error
	if err != nil {
		return fmt.Errorf("store refused budget: %w", err)
	}
	return nil
}
