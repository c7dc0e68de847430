package models_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
)

// Quiet hours are those of the clock on the wall, over midnight and when clocks change: only
// within two hours of a change may they begin or end an hour off. They end, and not before
// they are over.
func TestQuietHoursWhereClocksChange(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "America/Santiago", "Asia/Kathmandu", "UTC"} {
		for _, hours := range [][2]string{{"22:00", "07:00"}, {"02:15", "02:45"}, {"00:00", "23:59"}, {"23:30", "00:30"}, {"01:30", "03:30"}, {"12:00", "11:59"}} {
			s := models.NotificationSettings{QuietFrom: models.ClockTime(hours[0]), QuietTo: models.ClockTime(hours[1]), Zone: zone}
			for _, month := range []time.Month{3, 4, 9, 10, 11} {
				checkQuiet(t, s, time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC))
			}
		}
	}
}

// checkQuiet looks at every 15 minutes of a month.
func checkQuiet(t *testing.T, s models.NotificationSettings, from time.Time) {
	t.Helper()
	place := placeOf(t, s.Zone)
	begin, end := minutes(t, s.QuietFrom), minutes(t, s.QuietTo)
	for at := from; at.Month() == from.Month(); at = at.Add(15 * time.Minute) {
		local := at.In(place)
		wall := local.Hour()*60 + local.Minute()
		want := wall >= begin && wall < end
		if end < begin {
			want = wall >= begin || wall < end
		}
		about := fmt.Sprintf("%s, quiet from %s to %s", local, s.QuietFrom, s.QuietTo)
		until, quiet := s.QuietUntil(at)
		if quiet != want && offset(at.Add(-2*time.Hour), place) == offset(at.Add(2*time.Hour), place) {
			t.Fatalf("%s: quiet %t, want %t", about, quiet, want)
		}
		if !quiet {
			continue
		}
		if !until.After(at) || until.Sub(at) > 25*time.Hour {
			t.Fatalf("%s: until %s", about, until)
		}
		if before, still := s.QuietUntil(until.Add(-time.Microsecond)); !still || !before.Equal(until) {
			t.Fatalf("%s: until %s, but a moment before until %s (%t)", about, until, before, still)
		}
	}
}

func placeOf(t *testing.T, zone string) *time.Location {
	t.Helper()
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func minutes(t *testing.T, at models.ClockTime) int {
	t.Helper()
	clock, err := time.Parse("15:04", string(at))
	if err != nil {
		t.Fatal(err)
	}
	return clock.Hour()*60 + clock.Minute()
}

func offset(at time.Time, place *time.Location) int {
	_, seconds := at.In(place).Zone()
	return seconds
}

// The digest comes once each day, whatever clocks do.
func TestTheDigestWhereClocksChange(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Beirut", "America/Santiago"} {
		for _, digest := range []models.ClockTime{"00:00", "00:30", "02:30", "03:00", "23:59"} {
			s := models.NotificationSettings{DigestAt: digest, Zone: zone}
			last, ok := s.NextDigest(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
			for day := 1; ok && day < 365; day++ {
				next, _ := s.NextDigest(last)
				if pause := next.Sub(last); pause < 22*time.Hour || pause > 26*time.Hour {
					t.Fatalf("%s at %s: %s, then %s", zone, digest, last.In(placeOf(t, zone)), next.In(placeOf(t, zone)))
				}
				last = next
			}
		}
	}
}
