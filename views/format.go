package views

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
)

// Moment is a time as pages write it: exact for machines, in words for people.
// Scripts put the words into the reader's zone and let them tick.
type Moment struct {
	At    time.Time
	Text  string
	Form  string    // how scripts write it: "ago", "for", "left", "seconds", "exact" or "stamp"
	Since time.Time // with "left": when the time began to run
	Level string    // with "left": "calm", "amber" under 20 %, "red" under 5 %
}

// IsZero reports whether there is no time to show.
func (m Moment) IsZero() bool { return m.At.IsZero() }

// Machine is the value of a time element's datetime.
func (m Moment) Machine() string { return m.At.UTC().Format(time.RFC3339) }

// Title is the exact time with its zone.
func (m Moment) Title() string { return m.At.UTC().Format("2006-01-02 15:04:05 UTC") }

// Ago is a moment that says how long ago it was at now, in whole minutes after the
// first: "45 s ago", "3 min ago", "1 h 20 min ago".
func Ago(at, now time.Time) Moment {
	text := "just now"
	if d := now.Sub(at); d >= time.Hour {
		text = Duration(d) + " ago"
	} else if d >= time.Minute {
		text = strconv.Itoa(int(d/time.Minute)) + " min ago"
	} else if d >= time.Second {
		text = Duration(d) + " ago"
	}
	return Moment{At: at, Text: text, Form: "ago"}
}

// For is a moment that says how much time has passed since it: "45 s", "3 min".
func For(at, now time.Time) Moment {
	m := Ago(at, now)
	m.Form, m.Text = "for", strings.TrimSuffix(m.Text, " ago")
	if now.Sub(at) < time.Second {
		m.Text = "0 s"
	}
	return m
}

// Exact is a moment written out in full.
func Exact(at time.Time) Moment {
	m := Moment{At: at, Form: "exact"}
	m.Text = m.Title()
	return m
}

// Stamp is a moment in a list whose head names the zone: "2026-11-20 10:29:48".
func Stamp(at time.Time) Moment {
	return Moment{At: at, Form: "stamp", Text: at.UTC().Format(time.DateTime)}
}

// AgoOf is Ago of a time that may be missing.
func AgoOf(at *time.Time, now time.Time) Moment {
	if at == nil {
		return Moment{}
	}
	return Ago(*at, now)
}

// Remaining is a moment that counts down to a deadline. It is zero for a deadline
// that does not exist (models.NoDeadline).
func Remaining(deadline, since, now time.Time) Moment {
	if !deadline.Before(models.NoDeadline) {
		return Moment{}
	}
	m := Moment{At: deadline, Since: since, Form: "left", Level: "calm", Text: "time is up"}
	left, whole := deadline.Sub(now), deadline.Sub(since)
	switch part := float64(left) / float64(max(whole, 1)); {
	case part < 0.05:
		m.Level = "red"
	case part < 0.2:
		m.Level = "amber"
	}
	if left > 0 {
		m.Text = clock(left) + " left"
	}
	return m
}

// Seconds is a moment that counts a short time down: "6 s".
func Seconds(until, now time.Time) Moment {
	left := max(0, until.Sub(now)+time.Second-1)
	return Moment{At: until, Text: Duration(left), Form: "seconds"}
}

// Duration writes a length in one unit, or two where the second still matters:
// "45 s", "1 min 19 s", "3 h", "2 d".
func Duration(d time.Duration) string {
	seconds := int64(d / time.Second)
	units := [...]struct {
		name string
		size int64
	}{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}
	for i, u := range units {
		if seconds < u.size {
			continue
		}
		out := strconv.FormatInt(seconds/u.size, 10) + " " + u.name
		if seconds >= u.size*10 || i == len(units)-1 {
			return out
		}
		next := units[i+1]
		if rest := seconds % u.size / next.size; rest > 0 {
			out += " " + strconv.FormatInt(rest, 10) + " " + next.name
		}
		return out
	}
	return "0 s"
}

// clock writes the remaining time as people read a timer: "3:41", "1:02:00", "2 d".
func clock(d time.Duration) string {
	seconds := int64((d + time.Second - 1) / time.Second)
	if seconds >= 86400 {
		return Duration(d)
	}
	two := func(n int64) string {
		if n < 10 {
			return "0" + strconv.FormatInt(n, 10)
		}
		return strconv.FormatInt(n, 10)
	}
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	if h > 0 {
		return strconv.FormatInt(h, 10) + ":" + two(m) + ":" + two(s)
	}
	return strconv.FormatInt(m, 10) + ":" + two(s)
}

// Number groups digits by thousands: 1,234,567.
func Number(n int64) string { return models.Number(n) }

// Count writes a count that stops at models.StatsCap: "7", "1,000+".
func Count(n int) string {
	if n >= models.StatsCap {
		return Number(models.StatsCap) + "+"
	}
	return Number(int64(n))
}

// Bytes writes a size: "812 bytes", "256.0 KiB", "4.0 MiB".
func Bytes(n int) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10<<10:
		return Number(int64(n)) + " bytes"
	case n >= 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
	}
	return strconv.FormatFloat(float64(n)/1024, 'f', 1, 64) + " KiB"
}
