package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

const heldDescription = "200: the decision is the outcome. 202: it was stored, but the request stays pending until what held.reason names is over; " +
	"until then nobody else can decide it, except with quorum, where others still have to. 403 not_a_reviewer: the rule lets only others approve it; it can be rejected."

// heldResponses are the answers of an operation that decides, beside its first.
func heldResponses() map[string]*huma.Response {
	return map[string]*huma.Response{"202": {Description: "Stored, and held"}}
}

// heldOf is what holds a request; nil for nothing.
func heldOf(a *models.Approval) *wire.Held {
	by, until := a.Held()
	if by == "" {
		return nil
	}
	return &wire.Held{Reason: string(by), Until: until}
}

// holders gives a person the verdicts that hold requests of a list.
func (a *API) holders(ctx context.Context, actor models.Actor, list []models.Approval) error {
	return a.store.Requests.HeldVerdicts(ctx, actor, pointers(list)...)
}

func pointers[T any](list []T) []*T {
	all := make([]*T, 0, len(list))
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// decidedStatus is the status of an answer to a verdict.
func decidedStatus(a *models.Approval) int {
	if heldOf(a) != nil {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// signaturesOf is how far a request has come that several people sign, as far as the reader may know it.
func signaturesOf(waits models.WaitsFor) *wire.Signatures {
	if waits.Count == nil {
		return nil
	}
	out := &wire.Signatures{Have: waits.Count.Have, Need: waits.Count.Need}
	s := waits.Ballot
	if s == nil {
		return out
	}
	out.InOrder, out.Any, out.Glass = s.Stages, s.Any, s.Glass.Reviewers()
	out.Signed = signedOf(s.Votes)
	for i := range out.Signed {
		out.Signed[i].Counts = !s.Lost[s.Votes[i].ID]
	}
	for i, e := range s.Entries {
		out.Wanted = append(out.Wanted, wire.Wanted{From: e.Reviewers(), Count: e.Count, Have: s.Tally.Of[i]})
	}
	if s.Edit != nil {
		out.Digest, out.Input = *s.Edit.InputDigest, rawOf(*s.Edit.Input)
	}
	return out
}

// signedOf are the signatures on a request.
func signedOf(votes []models.Vote) []wire.Signature {
	var out []wire.Signature
	for i := range votes {
		v := &votes[i]
		one := wire.Signature{
			By: wire.Decider{ID: wire.UserID(v.UserID), Name: v.UserName}, Verdict: string(v.Verdict), Reason: v.Reason, At: v.At,
			Counts: true, Glass: v.BrokeGlass(),
		}
		if v.BehalfOf != "" {
			one.Behalf = &wire.Decider{ID: wire.UserID(v.BehalfOf), Name: v.BehalfName}
		}
		out = append(out, one)
	}
	return out
}
