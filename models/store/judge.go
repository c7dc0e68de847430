package store

import (
	"bytes"
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
		id: a.ID, digest: a.Digest, agent: a.AgentName, owner: a.OwnerID,
		conversation: models.NameOfConversation(a.ConversationID, a.RunID), at: at, input: []byte(input),
		removed: a.IsRemoved(),
	}
}

// judgedAsk is a call that an agent asks about.
func judgedAsk(actor models.Actor, q *asked, id models.ResponseID, at time.Time) judgedCall {
	return judgedCall{
		id: id, digest: q.digest, agent: actor.Name, owner: actor.OwnerID,
		conversation: cmp.Or(q.RunID, q.Session, string(q.conversation)),
		at:           at, input: q.Input,
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
	return policy.Facts{Agent: of.agent, Owner: owner, Conversation: of.conversation, Input: of.input, Removed: of.removed}
}

// judge asks the policy, and logs the answer at the level for finding faults: rule and digest, never the input. A
// batch that runs again logs it again.
//
// Conditions may take long, and they block all other writers: so where they were not judged before the transaction,
// the function ends with an unjudgedError, and runs again after they were.
func (t *Tx) judge(version int64, p *policy.Policy, c policy.Call, of judgedCall) (policy.Judgement, error) {
	c.At = of.at
	if p.Conditional(c.ToolName) {
		if t.early.of(p, c, of) {
			t.logJudgement(version, c, of, t.early.judgement, true)
			return t.early.judgement, nil
		}
		var err error
		if c.Facts, err = factsOf(t.Gorm(), of); err != nil {
			return policy.Judgement{}, err
		}
		if t.leaves {
			return policy.Judgement{}, &unjudgedError{p, c, of}
		}
	}
	j := p.Judge(c)
	t.logJudgement(version, c, of, j, false)
	return j, nil
}

// unjudgedError leaves a transaction whose function needs a judgement of conditions.
type unjudgedError struct {
	policy *policy.Policy
	call   policy.Call
	of     judgedCall
}

func (*unjudgedError) Error() string { return "the policy's conditions are to be judged first" }

// judged judges it outside of the transaction that was left.
func (f *unjudgedError) judge() *earlyJudgement {
	return &earlyJudgement{f.policy, f.call, f.of, f.policy.Judge(f.call)}
}

// leavesMost is how often a function is left for a judgement: behind that the policy has
// changed each time, and it is judged within.
const leavesMost = 2

func (t *Tx) logJudgement(version int64, c policy.Call, of judgedCall, j policy.Judgement, early bool) {
	if t.s.logsDebug {
		t.s.log.LogAttrs(t.Caller, slog.LevelDebug, "policy judged",
			slog.String("approval", string(of.id)), slog.String("tool", c.ToolName),
			slog.String("effect", string(j.Effect)), slog.String("rule", j.Rule), slog.String("cause", string(j.Cause)),
			slog.String("risk", string(j.Risk)), slog.Int64("policy_version", version), slog.String("digest", of.digest),
			slog.Bool("ahead", early))
	}
}

// ahead is what a policy said of a call before the transaction that needs to know.
type earlyJudgement struct {
	policy    *policy.Policy
	call      policy.Call
	about     judgedCall
	judgement policy.Judgement
}

// of reports whether it is what the policy says of a call now: the same policy of the same
// call, within the same second, so that neither the gate has come on since (I3) nor do
// conditions read another time.
func (a *earlyJudgement) of(p *policy.Policy, c policy.Call, of judgedCall) bool {
	if a == nil || a.policy != p || a.call.At.Unix() != c.At.Unix() {
		return false
	}
	was, is := a.about, of
	return a.call.Kind == c.Kind && a.call.ToolName == c.ToolName && a.call.Explicit == c.Explicit &&
		a.call.Template == c.Template && a.call.Pending == c.Pending &&
		was.digest == is.digest && was.agent == is.agent && was.owner == is.owner && was.conversation == is.conversation &&
		was.removed == is.removed && bytes.Equal(was.input, is.input)
}

// judgeAhead judges a request before its transaction, if that means judging conditions: it
// saves an ask from running twice. It is nil where nothing was judged.
func (s *Store) judgeAhead(ctx context.Context, actor models.Actor, q *asked) (*earlyJudgement, error) {
	p := s.lastUsed.Load()
	if p == nil || !p.Conditional(q.ToolName) {
		return nil, nil //nolint:nilnil // nothing judged is an answer
	}
	c, of := callOfAsk(actor, q, q.id, s.Now())
	var err error
	if c.Facts, err = factsOf(s.db.Gorm(ctx), of); err != nil {
		return nil, err
	}
	return (&unjudgedError{p, c, of}).judge(), nil
}

// judgeAsk judges a request.
func (t *Tx) judgeAsk(
	actor models.Actor, version int64, p *policy.Policy, q *asked, id models.ResponseID,
) (policy.Judgement, error) {
	if q.Template != "" && q.fallback.IsZero() && !p.HasTemplate(q.Template) {
		return policy.Judgement{}, unknownTemplate(p)
	}
	c, of := callOfAsk(actor, q, id, t.Now)
	return t.judge(version, p, c, of)
}

// callOfAsk is a request as the policy is asked about it.
func callOfAsk(actor models.Actor, q *asked, id models.ResponseID, at time.Time) (policy.Call, judgedCall) {
	return policy.Call{
		Kind: q.Kind, ToolName: q.ToolName, Explicit: q.Explicit, Template: q.Template, At: at,
	}, judgedAsk(actor, q, id, at)
}

// CallOf is a request as the policy would be asked about it now.
func (s *Store) CallOf(ctx context.Context, a *models.Approval) (policy.Call, error) {
	c := policy.CallAgain(a.Kind, a.ToolName, a.PolicyRule, a.Template, a.CreatedAt)
	var err error
	c.Facts, err = factsOf(s.db.Gorm(ctx), judgedRow(a, a.ToolInputJSON, a.CreatedAt))
	return c, err
}

// allowHeadline keeps that messages about a request may carry its headline, where its rule
// says so (I12).
func (t *Tx) allowHeadline(a *models.Approval, j policy.Judgement) error {
	if !j.NotifyHeadline || a.Status() != models.StatusPending {
		return nil
	}
	if err := t.Gorm().Create(&models.ToldHeadline{ResponseID: a.ID}).Error; err != nil {
		return fmt.Errorf("allow headline: %w", err)
	}
	return nil
}
