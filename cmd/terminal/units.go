package terminal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseLife reads a length of time in Go's form, or in whole days as in 90d.
// Empty is zero: for good.
func ParseLife(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	wrong := errors.New("must be a length of time such as 90d, 12h or 30m")
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 36500 {
			return 0, wrong
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, wrong
	}
	return d, nil
}

var sizeUnits = [...]string{"KiB", "MiB", "GiB", "TiB"}

// ParseSize reads a whole number of one of the units.
func ParseSize(s string) (uint64, error) {
	for i, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
			if err == nil {
				return n << (10 * (i + 1)), nil
			}
		}
	}
	return 0, errors.New("must be a whole number of KiB, MiB, GiB or TiB, such as 256MiB")
}

// FormatSize is a number of bytes as people read it.
func FormatSize(n uint64) string {
	for i := len(sizeUnits) - 1; i > 0; i-- {
		if unit := uint64(1) << (10 * (i + 1)); n >= unit {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit), sizeUnits[i])
		}
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
