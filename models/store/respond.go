package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// Respond stores what an agent says in a conversation of its own: a reply, or a
// proposal, which is pending until a person decides. The same response sent
// again, found by its id, is the same row (I9). A conversation that is unknown
// anywhere is opened. Energy is spent in the same transaction (I14).
//
// Codes: forbidden (agents only), invalid, other_agent, id_taken, key_conflict,
// too_many_requests, too_many_pending; budget_exhausted with the budget request
// that a person is asked, which is stored.
func (s *Store) Respond(ctx context.Context, actor models.Actor, in models.ResponseInput) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only an agent's token may add responses.")
	}
	conversation, err := models.ParseID[models.ConversationID]("conversationId", string(in.ConversationID))
	if err != nil {
		return nil, err
	}
	r, err := checkResponse(in)
	if err != nil {
		return nil, err
	}
	var out *models.Approval
	err = s.write(ctx, func(t *Tx) error {
		if r.ID != "" {
			a, err := t.Request(r.ID)
			if err != nil {
				return err
			}
			if a != nil {
				out, err = t.sameResponse(actor, conversation, r, a)
				return err
			}
		}
		if err := t.admitAsk(actor, 0); err != nil {
			return err
		}
		conv, err := t.agentConversation(actor, conversation, r.Energy)
		if err != nil {
			return err
		}
		out, err = t.respond(actor, conv, r, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// checkResponse does everything that needs no database.
func checkResponse(in models.ResponseInput) (models.Response, error) {
	r := models.Response{
		Kind: in.Kind, Content: in.Content, EnergyBudget: in.EnergyBudget, ModelUsed: in.ModelUsed,
		Explanation: models.Explanation{Preview: in.Preview}, Energy: models.DefaultEnergy,
	}
	switch in.Kind {
	case models.KindProposal:
		r.ToolName = models.ToolRespondWithApproval
	case models.KindReply:
		if in.EnergyBudget != nil {
			return r, models.Invalid("energyBudget", "belongs to a proposal")
		}
	case models.KindToolCall, models.KindQuestion, models.KindBudget:
		return r, models.Invalid("kind", "must be reply or proposal")
	default:
		return r, models.Invalid("kind", "must be reply or proposal")
	}
	if err := models.CheckContent("content", in.Content); err != nil {
		return r, err
	}
	if in.Preview != "" && in.Kind != models.KindProposal {
		return r, models.Invalid("preview", "belongs to a proposal")
	}
	if err := models.CheckText("preview", in.Preview, models.MaxPreview); err != nil {
		return r, err
	}
	if err := models.CheckText("modelUsed", in.ModelUsed, models.MaxName); err != nil {
		return r, err
	}
	if in.Energy != nil {
		if *in.Energy < 0 || *in.Energy > models.MaxEnergy {
			return r, models.Invalid("energy", "must be from 0 to %d", models.MaxEnergy)
		}
		r.Energy = *in.Energy
	}
	if b := in.EnergyBudget; b != nil && (*b < 0 || *b > models.MaxBudget) {
		return r, models.Invalid("energyBudget", "must be from 0 to %d", int64(models.MaxBudget))
	}
	if in.ResponseID != "" {
		var err error
		if r.ID, err = models.ParseID[models.ResponseID]("responseId", in.ResponseID); err != nil {
			return r, err
		}
	}
	var err error
	r.Digest, err = r.DigestUnder(models.DigestVersion)
	return r, err
}

// sameResponse checks that a response whose id exists is that same response.
func (t *Tx) sameResponse(
	actor models.Actor, conv models.ConversationID, r models.Response, a *models.Approval,
) (*models.Approval, error) {
	digest, err := r.DigestUnder(a.DigestVersion)
	if err != nil {
		return nil, err
	}
	switch {
	case a.AgentID != actor.AgentID():
		return nil, idTaken("responseId")
	case a.Digest != digest || a.ConversationID != conv:
		what := "kind, content or budget"
		if a.ConversationID != conv {
			what = "conversation"
		}
		return nil, &models.Error{
			Code:     models.CodeKeyConflict,
			Text:     "A response with this id exists with a different " + what + "; nothing was changed.",
			Approval: requests.At(a, t.Now),
		}
	}
	return requests.At(a, t.Now), nil
}

// agentConversation is an agent's own conversation, opened if its id is unknown
// anywhere. energy is the least that it is about to spend there.
func (t *Tx) agentConversation(
	actor models.Actor, id models.ConversationID, energy int64,
) (*models.Conversation, error) {
	conv, err := t.Conversation(id)
	if err != nil {
		return nil, err
	}
	if err := ownConversation(actor, conv); err != nil || conv != nil {
		return conv, err
	}
	if err := t.refusedAtOnce(actor, energy); err != nil {
		return nil, err
	}
	return t.openConversation(actor, &asked{conversation: id})
}

// Respond is Store.Respond in one of the agent's conversations; prepaid is the part of the energy that was spent
// before. It does not look for an existing response with the same id.
func (t *Tx) Respond(
	actor models.Actor, conv *models.Conversation, in models.ResponseInput, prepaid int64,
) (*models.Approval, error) {
	r, err := checkResponse(in)
	if err != nil {
		return nil, err
	}
	return t.respond(actor, conv, r, prepaid)
}

// respond stores a checked reply or proposal with its energy, of which prepaid was
// spent before.
func (t *Tx) respond(
	actor models.Actor, conv *models.Conversation, r models.Response, prepaid int64,
) (*models.Approval, error) {
	if r.Kind != models.KindReply {
		return t.addJudged(actor, conv, r, terms{least: r.Energy, prepaid: prepaid})
	}
	version, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	a := t.responseIn(actor, conv, r)
	j, err := t.judge(version, p, policy.Call{Kind: r.Kind, ToolName: models.ToolRespond}, judgedRow(a, "", t.Now))
	if err != nil {
		return nil, err
	}
	a.PolicyVersion, a.Risk, a.Energy = version, models.RiskLow, max(r.Energy, j.Energy)
	next, err := t.spend(actor, conv.ID, a.Energy-min(prepaid, a.Energy))
	if err != nil {
		return nil, err
	}
	a.Sequence = next.sequence
	t.changed(conv.ID)
	if err := t.addResponse(&a.Response); err != nil {
		return nil, err
	}
	return a, t.Record(actor, "response.added", ledger.SubjectOf(&a.Response, nil), askedData(a, nil, false))
}

// responseIn is a response of the actor's in a conversation, not yet in sequence.
func (t *Tx) responseIn(actor models.Actor, conv *models.Conversation, r models.Response) *models.Approval {
	r.ConversationID, r.OwnerID, r.AgentID, r.CreatedAt = conv.ID, conv.OwnerID, conv.AgentID, t.Now
	r.ApprovalTimeoutAt, r.DigestVersion = models.NoDeadline, models.DigestVersion
	if r.ID == "" {
		r.ID = models.NewID[models.ResponseID]()
	}
	return &models.Approval{Response: r, RunID: conv.RunID, AgentName: actor.Name, ConversationTitle: conv.Title}
}

// terms are on what terms a proposal or budget request is stored.
type terms struct {
	least    int64 // what it costs where no rule says more
	prepaid  int64 // the part of it that was spent before
	waitless bool  // it ends as it begins, and waits for no one
}

// addJudged stores a proposal or budget request as the policy judges it: pending
// or rejected. A budget request costs nothing. It expires at r.ApprovalTimeoutAt at
// the latest, if that is set.
func (t *Tx) addJudged(
	actor models.Actor, conv *models.Conversation, r models.Response, on terms,
) (*models.Approval, error) {
	version, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	latest := r.ApprovalTimeoutAt // zero: there is none
	a := t.responseIn(actor, conv, r)
	j, err := t.judge(version, p, policy.Call{Kind: r.Kind, ToolName: r.ToolName}, judgedRow(a, a.ToolInputJSON, t.Now))
	if err != nil {
		return nil, err
	}
	a.PolicyVersion, a.PolicyRule, a.PolicyReason, a.Risk, a.Energy = version, j.Rule, j.Reason, j.Risk, on.least
	if r.Kind != models.KindBudget {
		a.Energy = max(on.least, j.Energy)
	}
	next, err := t.spend(actor, conv.ID, a.Energy-min(on.prepaid, a.Energy))
	if err != nil {
		return nil, err
	}
	a.Sequence = next.sequence
	deadline := models.NoDeadline
	if minutes, ok := p.DefaultTimeout(r.Kind); ok {
		deadline = t.Now.Add(time.Duration(minutes) * time.Minute)
	}
	if j.Timeout != nil {
		deadline = t.Now.Add(time.Duration(*j.Timeout) * time.Minute)
	}
	if !latest.IsZero() && latest.Before(deadline) {
		deadline = latest
	}
	reviewers, err := t.applyJudgement(a, &asked{}, j, deadline)
	if err != nil {
		return nil, err
	}
	t.Publish(events.Conversation(string(conv.ID)))
	if err := t.addResponse(&a.Response); err != nil {
		return nil, err
	}
	if err := t.addDeciders(&a.Response, reviewers); err != nil {
		return nil, err
	}
	if err := t.planEscalation(&a.Response); err != nil {
		return nil, err
	}
	t.asked(a)
	if err := t.Record(actor, askAction(a), ledger.SubjectOf(&a.Response, reviewers),
		askedData(a, reviewers, next.runs && !on.waitless)); err != nil {
		return nil, fmt.Errorf("record %s: %w", r.Kind, err)
	}
	return a, t.reroute(models.System("policy"), a)
}
