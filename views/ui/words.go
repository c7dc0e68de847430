package ui

import (
	"countersign/models"
	"countersign/views"
)

// Word is a state in words with the tone that colours it.
type Word struct {
	Text string
	Tone views.Tone
	Icon string // empty: none
}

// StatusWord names the status of an approval. Let through without a person is
// "allowed", not "approved".
func StatusWord(s models.Status, cause models.Cause) Word {
	switch s {
	case models.StatusPending:
		return Word{"waiting", views.ToneAccent, ""}
	case models.StatusApproved:
		return Word{"approved", views.ToneGood, "check"}
	case models.StatusRejected:
		return Word{"rejected", views.ToneBad, "x"}
	case models.StatusExpired:
		return Word{"expired", views.ToneWarn, "clock"}
	case models.StatusCancelled:
		return Word{"cancelled", views.ToneNeutral, ""}
	case models.StatusResolved:
		return Word{"settled elsewhere", views.ToneNeutral, ""}
	case models.StatusNone:
	}
	switch {
	case cause == models.CauseFallback || cause == models.CauseGateOff:
		return Word{"ran without approval", views.ToneBad, "octagon-alert"}
	case cause != models.CauseNone:
		return Word{"allowed", views.ToneGood, "check"}
	}
	return Word{"no approval needed", views.ToneNeutral, ""}
}

// RiskWord names how much a wrong approval would cost.
func RiskWord(r models.Risk) Word {
	switch r {
	case models.RiskCritical:
		return Word{"critical risk", views.ToneBad, "octagon-alert"}
	case models.RiskHigh:
		return Word{"high risk", views.ToneWarn, "triangle-alert"}
	case models.RiskMedium:
		return Word{"medium risk", views.ToneNeutral, ""}
	case models.RiskLow:
		return Word{"low risk", views.ToneNeutral, ""}
	}
	return Word{}
}

// CauseText says in one sentence why an approval stands where it stands; each
// cause has its own (I10).
func CauseText(c models.Cause) string {
	switch c {
	case models.CauseReviewer:
		return "A person decided."
	case models.CausePolicy:
		return "The policy decided; nobody was asked."
	case models.CauseGrant:
		return "A pre-approval allowed it; nobody was asked."
	case models.CauseGateOff:
		return "The gate was off; nobody was asked."
	case models.CauseFallback:
		return "No server answered, and fallback was on: the client continued and reported it afterwards."
	case models.CauseTimeout:
		return "Nobody decided in time."
	case models.CauseCancelled:
		return "The agent cancelled it."
	case models.CauseCascade:
		return "Another request was rejected, and this one with it."
	case models.CauseNoReviewer:
		return "Nobody was able to decide it."
	case models.CauseUndelivered:
		return "The decision could not be delivered."
	case models.CauseElsewhere:
		return "It was decided elsewhere."
	case models.CauseGone:
		return "It no longer exists in the system it came from."
	case models.CauseRunEnded:
		return "The agent's run ended first."
	case models.CauseStopped:
		return "The run, or the agent, was stopped."
	case models.CauseNone:
	}
	return ""
}
