package models

import "time"

// FallbackBelieved is how long a client of ours believes that
// fallback_auto_approve is on after the server last said so (I11).
const FallbackBelieved = 10 * time.Minute

// What begins the text of a call that its client reports to have run without an answer. It is
// kept with the row, in ledgers and exports too, and so never changes.
const (
	RanDenied  = "ran although denied"
	RanStopped = "ran while stopped"
)

// FallbackFor reports whether a call of this risk may run without an answer where the policy
// has fallback on.
func FallbackFor(risk Risk) bool { return risk == RiskLow || risk == RiskMedium }

// RanText says that a call of some risk ran without an answer.
func RanText(at time.Time, risk Risk) string {
	text := "went on without an answer at " + at.Format(time.RFC3339)
	if !FallbackFor(risk) {
		text += " although its risk is " + string(risk)
	}
	return text
}
