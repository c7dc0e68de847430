package api

import (
	"context"
	"reflect"
	"time"

	"countersign/models"
)

// Origin tells a person where a request comes from. All but the names of the
// upstream and of who decided are claims.
type Origin struct {
	Upstream      string           `json:"upstream,omitempty" doc:"The other system that asks"`
	CallID        *string          `json:"callId,omitempty" doc:"The request's id there"`
	ApprovalID    string           `json:"approvalId,omitempty" doc:"What that system calls the request itself, beside the id of its call"`
	MatchedBy     models.MatchedBy `json:"matchedBy,omitempty" enum:"tool_use_id,input,order,only,unmatched" doc:"How it found the call that it is for; order: several fitted, and nothing but the order tells"`
	FoundIn       string           `json:"foundIn,omitempty" doc:"The run in which it found the call, where it asks for another run"`
	Beside        string           `json:"beside,omitempty" doc:"What that system sends beside the arguments of its call and is not understood: JSON as text, of a very long one the beginning"`
	Linked        *Linked          `json:"linked,omitempty" doc:"The other row of the same act: of an approval its reported call, of a call its approval. They are two where the inputs differ, or the call was reported after the decision"`
	Contradiction string           `json:"contradiction,omitempty" doc:"What was reported, or asked, against what stands"`
	ParentRunID   string           `json:"parentRunId,omitempty" doc:"The run that started this one"`
	StartedBy     string           `json:"startedBy,omitempty" doc:"The tool of the call that started the sub-agent that asks"`
	Telling       *Telling         `json:"telling,omitempty" doc:"The verdict that the other system has not been told yet"`
	Withdrawn     []Withdrawal     `json:"withdrawn,omitempty" doc:"Decisions that were taken back by others than those who gave them, the oldest first: the other system refused them, or an admin withdrew them"`
}

// Withdrawal is a decision that did not become the outcome, and why.
type Withdrawal struct {
	Verdict models.Verdict        `json:"verdict" enum:"approve,reject,answer"`
	Decider string                `json:"decider" doc:"Who gave it"`
	At      time.Time             `json:"at"`
	Kind    models.WithdrawalKind `json:"kind" enum:"refused,withdrawn" doc:"refused: the other system will not take it; withdrawn: an admin took it back"`
	By      string                `json:"by" doc:"The other system, or the admin"`
	Status  int                   `json:"status,omitempty" doc:"The HTTP status that the other system answered"`
	Said    string                `json:"said,omitempty" doc:"What the other system answered, in its own words, cut and without our key; or the admin's reason"`
	Lost    bool                  `json:"lost" doc:"An earlier attempt to tell the other system may have arrived"`
}

// Linked leads from an approval of another system to its reported call, or back.
type Linked struct {
	ID             models.ResponseID     `json:"id,omitempty" doc:"Left out where the reader may not see it"`
	ConversationID models.ConversationID `json:"conversationId,omitempty"`
	Is             string                `json:"is" enum:"call,approval"`
	RunID          string                `json:"runId" doc:"Of the call"`
	MatchedBy      models.MatchedBy      `json:"matchedBy" enum:"tool_use_id,input,order,only"`
	SameInput      bool                  `json:"sameInput"`
}

// Telling is a verdict on its way to another system.
type Telling struct {
	Verdict  models.Verdict `json:"verdict" enum:"approve,reject,answer"`
	By       string         `json:"by"`
	Since    time.Time      `json:"since"`
	Attempts int            `json:"attempts" doc:"How many have begun"`
	Problem  string         `json:"problem" doc:"What became of the last one that failed"`
	NextAt   time.Time      `json:"nextAt"`
}

// addOrigins tells a person where requests come from, who may approve them and
// whether their agents wait; agents know what they asked.
func (a *API) addOrigins(ctx context.Context, actor models.Actor, all ...*Approval) error {
	if !actor.IsPerson() {
		return nil
	}
	ids := make([]models.ResponseID, 0, len(all))
	for _, one := range all {
		ids = append(ids, one.ApprovalID)
	}
	origins, err := a.store.Origins(ctx, actor, ids...)
	if err != nil {
		return err
	}
	for _, one := range all {
		one.Policy.Approvers, one.Waiting = one.approvers, a.waitingFor(actor, one.ApprovalID, one.Status)
		if o, ok := origins[one.ApprovalID]; ok {
			one.Origin = originOf(one, &o)
		}
	}
	return nil
}

// waitingFor tells a person whether the agent of a pending request waits for it now.
func (a *API) waitingFor(actor models.Actor, id models.ResponseID, status models.Status) *bool {
	if !actor.IsPerson() || status != models.StatusPending {
		return nil
	}
	return new(a.store.Presence(id).Waiting)
}

// originOf is nil for what an agent asked for itself, in a run of its own.
func originOf(one *Approval, o *models.Origin) *Origin {
	out := Origin{Upstream: o.UpstreamName, ApprovalID: o.ApprovalID, MatchedBy: o.MatchedBy, FoundIn: o.FoundIn, Beside: o.Beside, Contradiction: o.Contradiction, ParentRunID: o.ParentRun, StartedBy: o.StartedBy}
	if l := o.Linked; l != nil {
		out.Linked = &Linked{ID: l.ID, ConversationID: l.ConversationID, Is: "approval", RunID: l.RunID, MatchedBy: l.By, SameInput: l.SameInput}
		if l.IsCall {
			out.Linked.Is = "call"
		}
	}
	if t := o.Told; t != nil {
		out.Telling = &Telling{Verdict: t.Verdict, By: t.VoterName, Since: t.Since, Attempts: t.Attempts, Problem: t.Problem, NextAt: t.NextAt}
	}
	for _, w := range o.Withdrawals {
		out.Withdrawn = append(out.Withdrawn, Withdrawal{w.Verdict, w.VoterName, w.At, w.Kind, w.ByName, w.Status, w.Said, w.Lost})
	}
	if reflect.ValueOf(out).IsZero() {
		return nil
	}
	out.CallID = one.callID
	return &out
}
