package models_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when.UTC()
}

// Quiet hours are those of the person's clock, over midnight and where it is put forward.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, from, to, zone, at string
		end                      string // empty: it is not quiet
	}{
		{"in the day", "12:00", "13:30", "UTC", "2026-03-02T12:00:00Z", "2026-03-02T13:30:00Z"},
		{"before them", "12:00", "13:30", "UTC", "2026-03-02T11:59:59Z", ""},
		{"their end is not quiet", "12:00", "13:30", "UTC", "2026-03-02T13:30:00Z", ""},
		{"before midnight", "22:00", "07:00", "Europe/Vienna", "2026-03-02T21:30:00Z", "2026-03-03T06:00:00Z"},
		{"after midnight", "22:00", "07:00", "Europe/Vienna", "2026-03-03T04:00:00Z", "2026-03-03T06:00:00Z"},
		{"in the morning", "22:00", "07:00", "Europe/Vienna", "2026-03-03T06:00:00Z", ""},
		{"the clock is put forward at night", "22:00", "07:00", "Europe/Vienna", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"},
		{"the clock is put back at night", "22:00", "07:00", "Europe/Vienna", "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"},
		{"on the other side of the earth", "22:00", "07:00", "Pacific/Auckland", "2026-03-02T12:00:00Z", "2026-03-02T18:00:00Z"},
		{"none", "", "", "UTC", "2026-03-02T12:00:00Z", ""},
	} {
		s := models.NotificationSettings{QuietFrom: models.ClockTime(test.from), QuietTo: models.ClockTime(test.to), Zone: test.zone}
		end, quiet := s.QuietUntil(at(t, test.at))
		if quiet != (test.end != "") || quiet && !end.Equal(at(t, test.end)) {
			t.Errorf("%s: quiet %t until %s, want %q", test.name, quiet, end, test.end)
		}
		if quiet && (!s.QuietThrough(at(t, test.at), end) || s.QuietThrough(at(t, test.at), end.Add(time.Second))) {
			t.Errorf("%s: it is not quiet up to the end, or beyond it", test.name)
		}
	}
}

func TestTheNextDigest(t *testing.T) {
	t.Parallel()
	s := models.NotificationSettings{DigestAt: "07:30", Zone: "Europe/Vienna"}
	for after, want := range map[string]string{
		"2026-03-02T06:29:59Z": "2026-03-02T06:30:00Z",
		"2026-03-02T06:30:00Z": "2026-03-03T06:30:00Z",
		"2026-03-28T12:00:00Z": "2026-03-29T05:30:00Z", // summer time has begun
	} {
		if next, ok := s.NextDigest(at(t, after)); !ok || !next.Equal(at(t, want)) {
			t.Errorf("after %s: %s, %t, want %s", after, next, ok, want)
		}
	}
	if _, ok := (&models.NotificationSettings{Zone: "UTC"}).NextDigest(time.Time{}); ok {
		t.Error("a digest that nobody wants")
	}
}

func TestSettingsNameEveryFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	good := models.DefaultNotificationSettings()
	if err := good.Check(); err != nil {
		t.Errorf("the default: %v", err)
	}
	for field, change := range map[string]func(*models.NotificationSettings){
		"digest_at":    func(s *models.NotificationSettings) { s.DigestAt = "7:30" },
		"quiet_from":   func(s *models.NotificationSettings) { s.QuietFrom, s.QuietTo = "24:00", "07:00" },
		"quiet_to":     func(s *models.NotificationSettings) { s.QuietFrom = "22:00" },
		"zone":         func(s *models.NotificationSettings) { s.Zone = "Local" },
		"moments_low":  func(s *models.NotificationSettings) { s.Moments[models.RiskLow] = models.Moments{UnseenMinutes: -1} },
		"moments_high": func(s *models.NotificationSettings) { s.Moments[models.RiskHigh] = models.Moments{UnseenMinutes: 1441} },
		"moments":      func(s *models.NotificationSettings) { s.Moments["none"] = models.Moments{} },
	} {
		s := models.DefaultNotificationSettings()
		change(&s)
		fields := models.FieldsOf(s.Check())
		if len(fields) != 1 || fields[field] == "" {
			t.Errorf("%s: %v", field, fields)
		}
	}
	same := models.DefaultNotificationSettings()
	same.QuietFrom, same.QuietTo = "07:00", "07:00"
	if models.FieldsOf(same.Check())["quiet_to"] == "" {
		t.Error("quiet hours without an end")
	}
}

// Moments go through a form as one word, and come back as they are.
func TestMomentsAreWrittenAndRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := models.Moments{
			AtOnce: rapid.Bool().Draw(t, "at once"), UnseenMinutes: rapid.IntRange(0, models.MaxUnseenMinutes).Draw(t, "unseen"),
			Half: rapid.Bool().Draw(t, "half"), Tenth: rapid.Bool().Draw(t, "tenth"),
		}
		if got, ok := models.ParseMoments(m.String()); !ok || got != m {
			t.Errorf("%q is read as %+v, %v; want %+v", m, got, ok, m)
		}
	})
	for _, wrong := range []string{"", "+", "at_once+never", "half+at_once", "unseen-0", "unseen-x", "unseen-015", "at_once+at_once", "soon"} {
		if got, ok := models.ParseMoments(wrong); ok {
			t.Errorf("%q is read as %+v", wrong, got)
		}
	}
}
