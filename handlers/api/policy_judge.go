package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
)

// shownReplayed is how many changes an answer lists.
const shownReplayed = 1000

func (a *API) registerPolicyJudging() {
	register(a, Drafters, huma.Operation{
		OperationID: "try-policy", Method: http.MethodPost, Path: "/v1/policy/try", Tags: policyTags,
		Summary:     "Say what the policy would do with a call",
		Description: "Which rule decides, and why each before it did not; by the active version, and by a document that is sent. Nothing is stored.",
		Errors:      []int{401, 403, 404, 413, 422, 503},
	}, a.tryPolicy)
	register(a, Drafters, huma.Operation{
		OperationID: "replay-policy", Method: http.MethodPost, Path: "/v1/policy/replay", Tags: policyTags,
		Summary:     "Say what a policy would have made of real calls",
		Description: "Each of the last calls that agents asked about is checked against the active version and the document. Nothing is stored.",
		Errors:      []int{401, 403, 413, 422, 503},
	}, a.replayPolicy)
	register(a, Drafters, huma.Operation{
		OperationID: "lint-policy", Method: http.MethodPost, Path: "/v1/policy/lint", Tags: policyTags,
		Summary:     "Check a policy",
		Description: "What is wrong with a document, and what may be a mistake, given the tools seen in the last 90 days and the people who may sign in. Nothing is stored.",
		Errors:      []int{401, 403, 413, 422, 503},
	}, a.lintPolicy)
}

type tryPolicyIn struct {
	caller

	Body wire.PolicyTry
}

type tryPolicyOut struct{ Body *wire.PolicyTried }

