package models

import (
	"slices"
	"strconv"
	"strings"
)

// MaxUnseenMinutes is the longest time after which an unseen request may be told.
const MaxUnseenMinutes = 24 * 60

// Moments say when somebody hears of a request; none set: never.
type Moments struct {
	AtOnce        bool `json:"at_once,omitzero"`
	UnseenMinutes int  `json:"unseen_minutes,omitzero"` // told after so long, if they have not looked at it; 0: not then
	Half          bool `json:"half,omitzero"`           // when half of its time is over
	Tenth         bool `json:"tenth,omitzero"`          // when a tenth of its time is left
}

// None reports whether there are no moments.
func (m Moments) None() bool { return m == Moments{} }

// The words in which a form sends moments.
const (
	momentsNever = "never"
	momentUnseen = "unseen-"
)

// String is the moments as one word that ParseMoments reads, such as at_once+unseen-15.
func (m Moments) String() string {
	var out []string
	if m.AtOnce {
		out = append(out, "at_once")
	}
	if m.UnseenMinutes != 0 {
		out = append(out, momentUnseen+strconv.Itoa(m.UnseenMinutes))
	}
	if m.Half {
		out = append(out, "half")
	}
	if m.Tenth {
		out = append(out, "tenth")
	}
	if len(out) == 0 {
		return momentsNever
	}
	return strings.Join(out, "+")
}

// ParseMoments reads what String writes; false: it is nothing of that kind.
func ParseMoments(s string) (Moments, bool) {
	words := strings.Split(s, "+")
	m := Moments{AtOnce: slices.Contains(words, "at_once"), Half: slices.Contains(words, "half"), Tenth: slices.Contains(words, "tenth")}
	for _, word := range words {
		if minutes, ok := strings.CutPrefix(word, momentUnseen); ok {
			m.UnseenMinutes, _ = strconv.Atoi(minutes)
		}
	}
	return m, m.String() == s // one spelling for each
}
