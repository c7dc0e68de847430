package api

import (
	"context"
	"reflect"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// approvalsFor shows requests to a caller, with what they wait for. People see where each comes from, who
// may approve it and whether its agent waits; agents know what they asked.
func (a *API) approvalsFor(
	ctx context.Context, actor models.Actor, rows ...*models.Approval,
) ([]*wire.Approval, error) {
	all, ids := make([]*wire.Approval, 0, len(rows)), make([]models.ResponseID, 0, len(rows))
	waits, err := a.store.WaitsFor(ctx, actor, rows...)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		all, ids = append(all, approvalOf(a.kit, row)), append(ids, row.ID)
		all[i].Reviewers, all[i].WaitingFor = waits[i].Reviewers, waits[i].Text
		all[i].Signatures = signaturesOf(waits[i])
	}
	if !actor.IsPerson() {
		return all, nil
	}
	origins, err := a.store.Requests.Origins(ctx, actor, ids...)
	if err != nil {
		return nil, err
	}
	agents, err := a.presences(ctx, actor, rows...)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if w := row.Approvers(); w.Limited() {
			all[i].Policy.Approvers = w.Reviewers()
		}
		all[i].Waiting = agents.waiting(row.ID)
		if o, ok := origins[row.ID]; ok {
			all[i].Origin = originOf(row.CallID, &o)
		}
	}
	return all, nil
}

// approvalFor shows one.
func (a *API) approvalFor(ctx context.Context, actor models.Actor, row *models.Approval) (*wire.Approval, error) {
	all, err := a.approvalsFor(ctx, actor, row)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// presences are of pending requests, for people.
type presences map[models.ResponseID]models.Presence

// presences reads whether the agents of the pending ones among some requests wait for them now; an agent is not told.
func (a *API) presences(ctx context.Context, actor models.Actor, rows ...*models.Approval) (presences, error) {
	if !actor.IsPerson() {
		return nil, nil //nolint:nilnil // none is shown
	}
	var ids []models.ResponseID
	for _, row := range rows {
		if row.Status() == models.StatusPending {
			ids = append(ids, row.ID)
		}
	}
	return a.store.Presences(ctx, ids...)
}

// waiting is nil where it is not to be shown.
func (p presences) waiting(id models.ResponseID) *bool {
	one, ok := p[id]
	if !ok {
		return nil
	}
	return &one.Waiting
}

// originOf is nil for what an agent asked for itself, in a run of its own.
func originOf(callID *string, o *models.Origin) *wire.Origin {
	out := wire.Origin{
		Upstream: o.UpstreamName, ApprovalID: o.ApprovalID, MatchedBy: wire.MatchedBy(o.MatchedBy), FoundIn: o.FoundIn,
		Beside: o.Beside, Contradiction: o.Contradiction, ParentRunID: o.ParentRun, StartedBy: o.StartedBy,
	}
	if l := o.Linked; l != nil {
		out.Linked = &wire.Linked{
			ID: wire.ResponseID(l.ID), ConversationID: wire.ConversationID(l.ConversationID), Is: "approval", RunID: l.RunID,
			MatchedBy: wire.MatchedBy(l.By), SameInput: l.SameInput,
		}
		if l.IsCall {
			out.Linked.Is = "call"
		}
	}
	if t := o.Delivery; t != nil {
		out.Telling = &wire.Telling{
			Verdict: wire.Verdict(t.Verdict), By: t.VoterName, Since: t.Since, Attempts: t.Attempts, Problem: t.Problem,
			NextAt: t.NextAt,
		}
	}
	for _, w := range o.Withdrawals {
		out.Withdrawn = append(out.Withdrawn, wire.Withdrawal{
			Verdict: wire.Verdict(w.Verdict), Decider: w.VoterName, At: w.At, Kind: wire.WithdrawalKind(w.Kind), By: w.ByName,
			Status: w.Status, Said: w.Said, Lost: w.Lost,
		})
	}
	if reflect.ValueOf(out).IsZero() {
		return nil
	}
	out.CallID = callID
	return &out
}
