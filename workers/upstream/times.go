package upstream

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// layouts are forms of a moment. A fraction of any length, after a point or a
// comma, is read after the seconds of each.
var layouts = [...]string{
	"2006-01-02T15:04:05Z07:00",
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02",
	time.RFC1123Z,
	time.RFC822Z,
	time.ANSIC,
}

// parseTime reads a moment as systems write it: RFC 3339 with or without zone (none is UTC), with T, t or spaces
// between, Z, z, UTC, +02:00, +0200 or +02, with or without seconds and fraction; a date alone; an HTTP or mail date;
// Unix seconds, or by their size milliseconds, microseconds or nanoseconds, as number or text. Anything else, or a
// moment before 1970 or after 9999, is the zero time. The result is UTC, cut to microseconds.
func parseTime(s string) time.Time {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return validTime(unix(s, n))
	}
	if t, err := http.ParseTime(s); err == nil {
		return validTime(t)
	}
	written := s
	if len(s) > 10 && s[4] == '-' {
		day, rest := s[:10], strings.TrimLeft(s[10:], " tT")
		rest = strings.ToUpper(strings.ReplaceAll(rest, " ", ""))
		if cut, ok := strings.CutSuffix(rest, "UTC"); ok {
			rest = cut + "Z"
		}
		written = day + "T" + rest
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, written); err == nil {
			return validTime(t)
		}
	}
	return time.Time{}
}

// unix takes whole numbers exactly and fractions of a second as far as they go.
func unix(s string, n float64) time.Time {
	whole, err := strconv.ParseInt(s, 10, 64)
	switch size := math.Abs(n); {
	case math.IsNaN(n) || size >= 1e19:
		return time.Time{}
	case err != nil && size < 1e11:
		seconds, fraction := math.Modf(n)
		return time.Unix(int64(seconds), int64(math.Round(fraction*1e6))*1000)
	case err != nil && size < 1e18:
		return unix("", math.Trunc(n)/1000) // a fraction of less than a second
	case err != nil:
		return time.Time{}
	case size < 1e11:
		return time.Unix(whole, 0)
	case size < 1e14:
		return time.UnixMilli(whole)
	case size < 1e17:
		return time.UnixMicro(whole)
	}
	return time.Unix(0, whole)
}

func validTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Unix() <= 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
