package site

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// ReadZone is the zone that an address names for its days; without days, or without a
// name, UTC. A name that is unknown is noted in faults.
func ReadZone(v url.Values, faults map[string]string, days ...string) *time.Location {
	name := strings.TrimSpace(v.Get("zone"))
	if name == "" || name == "UTC" || cmp.Or(days...) == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // Local would be the server's
		faults["zone"] = "The address must name a time zone such as Europe/Berlin, or none for UTC."
		return time.UTC
	}
	return zone
}

// zoneCookie carries the zone that the reader's browser is in (time.js).
const zoneCookie = "countersign-zone"

// ZoneOf is the zone that the reader's browser is in; UTC if it told none that is known.
func ZoneOf(c echo.Context) *time.Location {
	cookie, err := c.Cookie(zoneCookie)
	if err != nil {
		return time.UTC
	}
	return ReadZone(url.Values{"zone": {cookie.Value}}, map[string]string{}, zoneCookie)
}

// Midnight is when the day began in a zone.
func Midnight(now time.Time, zone *time.Location) time.Time {
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, zone)
}

// NameOf is a zone as addresses name it: UTC by nothing.
func NameOf(zone *time.Location) string {
	if zone == time.UTC {
		return ""
	}
	return zone.String()
}

// dayIn is the beginning of a day in a zone; empty is the zero time.
func dayIn(text string, zone *time.Location) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	at, err := time.ParseInLocation(time.DateOnly, text, zone)
	return at.UTC(), err == nil
}

// dayAfter is the beginning of the day after a day in a zone, which may have 23 or 25 hours.
func dayAfter(day time.Time, zone *time.Location) time.Time {
	if day.IsZero() {
		return day
	}
	return day.In(zone).AddDate(0, 0, 1).UTC()
}

// TimeIn reads a time, or the beginning of a day, in a zone; empty is the zero time.
func TimeIn(text string, zone *time.Location) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{
		"2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.DateOnly, time.RFC3339,
	} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// ReadDays are the first and last day of an address as times: from the start of the first to the end of the last.
// faults names a text that is not a day, and a last day before the first.
func ReadDays(from, to string, zone *time.Location, faults map[string]string) (begin, end time.Time) {
	var ok bool
	if begin, ok = dayIn(from, zone); !ok {
		faults["from"] = notADay
	}
	if end, ok = dayIn(to, zone); !ok {
		faults["to"] = notADay
	}
	end = dayAfter(end, zone)
	if faults["from"] == "" && faults["to"] == "" && !begin.IsZero() && !end.IsZero() && !begin.Before(end) {
		faults["to"] = "Choose a day that is not before the first."
	}
	return begin, end
}

const notADay = "Write a day such as 2026-11-20."
