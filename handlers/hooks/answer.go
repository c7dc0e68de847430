package hooks

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/policy"
)

// translate puts an outcome into the agent's words.
func (h *hook) translate(a *models.Approval) *wire.HookAnswer {
	name := h.event.Name
	if why := a.Withheld(); why != "" {
		return wire.DenyHook(name, withSuggestion(a, "This call must not run: "+why+"."))
	}
	switch a.Status() {
	case models.StatusNone:
		if !ruled(a) {
			return new(wire.HookAnswer)
		}
		return h.release(a, "Allowed by Countersign: "+a.PolicyReason)
	case models.StatusApproved:
		return h.release(a, said("Approved", a))
	case models.StatusRejected, models.StatusExpired, models.StatusCancelled, models.StatusResolved, models.StatusRan,
		models.StatusPending:
	}
	return wire.DenyHook(name, refusal(a))
}

// release lets the input run that was approved, and no other (I6): that of a person's edit, or
// of another system that asked for the same call with another input than the agent's.
func (h *hook) release(a *models.Approval, reason string) *wire.HookAnswer {
	text, other := a.OtherInput()
	if approved, edit := a.Vote.ApprovedInput(); edit {
		text, other = approved, true
	}
	switch {
	case !other:
		return h.allow(reason, nil)
	case a.InputBytes != nil || !isObject(text):
		return wire.DenyHook(h.event.Name,
			"This call was approved with an input that is not a JSON object, or is not kept whole, which the tool cannot take.")
	}
	return h.allow(reason, json.RawMessage(text))
}

// ruled reports whether a person allowed a call beforehand, by a rule or a grant, without seeing it. Where no rule
// concerns it, or the gate is off, the agent's own permission rules still apply: a hook is never laxer than no hook.
func ruled(a *models.Approval) bool {
	return a.Cause == models.CauseGrant || a.Cause == models.CausePolicy && a.PolicyRule != policy.RuleUnmatched
}

// allow lets the call run, with another input if one was approved. A question to the
// person at the terminal is still shown there: allowed without answers it would count as
// not answered.
func (h *hook) allow(reason string, input json.RawMessage) *wire.HookAnswer {
	if h.event.Name == wire.HookPermissionRequest {
		return &wire.HookAnswer{Output: &wire.HookOutput{
			Name: h.event.Name, Request: &wire.HookPermission{Behavior: wire.HookAllow, Input: input},
		}}
	}
	out := &wire.HookOutput{Name: h.event.Name, Decision: wire.HookAllow, Reason: reason, Input: input}
	if h.event.ToolName == askUserQuestion && input == nil {
		out.Decision = wire.HookAsk
	}
	return &wire.HookAnswer{Output: out}
}

// refusal is what the agent's model reads of a call that must not run.
func refusal(a *models.Approval) string {
	if a.Status() == models.StatusRejected && a.Vote != nil {
		return withSuggestion(a, said("Rejected", a)+"\nDo not try the same call again unchanged.")
	}
	if text := a.Said(); text != "" && a.Status() == models.StatusRejected {
		return "Countersign rejected this call: " + text
	}
	switch a.Status() {
	case models.StatusExpired:
		if a.WhenBusy == models.BusyExpire {
			break
		}
		return a.Cause.Denial() + " This call must not run."
	case models.StatusCancelled:
		if text := a.Said(); text != "" {
			return "The request was cancelled, so this call must not run: " + text
		}
	case models.StatusNone, models.StatusPending, models.StatusApproved, models.StatusRejected, models.StatusResolved,
		models.StatusRan:
	}
	return a.Advice(a.Status())
}

// longestSuggestion is how much of a suggested input goes to an agent's model, in bytes.
const longestSuggestion = 4000

// withSuggestion adds the input with which the agent may ask again, if there is one.
func withSuggestion(a *models.Approval, text string) string {
	input, ok := a.Suggested()
	if !ok || len(input) > longestSuggestion {
		return text
	}
	return text + "\nMake a new call with this input to ask again: " + input
}

// said is a person's decision with their reason.
func said(what string, a *models.Approval) string {
	if a.Vote == nil {
		return what + "."
	}
	text := what + " by " + models.RevealName(a.Vote.UserName)
	switch a.Vote.Reason {
	case "":
		return text + "."
	case a.RemovedText():
		return text + ", in words that were removed."
	}
	return text + ": " + a.Vote.Reason
}

// isObject reports whether a text is one whole JSON object that can be read in one way only.
func isObject(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == '{' && v.IsValid()
}
