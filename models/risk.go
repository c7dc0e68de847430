package models

import "slices"

// Risk is how much a wrong approval would cost.
type Risk string

// The levels of risk.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

// Risks is the list of all levels, lowest first.
func Risks() []Risk { return []Risk{RiskLow, RiskMedium, RiskHigh, RiskCritical} }

// RisksDown is the list of all levels, highest first: the order of the selects.
func RisksDown() []Risk {
	all := Risks()
	slices.Reverse(all)
	return all
}

// Rank is the place of a level from the highest, which is 0; -1 for an unknown level.
func (r Risk) Rank() int { return slices.Index(RisksDown(), r) }

// WorseThan reports whether a level is above another; any is above an unknown level.
func (r Risk) WorseThan(other Risk) bool {
	return r.Rank() >= 0 && (other.Rank() < 0 || r.Rank() < other.Rank())
}

// NeedsDigest reports whether approving at this risk requires the digest that was
// shown, all of the request opened, and a decision on this request alone.
func (r Risk) NeedsDigest() bool { return r == RiskHigh || r == RiskCritical }

// DecidedAlone reports whether a person decides every single call of this risk: no
// grant covers one.
func (r Risk) DecidedAlone() bool { return r == RiskCritical }
