package models

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// SpokenDuration says a length in the largest units that are exact enough to
// act on: "5 minutes", "1 hour 30 minutes", "45 seconds".
func SpokenDuration(d time.Duration) string {
	d = d.Round(time.Second)
	type unit struct {
		size time.Duration
		name string
	}
	units := [...]unit{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	out, parts := "", 0
	for _, u := range units {
		n := d / u.size
		if n == 0 || parts == 2 {
			continue
		}
		d -= n * u.size //nolint:durationcheck // n counts units, it is no duration
		if parts++; parts > 1 {
			out += " "
		}
		out += fmt.Sprintf("%d %s", n, u.name)
		if n != 1 {
			out += "s"
		}
	}
	if out == "" {
		return "0 seconds"
	}
	return out
}

// Letters is how many letters a text has, of any script.
func Letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// zero is the one character that not every database stores.
const zero = "\x00"

// StoredText is a text as it is stored where it may not be refused: with a sign in the place of each zero byte, and of bytes
// that are not UTF-8.
func StoredText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), zero, "\uFFFD")
}

// AnyOf names the values that a member may have: "low, medium, high or critical".
func AnyOf[T ~string](values []T) string { return inWords(values, " or ") }

// AllOf lists values in a sentence: a, b and c.
func AllOf[T ~string](values []T) string { return inWords(values, " and ") }

func inWords[T ~string](values []T, last string) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = string(value)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}

// CheckText refuses text that is not UTF-8, has a zero byte, or is longer than most bytes.
func CheckText(field, s string, most int) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "must be valid UTF-8")
	}
	if strings.Contains(s, zero) {
		return Invalid(field, "must not contain a zero byte (U+0000)")
	}
	if len(s) > most {
		return Invalid(field, "is %d bytes long; at most %d are allowed", len(s), most)
	}
	return nil
}

// CheckKey refuses client-chosen ids and names that are empty, too long or hold
// control characters.
func CheckKey(field, s string) error {
	if s == "" {
		return Invalid(field, "must not be empty")
	}
	if err := CheckText(field, s, MaxName); err != nil {
		return err
	}
	for _, r := range s {
		if r < 0x20 || r == 0x7f {
			return Invalid(field, "must not contain control characters")
		}
	}
	return nil
}

// CheckToolName accepts `[A-Za-z0-9_.:/@-]` with spaces inside, 1 to 200 long.
func CheckToolName(field, s string) error {
	if s == "" {
		return Invalid(field, "must name a tool")
	}
	if len(s) > MaxName {
		return Invalid(field, "is %d bytes long; at most %d are allowed", len(s), MaxName)
	}
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '_' || c == '.' || c == ':' || c == '/' || c == '@' || c == '-' ||
			c == ' ' && i > 0 && i < len(s)-1
		if !ok {
			return Invalid(field, "may contain only letters, digits, _ . : / @ - and spaces between them")
		}
	}
	return nil
}

// Cut is the beginning of a text, in whole characters and at most so many bytes. It is a copy, so that the rest can be
// freed.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most])
}

// Number writes a number with commas between thousands: "1,200".
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
