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
		if cause == models.CauseFallback {
			return Word{models.RanDenied, views.ToneBad, "octagon-alert"}
		}
		return Word{"rejected", views.ToneBad, "x"}
	case models.StatusExpired:
		return Word{"expired", views.ToneWarn, "clock"}
	case models.StatusCancelled:
		return Word{"cancelled", views.ToneNeutral, ""}
	case models.StatusResolved:
		return Word{"settled elsewhere", views.ToneNeutral, ""}
	case models.StatusRan:
		return Word{"ran without approval", views.ToneBad, "octagon-alert"}
	case models.StatusNone:
	}
	switch {
	case cause == models.CauseGateOff:
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
