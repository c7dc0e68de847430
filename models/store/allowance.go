package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

const (
	addAllowance = `INSERT INTO agent_allowances (agent_id, until, response_id, energy) VALUES (?, ?, ?, ?)`
	// A rejected request is an allowance of no energy.
	refusedAllowance = `SELECT response_id FROM agent_allowances WHERE agent_id = ? AND until > ? AND energy = 0 ORDER BY until DESC LIMIT 1`
	// Only runs that wait for their agent's budget are ready at a later time.
	wakeWaiting = `UPDATE agent_inbox SET ready_at = ?1, attempts = 0, turns = CASE WHEN ?2 THEN 0 ELSE turns END WHERE ready_at > ?1`
)

// refusedByAgentBudget refuses a response that would exceed the agent's limit in the policy. It commits the one
// request for more, made here if there is none.
func (t *Tx) refusedByAgentBudget(actor models.Actor, id models.ConversationID, energy int64) error {
	b, err := t.AgentBudget(actor.AgentID(), "")
	if err != nil {
		return err
	}
	conv, err := t.Conversation(id)
	if err != nil {
		return err
	}
	refusal, err := t.RefuseByAgentBudget(actor, conv, b, energy)
	if err != nil {
		return err
	}
	return db.Commits(refusal)
}

// RefuseByAgentBudget refuses a response that would exceed the agent's limit in the policy, with the current request
// for more: an earlier one, else a new one in the conversation.
func (t *Tx) RefuseByAgentBudget(
	actor models.Actor, conv *models.Conversation, b *models.AgentBudget, energy int64,
) (*models.Error, error) {
	request, err := t.allowanceRequest(actor.AgentID())
	if request == nil && err == nil {
		request, err = t.askForAllowance(actor, conv, b, energy)
	}
	if err != nil {
		return nil, err
	}
	return agentExhausted(b, energy, request), nil
}

// refusedAtOnce is refusedByAgentBudget for an agent whose conversation is not open yet: while there is a request for
// more, a refused response opens no conversation.
func (t *Tx) refusedAtOnce(actor models.Actor, energy int64) error {
	if energy == 0 {
		return nil
	}
	b, err := t.AgentBudget(actor.AgentID(), "")
	if b == nil || err != nil || energy <= b.Remaining() {
		return err
	}
	request, err := t.allowanceRequest(actor.AgentID())
	if request == nil || err != nil {
		return err
	}
	return db.Commits(agentExhausted(b, energy, request))
}

func agentExhausted(b *models.AgentBudget, energy int64, request *models.Approval) *models.Error {
	text := fmt.Sprintf("The agent may spend %d units of energy in %s, over all its conversations: this costs %d, and %d are left.", b.Total(), b.Window(), energy, b.Remaining())
	if request.Status() == models.StatusPending {
		text += " Its owner was asked for more: wait for that request, then repeat this one."
	} else {
		text += " More was requested and not approved; nobody is asked again"
		if a, err := models.AllowanceAsked([]byte(request.ToolInputJSON)); err == nil {
			text += " before " + a.Until.Format(time.RFC3339)
		}
		text += "."
	}
	return &models.Error{Code: models.CodeBudgetExhausted, Text: text, Approval: request}
}

// allowanceRequest is the current request for more of an agent: the pending one, else the rejected one, until the
// energy that was spent by then has left the window. Nil: there is none.
func (t *Tx) allowanceRequest(agent models.AgentID) (*models.Approval, error) {
	if a, err := t.pendingBudget(string(agent)); a != nil || err != nil {
		return a, err
	}
	id, err := t.rowID(t.QueryRowContext(context.Background(), refusedAllowance, agent, minuteOf(t.Now)))
	if id == "" || err != nil {
		return nil, err
	}
	return t.Request(id)
}