func (a *API) tryPolicy(ctx context.Context, in *tryPolicyIn) (*tryPolicyOut, error) {
	active, err := a.store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	call, err := a.callToTry(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &wire.PolicyTried{Active: policyAnswer(active.Program.Explain(call))}
	if len(in.Body.Document) > 0 {
		draft, err := policy.ParseChanged(in.Body.Document, active.Program.Document())
		if err != nil {
			return nil, err
		}
		answer := policyAnswer(draft.Explain(call))
		out.Draft = &answer
	}
	return &tryPolicyOut{out}, nil
}

func (a *API) callToTry(ctx context.Context, in *tryPolicyIn) (policy.Call, error) {
	b := &in.Body
	if b.ApprovalID != "" {
		id, err := models.ParseID[models.ResponseID]("approvalId", b.ApprovalID)
		if err != nil {
			return policy.Call{}, err
		}
		asked, err := a.store.Requests.Approval(ctx, in.actor, id)
		if err != nil {
			return policy.Call{}, err
		}
		return a.store.CallOf(ctx, asked)
	}
	call := policy.Call{
		Kind: models.Kind(cmp.Or(b.Kind, string(models.KindToolCall))), ToolName: b.ToolName, Explicit: b.Explicit,
		Template: b.Template, At: a.store.Now(),
		Facts: policy.Facts{Agent: b.Agent, Owner: b.Owner, Conversation: b.Conversation, Input: b.Input},
	}
	if b.At != nil {
		call.At = *b.At
	}
	return call, call.Check()
}

func policyAnswer(e policy.Explanation) wire.PolicyAnswer {
	j := e.Judgement
	out := wire.PolicyAnswer{
		Effect: string(j.Effect), Cause: string(j.Cause), Rule: j.Rule, Reason: j.Reason, Unjudged: j.Unjudged,
		Risk: string(j.Risk), TimeoutMinutes: j.Timeout,
		Reviewers: append([]string{}, j.Reviewers...), Readers: j.Readers, ReviewersOnly: j.ReviewersOnly,
		SelfApproval: wire.SelfApproval(cmp.Or(j.SelfApproval, models.SelfAllowed)),
		Only:         j.Only, AtMostMinutes: j.AtMost, Checklist: j.Checklist, Substitutes: !j.NoSubstitutes, Text: j.Text,
		WhenBusy: string(j.WhenBusy),
		Steps:    []wire.PolicyStep{},
	}
	out.Any, out.Stages, out.RejectCount, out.BreakGlass = j.Any, j.Stages, j.RejectCount, j.BreakGlass
	for _, s := range j.Approvals {
		out.Approvals = append(out.Approvals, wire.PolicySigners(s))
	}
	for _, s := range j.Escalate {
		out.Escalate = append(out.Escalate, wire.PolicyAsks{AfterMinutes: s.AfterMinutes, To: s.To})
	}
	for _, s := range e.Steps {
		out.Steps = append(out.Steps, wire.PolicyStep{Rule: s.Rule, Why: s.Why})
	}
	return out
}

type replayPolicyIn struct {
	caller

	Body wire.PolicyReplay
}

type replayPolicyOut struct{ Body *wire.PolicyReplayed }

func (a *API) replayPolicy(ctx context.Context, in *replayPolicyIn) (*replayPolicyOut, error) {
	active, err := a.store.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	draft, err := policy.ParseChanged(in.Body.Document, active.Program.Document())
	if err != nil {
		return nil, err
	}
	var q drafts.ReplayQuery
	if in.Body.Last != nil {
		if q.Last = *in.Body.Last; q.Last < 1 {
			return nil, models.Invalid("last", "must be from 1 to %d", drafts.MaxReplayed)
		}
	}
	if in.Body.Since != nil {
		q.Since = *in.Body.Since
	}
	found, err := drafts.New(a.store).Replay(ctx, in.actor, active.Program, draft, q, func(int) {})
	if err != nil {
		return nil, err
	}
	return &replayPolicyOut{replayedOf(found)}, nil
}

func replayedOf(found *drafts.Replay) *wire.PolicyReplayed {
	out := &wire.PolicyReplayed{
		Calls: found.Calls, Changed: found.Changed, Effects: found.Effects, Unjudged: found.Unjudged,
		Groups: []wire.PolicyReplayGroup{}, Changes: []wire.PolicyReplayChange{}, More: len(found.Changes) > shownReplayed,
	}
	if !found.Oldest.IsZero() {
		out.OldestAt = &found.Oldest
	}
	for _, g := range found.Groups() {
		out.Groups = append(out.Groups,
			wire.PolicyReplayGroup{ToolName: g.Tool, Active: outcomeOf(g.Old), Draft: outcomeOf(g.New), Calls: g.Calls})
	}
	for i := range min(len(found.Changes), shownReplayed) {
		c := &found.Changes[i]
		out.Changes = append(out.Changes, wire.PolicyReplayChange{
			ApprovalID: string(c.ID), ToolName: c.Tool, Agent: c.AgentName, AskedAt: c.At, Active: outcomeOf(c.Old),
			Draft: outcomeOf(c.New),
		})
	}
	return out
}

func outcomeOf(o policy.Outcome) wire.PolicyOutcome {
	return wire.PolicyOutcome{Effect: string(o.Effect), Rule: o.Rule, Terms: o.Terms}
}

type lintPolicyIn struct {
	caller

	Body wire.PolicyDocument
}

type lintPolicyOut struct{ Body *wire.PolicyLinted }

func (a *API) lintPolicy(ctx context.Context, in *lintPolicyIn) (*lintPolicyOut, error) {
	out := &wire.PolicyLinted{Problems: []wire.PolicyRemark{}, Warnings: []wire.PolicyRemark{}}
	doc, err := a.store.CheckPolicy(ctx, in.Body.Document)
	if wrong, ok := errors.AsType[*models.Error](err); ok && wrong.Code == models.CodeInvalid {
		for _, path := range slices.Sorted(maps.Keys(wrong.Fields)) {
			out.Problems = append(out.Problems, wire.PolicyRemark{Path: path, Text: wrong.Fields[path]})
		}
		return &lintPolicyOut{out}, nil
	}
	if err != nil {
		return nil, err
	}
	usage, err := drafts.New(a.store).Usage(ctx, in.actor)
	if err != nil {
		return nil, err
	}
	for _, w := range policy.LintIn(doc, usage) {
		out.Warnings = append(out.Warnings, wire.PolicyRemark{Path: w.Path, Text: w.Text})
	}
	return &lintPolicyOut{out}, nil
}

// policyJudgingDocs are the operations that judge by a policy.
func policyJudgingDocs() map[string]operationDoc {
	document := jsontext.Value(`{"rules":[{"name":"payments over 100","tools":["/^payment\\./"],"when":"input.amount > 100","effect":"require","risk":"high"}]}`)
	last, since := 1000, exampleTime.Add(-30*24*time.Hour)
	runs := wire.PolicyOutcome{Effect: "allow", Rule: "unmatched"}
	waits := wire.PolicyOutcome{Effect: "require", Rule: "payments over 100", Terms: "risk high"}
	return map[string]operationDoc{
		"try-policy": {
			requests: map[string]any{"call": &wire.PolicyTry{
				Document: document, ToolName: "payment.send", Input: jsontext.Value(`{"amount":101}`),
			}},
			answers: map[int]any{200: &wire.PolicyTried{
				Active: wire.PolicyAnswer{
					Effect: "allow", Cause: "policy", Rule: "unmatched",
					Reason: "No rule concerns this tool, and the policy lets such calls through.", Risk: "medium",
					Reviewers: []string{}, SelfApproval: "allowed",
					Steps: []wire.PolicyStep{
						{Rule: "required_approval_tools", Why: "None of the tools in it matches."},
						{Rule: "unmatched", Why: "No rule concerns this tool, and the policy lets such calls through."},
					},
				},
				Draft: &wire.PolicyAnswer{
					Effect: "require", Rule: "payments over 100",
					Reason: "The rule “payments over 100” requires approval of this tool.", Risk: "high",
					Reviewers: []string{}, SelfApproval: "allowed",
					Steps: []wire.PolicyStep{{
						Rule: "payments over 100", Why: "The tool matches “/^payment\\./”, and its condition is true.",
					}},
				},
			}},
			problems: []models.Code{models.CodeNotFound},
		},
		"replay-policy": {
			requests: map[string]any{"draft": &wire.PolicyReplay{Document: document, Last: &last, Since: &since}},
			answers: map[int]any{200: &wire.PolicyReplayed{
				Calls: 1000, Changed: 12, Effects: 12, OldestAt: &since,
				Groups: []wire.PolicyReplayGroup{{ToolName: "payment.send", Active: runs, Draft: waits, Calls: 12}},
				Changes: []wire.PolicyReplayChange{{
					ApprovalID: exampleID, ToolName: "payment.send", Agent: "builder", AskedAt: exampleTime, Active: runs,
					Draft: waits,
				}},
			}},
		},
		"lint-policy": {
			requests: map[string]any{"document": &wire.PolicyDocument{Document: document}},
			answers: map[int]any{200: &wire.PolicyLinted{
				Problems: []wire.PolicyRemark{},
				Warnings: []wire.PolicyRemark{{
					Path: "rules[0].tools[0]", Text: "“/^payment\\./” in the rule “payments over 100” narrowly misses “Payment.Send”, which agents asked about. Add the name if you mean it too.",
				}},
			}},
		},
	}
}
