package ui

import "countersign/models"

// CauseInShort is CauseText where there is room for a few words only; each cause
// has its own (I10).
func CauseInShort(c models.Cause) string {
	switch c {
	case models.CauseReviewer:
		return "by a person"
	case models.CausePolicy:
		return "by the policy"
	case models.CauseGrant:
		return "by a pre-approval"
	case models.CauseGateOff:
		return "the gate was off"
	case models.CauseFallback:
		return "fallback, no server"
	case models.CauseTimeout:
		return "no decision in time"
	case models.CauseCancelled:
		return "by the agent"
	case models.CauseCascade:
		return "with another request"
	case models.CauseNoReviewer:
		return "nobody could decide"
	case models.CauseUndelivered:
		return "not delivered"
	case models.CauseElsewhere:
		return "decided elsewhere"
	case models.CauseGone:
		return "gone from its source"
	case models.CauseRunEnded:
		return "its run ended"
	case models.CauseStopped:
		return "its run or agent was stopped"
	case models.CauseNone:
	}
	return ""
}
