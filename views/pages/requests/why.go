package requests

import (
	"cmp"
	"strings"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
)

// whyLabel names the fact that says what the policy said of a request when it came.
// A rule that asked is never told as what allowed or rejected the call (I10).
func whyLabel(r *models.Response) string {
	switch {
	case r.Status() == models.StatusPending:
		return "Needs approval because"
	case r.LetThrough() && r.Cause == models.CausePolicy:
		return "Why it was allowed"
	case r.Status() == models.StatusRejected && r.Cause == models.CausePolicy:
		return "Why it was rejected"
	case r.Status() == models.StatusRan, r.Status() == models.StatusRejected && r.Cause == models.CauseFallback:
		return "What is on record"
	case r.LetThrough():
		return "Policy" // it asked, and a pre-approval, or approval being off, let the call run
	}
	return "Needed approval because"
}

// builtInWords says in words why the policy asked without a rule; empty: the name is
// that of a rule. A rule cannot take such a name.
func builtInWords(rule string) string {
	switch rule {
	case policy.RuleExplicit:
		return "the agent asked"
	case policy.RuleRequiredTools:
		return "the tool always needs approval (required_approval_tools)"
	case policy.RuleUnmatched:
		return "no rule matches"
	}
	return ""
}

// namesRule reports whether the rule has to be named beside the reason: where none is written, the reason names it.
func (v Approval) namesRule() bool {
	return v.Rule != "" && v.BuiltIn == "" && !strings.Contains(v.PolicyReason, "“"+v.Rule+"”")
}

// whyWords is the reason of the policy, or why it asked without one; empty where the rule's name is all there is.
func (v Approval) whyWords() string {
	if v.PolicyReason != "" || v.namesRule() {
		return v.PolicyReason
	}
	return cmp.Or(v.BuiltIn, "policy v"+views.Number(v.PolicyVersion))
}

// detailFacts are the ids and the like of a request, in the order of the page.
func detailFacts(v Approval, r *models.Response) []NamedFact {
	var out []NamedFact
	add := func(id, label, text string) {
		if text != "" {
			out = append(out, NamedFact{v.Anchor("detail-" + id), label, text})
		}
	}
	add("request", "Request", string(r.ID))
	for _, named := range v.Named {
		add(named.ID, named.Label, named.Text)
	}
	if v.Outside {
		add("outside", "Approval in the other system", v.OutsideID)
		add("outside-call", "Call in the other system", v.OutsideCall)
	}
	add("agent", "Agent", string(r.AgentID))
	add("policy", "Policy", "v"+views.Number(v.PolicyVersion))
	if r.ToolInputJSON != "" && !r.IsRemoved() {
		add("size", "Input", views.Bytes(len(r.ToolInputJSON))+" as sent")
	}
	add("digest", "SHA-256 digest", r.Digest)
	return out
}
