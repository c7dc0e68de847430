package pages

import (
	"countersign/models"
	"countersign/views"
)

// detailFacts are the ids and the like of a request, in the order of the page.
func detailFacts(v Approval, r *models.Response) []NamedFact {
	var out []NamedFact
	add := func(id, label, text string) {
		if text != "" {
			out = append(out, NamedFact{v.id("detail-" + id), label, text})
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
