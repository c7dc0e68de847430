package models

import "strings"

// Advice is one sentence on which a model can act: what the state means and
// what to do next. Each cause has its own (I10); what people wrote is never part
// of it, so that a reason cannot pose as an instruction of the server.
func Advice(status Status, cause Cause, kind Kind) string {
	switch status {
	case StatusNone:
		return adviceLetThrough(cause)
	case StatusPending:
		return advicePending(kind)
	case StatusApproved:
		return adviceApproved(cause, kind)
	case StatusRejected:
		return adviceRejected(cause, kind)
	case StatusExpired:
		if cause == CauseUndelivered {
			return "A person decided, but the system that asked could not be told in time, so this is not approved: do not act on it, and ask again under a new key if it still matters."
		}
		return "Nobody decided in time, so this is not approved: ask again under a new key if it still matters, or go on without it."
	case StatusCancelled:
		return adviceCancelled(cause)
	case StatusResolved:
		return adviceResolved(cause, kind)
	case StatusRan:
		return "This ran while no server could be reached, and nobody decided it: that is on record and is no approval, so do not run it again, and ask under a new key if it is wanted once more."
	}
	return "The state is unknown: do not act on this request."
}

// Advice is what the agent reads about a response in a status.
func (r *Response) Advice(status Status) string {
	if r.ContentsGone() && (status == StatusApproved || status == StatusNone) {
		return AdviceRemoved
	}
	if r.AsksForAllowance() {
		switch {
		case status == StatusApproved:
			return "A person allows the agent to spend more, perhaps a different amount than requested: send again what its budget did not allow, and heed decision.reason if there is one."
		case status == StatusRejected && r.Cause == CauseReviewer:
			return "A person refused the agent more energy: nobody is asked again before the time in the input; decision.reason quotes what they said, go on when enough of what was spent is longer ago, or stop."
		case status == StatusExpired && r.Cause == CauseTimeout:
			return "Nobody decided in time: send again what the agent's budget did not allow, which may fit by now; else its owner is asked again."
		}
	}
	if status == StatusExpired && r.WhenBusy == BusyExpire {
		return "Those who would be asked have enough to look at, so nobody was asked and this is not approved: go on without it, or ask again in an hour under a new key."
	}
	text := Advice(status, r.Cause, r.Kind)
	if r.SaidRemoved() {
		return withoutReason(text)
	}
	return text
}

// withoutReason is an advice up to where it refers to a reason, which is not there any more.
func withoutReason(text string) string {
	if before, _, refers := strings.Cut(text, "decision.reason"); refers {
		return strings.TrimRight(before, ";: ,") + "."
	}
	return text
}

func adviceLetThrough(cause Cause) string {
	switch cause {
	case CausePolicy:
		return "The policy allows this without a person: go ahead with the input as sent."
	case CauseGrant:
		return "A person pre-approved calls like this: go ahead with the input as sent."
	case CauseGateOff:
		return "Approvals are switched off, so nobody looked at this: go ahead with care, with the input as sent."
	case CauseNone, CauseReviewer, CauseFallback, CauseTimeout, CauseCancelled, CauseCascade, CauseNoReviewer,
		CauseUndelivered, CauseElsewhere, CauseGone, CauseRunEnded, CauseStopped:
		return "No approval was needed: go ahead with the input as sent."
	}
	return "No approval was needed: go ahead with the input as sent."
}

func advicePending(kind Kind) string {
	if kind == KindBudget {
		return "Nobody has decided on more budget yet: wait for this request by its id, and then send again what the budget did not allow."
	}
	return "Nobody has decided yet: send the same request again to wait, and do not act before it is settled."
}

func adviceApproved(cause Cause, kind Kind) string {
	switch kind {
	case KindQuestion:
		return "A person answered: go on with decision.answer or decision.option."
	case KindProposal:
		return "A person approved this proposal: do what it says and no more, and heed decision.reason if there is one."
	case KindBudget:
		if cause == CausePolicy {
			return "The policy lets the system add this much, so the budget was raised without a person: send again what it did not allow."
		}
		return "A person set a new budget, perhaps a different one than requested: send again what it did not allow, and heed decision.reason if there is one."
	case KindToolCall, KindReply:
	}
	return "A person approved this: go ahead with exactly decision.input, which may differ from what was sent if decision.edited is true, and heed decision.reason if there is one."
}

func adviceRejected(cause Cause, kind Kind) string {
	switch cause {
	case CausePolicy:
		return "A rule of the policy forbids this and nobody was asked: do not retry the call, find another way or tell the user; policy.rule and decision.reason say which rule and why."
	case CauseCascade:
		return "An earlier request that this one depended on was rejected, so this one was rejected with it: deal with that rejection before asking for anything that builds on it."
	case CauseNoReviewer:
		return "There is nobody who could decide this: do not retry, tell the user that a reviewer has to be set up first."
	case CauseStopped:
		return "A person stopped this agent, so nobody was asked: do not act on it, and do not ask again until a person lets you go on; then ask under a new key. decision.reason says who stopped it and why."
	case CauseFallback:
		return "This ran while no server could be reached, although a rule of the policy forbids it: that is on record, so do not run it again, and tell the user; decision.reason says why it is forbidden."
	case CauseUndelivered:
		return "The decision could not be delivered to where it was needed, so this counts as rejected: do not act on it, and ask again later under a new key."
	case CauseNone, CauseReviewer, CauseGrant, CauseGateOff, CauseTimeout, CauseCancelled,
		CauseElsewhere, CauseGone, CauseRunEnded:
		switch kind {
		case KindQuestion:
			return "A person declined to answer: do not ask the same question again; decision.reason quotes what they said, go on without an answer or stop."
		case KindProposal:
			return "A person rejected this proposal: do not carry it out and do not propose the same again unchanged; decision.reason quotes what they said, change the plan accordingly."
		case KindBudget:
			return "A person refused more budget: nobody is asked again until the budget changes or a person writes; decision.reason quotes what they said, wait for that or stop."
		case KindToolCall, KindReply:
		}
		return "A person rejected this: do not retry the same call unchanged; decision.reason quotes what they said, change the plan accordingly."
	}
	return "This was rejected: do not act on it."
}

func adviceCancelled(cause Cause) string {
	switch cause {
	case CauseRunEnded:
		return "The run that this belonged to has ended, so it was cancelled: do not act on it."
	case CauseStopped:
		return "A person stopped this conversation, or this agent, so the request was cancelled: do not act on it and do not ask again until a person lets you go on."
	case CauseCascade:
		return "An earlier request that this one depended on did not go through, so this one was cancelled with it: do not act on it."
	case CauseNone, CauseReviewer, CausePolicy, CauseGrant, CauseGateOff, CauseFallback, CauseTimeout,
		CauseCancelled, CauseNoReviewer, CauseUndelivered, CauseElsewhere, CauseGone:
		return "The request was cancelled: do not act on it; ask under a new key if it is wanted after all."
	}
	return "The request was cancelled: do not act on it."
}

func adviceResolved(cause Cause, kind Kind) string {
	if kind == KindBudget {
		return "The budget was changed in another way, so this request is no longer needed: send again what it did not allow."
	}
	if cause == CauseGone {
		return "The system that this came from no longer knows it, so it is closed without a decision: do not act on it."
	}
	return "This was settled at another system, not here: look there for the outcome and do not act on it before."
}