// askForAllowance asks an agent's owner, in the conversation whose response was refused, for half as much again, or
// for the energy that is needed if that is more. The allowance ends, and the request expires, when all energy spent so
// far has left the window.
func (t *Tx) askForAllowance(
	actor models.Actor, conv *models.Conversation, b *models.AgentBudget, energy int64,
) (*models.Approval, error) {
	want := max(1, b.Energy/2, b.Spent+b.Reserved+energy-b.Total())
	asked := models.Allowance{Energy: min(want, models.MaxBudget), Until: windowEnd(t.Now, b.Hours)}
	canonical, err := models.Canonical(models.KindBudget, models.ToolAllowEnergy, []byte(asked.Input()))
	if err != nil {
		return nil, err
	}
	why := fmt.Sprintf("%s has spent %d of %d units of energy in %s, over all its conversations", actor.Name, b.Spent,
		b.Total(), b.Window())
	if b.Reserved > 0 {
		why += fmt.Sprintf(", %d more are reserved", b.Reserved)
	}
	a, err := t.addJudged(actor, conv, models.Response{
		Kind: models.KindBudget, Digest: models.Digest(canonical),
		Explanation: models.Explanation{Description: fmt.Sprintf("%s, and the next response needs %d.", why, energy)},
		ToolName:    models.ToolAllowEnergy, ToolInputJSON: asked.Input(), ApprovalTimeoutAt: asked.Until,
	}, terms{})
	if err != nil {
		return nil, err
	}
	if a.Status() == models.StatusRejected {
		return a, t.storeAllowance(a, models.Allowance{Until: asked.Until})
	}
	return a, nil
}

// allowed is the allowance that a decision on an agent's request gives; zero energy means a rejection.
func allowed(a *models.Approval, vote *models.Vote) (models.Allowance, error) {
	got, err := models.AllowanceAsked([]byte(a.ToolInputJSON))
	switch {
	case err != nil:
		return got, err
	case vote.Verdict != models.VerdictApprove:
		got.Energy = 0
	case vote.Input != nil:
		return a.EditedAllowance([]byte(*vote.Input))
	}
	return got, nil
}

type allowanceEntry struct {
	AgentID  models.AgentID    `json:"agentId"`
	Energy   int64             `json:"energy"`
	Until    string            `json:"until"`
	Response models.ResponseID `json:"response"`
}

// allow does what a decision on an agent's request means, after the row was
// settled.
func (t *Tx) allow(actor models.Actor, a *models.Approval, got models.Allowance) error {
	if err := t.storeAllowance(a, got); err != nil {
		return err
	}
	if got.Energy > 0 {
		err := t.Record(actor, "agent.allowance", ledger.Subject{Owner: a.OwnerID, Conversation: a.ConversationID}, allowanceEntry{
			AgentID: a.AgentID, Energy: got.Energy, Until: got.Until.Format(db.TimeFormat), Response: a.ID,
		})
		if err != nil {
			return err
		}
	}
	res := t.Gorm().Exec(wakeWaiting+` AND EXISTS (SELECT 1 FROM conversations c WHERE c.id = conversation_id AND c.agent_id = ?3 AND c.status <> 'failed')`,
		t.Now, actor.IsPerson(), a.AgentID)
	return t.woke(res.RowsAffected, res.Error)
}

// storeAllowance stores the decided allowance, and adds up the agent's window again.
func (t *Tx) storeAllowance(a *models.Approval, got models.Allowance) error {
	if err := t.Gorm().Exec(addAllowance, a.AgentID, minuteOf(got.Until), a.ID, got.Energy).Error; err != nil {
		return fmt.Errorf("store allowance: %w", err)
	}
	if got.Energy > 0 {
		t.Adds("agent_allowances", a.AgentID, a.ID)
	}
	if err := t.Gorm().Exec(`DELETE FROM agent_windows WHERE agent_id = ?`, a.AgentID).Error; err != nil {
		return fmt.Errorf("store allowance: %w", err)
	}
	t.Publish(events.Agent(string(a.AgentID)))
	return nil
}

// agentLimitChanged has runs that wait for their agent's budget look again, where
// a new version of the policy sets another.
func (t *Tx) agentLimitChanged(old, next *policy.BudgetPerAgent) error {
	if old == next || old != nil && next != nil && *old == *next {
		return nil
	}
	res := t.Gorm().Exec(wakeWaiting, t.Now, false)
	return t.woke(res.RowsAffected, res.Error)
}

func (t *Tx) woke(n int64, err error) error {
	if err != nil {
		return fmt.Errorf("wake the built-in agent: %w", err)
	}
	if n > 0 {
		t.Publish(events.AgentInbox)
	}
	return nil
}
