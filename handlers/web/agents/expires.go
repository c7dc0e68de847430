package agents

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
)

// maxExpiry is the longest life of a token that may be asked for.
const maxExpiry = 10 * 365 * 24 * time.Hour

// expiresIn reads when a token expires: empty for never, a length such as 90d
// or 12h, or the last day that it works on, in UTC.
func expiresIn(text string, now time.Time) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, ok := lengthOf(text)
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		d, ok = day.AddDate(0, 0, 1).Sub(now), true
	}
	switch {
	case !ok:
		return 0, models.Invalid("expires", "must be a duration such as 90d or 12h, or a date such as 2027-01-31")
	case d <= 0:
		return 0, models.Invalid("expires", "must be in the future")
	case d > maxExpiry:
		return 0, models.Invalid("expires", "must be within ten years; leave it empty for a token that does not expire")
	}
	return d, nil
}

func lengthOf(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}
