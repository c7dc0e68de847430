package policy

import "countersign/models"

// FallbackFor reports whether calls of a tool, under a template or none, may run without an
// answer at a time: fallback is on, and whatever such a call holds, no rule denies it, says
// that its risk is high or critical, or has several people sign it. A client asks before it knows what it will call the tool
// with, so no condition is judged, and each counts as met.
func (p *Policy) FallbackFor(c Call) bool {
	if c.Kind != models.KindToolCall || !p.FallbackOn(c.At) {
		return false
	}
	if t := p.doc.template(c.Template); t != nil && (t.Risk != "" && !models.FallbackFor(t.Risk) ||
		t.quorate() || t.SelfApproval == models.SelfNotAlone) {
		return false
	}
	r := p.reach(c.ToolName)
	for _, i := range r.rules {
		if !runsWithoutAnswer(&p.rules[i]) {
			return false
		}
	}
	for _, l := range r.near { // a call that is nearly denied is held for a person
		if !runsWithoutAnswer(&l.held) || l.rule < len(p.rules) && !runsWithoutAnswer(&p.rules[l.rule]) {
			return false
		}
	}
	return !r.required || runsWithoutAnswer(&p.required)
}

func runsWithoutAnswer(j *Judgement) bool {
	return j.Effect != EffectDeny && models.FallbackFor(j.Risk) && !j.Signed()
}
