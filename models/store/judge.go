package store

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/policy"
)

// judgedCall is a call that the policy is asked about, as far as conditions read it.
type judgedCall struct {
	id           models.ResponseID
	digest       string
	agent        string // its name
	owner        models.UserID
	conversation string // as the agent names it
	at           time.Time
	input        []byte
	removed      bool
}

// judgedRow is a call that is stored; its input may be another one, where a person edits it.
func judgedRow(a *models.Approval, input string, at time.Time) judgedCall {
	return judgedCall{
		id: a.ID, digest: a.Digest, agent: a.AgentName, owner: a.OwnerID, conversation: agentsName(a.ConversationID, a.RunID), at: at, input: []byte(input), removed: a.IsRemoved(),
	}
}

// agentsName is what an agent calls a conversation that is stored.
func agentsName(id models.ConversationID, run *string) string {
	if run != nil {
		return *run
	}
	return string(id)
}

// judgedAsk is a call that an agent asks about.
func judgedAsk(actor models.Actor, q *asked, id models.ResponseID, at time.Time) judgedCall {
	return judgedCall{
		id: id, digest: q.digest, agent: actor.Name, owner: actor.OwnerID, conversation: cmp.Or(q.RunID, q.Session, string(q.conversation)),
		at: at, input: q.Input,
	}
}

// factsOf reads what conditions need.
func factsOf(q *gorm.DB, of judgedCall) (policy.Facts, error) {
	var owner string
	if err := q.Model(&models.User{}).Where("id = ?", of.owner).Pluck("email", &owner).Error; err != nil {
		return policy.Facts{}, fmt.Errorf("read the agent's owner: %w", err)
	}
	return of.facts(owner), nil
}

// facts are what conditions read of it.
func (of *judgedCall) facts(owner string) policy.Facts {
	return policy.Facts{Agent: of.agent, Owner: owner, Conversation: of.conversation, Now: of.at, Input: of.input, Removed: of.removed}
}

// judge asks the policy, and logs what it says at the level for finding faults:
// rule and digest, never the input. A batch that runs again logs it again.
func (t *tx) judge(version int64, p *policy.Policy, c policy.Call, of judgedCall) (policy.Judgement, error) {
	if p.Conditional(c.ToolName) {
		var err error
		if c.Facts, err = factsOf(t.Gorm(), of); err != nil {
			return policy.Judgement{}, err
		}
	}
	j := p.Judge(c)
	t.s.logJudgement(version, c, of, j)
	return j, nil
}

func (s *Store) logJudgement(version int64, c policy.Call, of judgedCall, j policy.Judgement) {
	if ctx := context.Background(); s.log.Enabled(ctx, slog.LevelDebug) {
		s.log.LogAttrs(ctx, slog.LevelDebug, "policy judged",
			slog.String("approval", string(of.id)), slog.String("tool", c.ToolName),
			slog.String("effect", string(j.Effect)), slog.String("rule", j.Rule), slog.String("cause", string(j.Cause)),
			slog.String("risk", string(j.Risk)), slog.Int64("policy_version", version), slog.String("digest", of.digest))
	}
}

// ahead is what a policy says of a request that is not stored yet.
type ahead struct {
	policy    *policy.Policy
	judgement policy.Judgement
}

// judgeAhead judges a request before its transaction, if that means judging conditions,
// which may take long. It is asked again inside if another policy stands by then.
func (s *Store) judgeAhead(ctx context.Context, actor models.Actor, q *asked) error {
	p := s.lastUsed.Load()
	if p == nil || !p.Conditional(q.ToolName) {
		return nil
	}
	c := q.call()
	var err error
	if c.Facts, err = factsOf(s.db.Gorm(ctx), judgedAsk(actor, q, q.id, s.Now())); err != nil {
		return err
	}
	q.ahead = &ahead{p, p.Judge(c)}
	return nil
}

// judgeAsk judges a request, unless that was done ahead under the same policy.
func (t *tx) judgeAsk(actor models.Actor, version int64, p *policy.Policy, q *asked, id models.ResponseID) (policy.Judgement, error) {
	if q.Template != "" && q.fallback.IsZero() && !p.HasTemplate(q.Template) {
		return policy.Judgement{}, unknownTemplate(p)
	}
	c := q.call()
	of := judgedAsk(actor, q, id, t.Now)
	if q.ahead != nil && q.ahead.policy == p {
		t.s.logJudgement(version, c, of, q.ahead.judgement)
		return q.ahead.judgement, nil
	}
	return t.judge(version, p, c, of)
}

// CallOf is a request as the policy would be asked about it now.
func (s *Store) CallOf(ctx context.Context, a *models.Approval) (policy.Call, error) {
	c := callAgain(a.Kind, a.ToolName, a.PolicyRule, a.Template)
	var err error
	c.Facts, err = factsOf(s.db.Gorm(ctx), judgedRow(a, a.ToolInputJSON, a.CreatedAt))
	return c, err
}

// callAgain is a call that was judged before, by a rule. How it was asked is not kept: what
// is held because nothing matched was not asked for explicitly, and of all else it is taken
// to be, which holds it.
func callAgain(kind models.Kind, tool, rule, template string) policy.Call {
	return policy.Call{Kind: kind, ToolName: tool, Explicit: rule != policy.RuleUnmatched, Template: template}
}
