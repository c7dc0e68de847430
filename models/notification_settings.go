package models

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
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

// NotificationSettings are when a person hears of pending requests.
type NotificationSettings struct {
	UserID                UserID
	Moments               map[Risk]Moments
	DigestAt              ClockTime // empty: no digest
	QuietFrom, QuietTo    ClockTime // both empty: no quiet hours
	Zone                  string    // IANA name of the person's time zone
	CriticalBreaksThrough bool      // critical requests are told in quiet hours
}

// DefaultNotificationSettings are those of a person who has set none, and of groups: a high risk has three messages, a
// low risk one only while no one looks.
func DefaultNotificationSettings() NotificationSettings {
	most := Moments{AtOnce: true, Half: true, Tenth: true}
	return NotificationSettings{
		Moments: map[Risk]Moments{
			RiskLow: {UnseenMinutes: 2}, RiskMedium: {AtOnce: true, Tenth: true}, RiskHigh: most, RiskCritical: most,
		},
		Zone: "UTC", CriticalBreaksThrough: true,
	}
}

// ClockTime is a time of day, as 07:30; empty: none.
type ClockTime string

// minutes are those since midnight.
func (c ClockTime) minutes() (int, bool) {
	at, err := time.Parse("15:04", string(c))
	return at.Hour()*60 + at.Minute(), err == nil && len(c) == len("15:04")
}

// on is that time of the day of a moment, some days later.
func (c ClockTime) on(day time.Time, later int) time.Time {
	m, _ := c.minutes()
	return time.Date(day.Year(), day.Month(), day.Day()+later, m/60, m%60, 0, 0, day.Location())
}

// Check is CodeInvalid, naming every field that is wrong.
func (s *NotificationSettings) Check() error {
	faults := map[string]string{}
	for _, c := range []struct {
		field string
		at    ClockTime
	}{{"digest_at", s.DigestAt}, {"quiet_from", s.QuietFrom}, {"quiet_to", s.QuietTo}} {
		if _, ok := c.at.minutes(); !ok && c.at != "" {
			faults[c.field] = "must be a time of day such as 07:30"
		}
	}
	if (s.QuietFrom == "") != (s.QuietTo == "") {
		faults["quiet_to"] = "must be set together with “Quiet from”, or left empty like it"
	} else if s.QuietFrom != "" && s.QuietFrom == s.QuietTo {
		faults["quiet_to"] = "must not be the time at which quiet hours begin"
	}
	if _, err := time.LoadLocation(s.Zone); err != nil || s.Zone == "" || s.Zone == "Local" || len(s.Zone) > MaxName {
		faults["zone"] = "must be a time zone such as Europe/Vienna"
	}
	for _, risk := range Risks() {
		if m := s.Moments[risk]; m.UnseenMinutes < 0 || m.UnseenMinutes > MaxUnseenMinutes {
			faults["moments_"+string(risk)] = fmt.Sprintf("must be at most %d minutes", MaxUnseenMinutes)
		}
	}
	for risk := range s.Moments {
		if risk.Rank() < 0 {
			faults["moments"] = "must name levels of risk only"
		}
	}
	if len(faults) > 0 {
		return &Error{Code: CodeInvalid, Text: "The settings are not valid.", Fields: faults}
	}
	return nil
}

// zones keeps the zones that were read: reading one takes longer than all else here.
var zones sync.Map // by name

// place is the person's time zone. One that this computer does not know is UTC.
func (s *NotificationSettings) place() *time.Location {
	if known, ok := zones.Load(s.Zone); ok {
		if place, ok := known.(*time.Location); ok {
			return place
		}
	}
	place, err := time.LoadLocation(s.Zone)
	if err != nil {
		return time.UTC
	}
	zones.Store(s.Zone, place)
	return place
}

// QuietUntil is the end of the quiet hours that a moment is in; false: it is in none.
func (s *NotificationSettings) QuietUntil(at time.Time) (end time.Time, quiet bool) {
	if s.QuietFrom == "" || s.QuietTo == "" {
		return time.Time{}, false
	}
	from, _ := s.QuietFrom.minutes()
	to, _ := s.QuietTo.minutes()
	days := 0
	if to <= from {
		days = 1 // they end on the next day
	}
	local := at.In(s.place())
	for _, day := range []int{-1, 0} {
		begin, end := s.QuietFrom.on(local, day), s.QuietTo.on(local, day+days)
		if !at.Before(begin) && at.Before(end) {
			return end.UTC(), true
		}
	}
	return time.Time{}, false
}

// QuietThrough reports whether all the time from one moment to another is in quiet hours.
func (s *NotificationSettings) QuietThrough(from, until time.Time) bool {
	end, quiet := s.QuietUntil(from)
	return quiet && !end.Before(until)
}

// NextDigest is when the next digest is due after a moment; false: there is none.
func (s *NotificationSettings) NextDigest(after time.Time) (time.Time, bool) {
	if s.DigestAt == "" {
		return time.Time{}, false
	}
	local := after.In(s.place())
	at := s.DigestAt.on(local, 0)
	// Where clocks skip midnight, that of the next day is an hour before it, too.
	for day := 1; !at.After(after); day++ {
		at = s.DigestAt.on(local, day)
	}
	return at.UTC(), true
}

// NotificationBacklog counts the messages that wait and fail. Counts are exact.
type NotificationBacklog struct {
	Schedule int       // moments that have not come yet, and those that wait for quiet hours to end
	Unsent   int       // messages that are to be sent, or sent again
	Oldest   time.Time // of the unsent one that waits longest; zero: there is none
	Failures []FailingChannel
}

// FailingChannel is a channel whose messages do not arrive, and whose it is.
type FailingChannel struct {
	Channel
	Owner string // name of the person or group
}
