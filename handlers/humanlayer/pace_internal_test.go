package humanlayer

import (
	"testing"
	"time"

	"countersign/models"
)

func TestPace(t *testing.T) {
	t.Parallel()
	p, now := newPace(60, longestDelay), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	token := models.TokenID("a")
	for n := range 60 {
		if d := p.delay(now, token); d != 0 {
			t.Fatalf("poll %d of 60 was delayed by %s", n, d)
		}
	}
	for n := 1; n <= 100; n++ {
		if got, want := p.delay(now, token), min(time.Duration(n)*time.Second, longestDelay); got != want {
			t.Fatalf("poll %d above the limit is delayed by %s, want %s", n, got, want)
		}
	}
	if d := p.delay(now, "b"); d != 0 {
		t.Errorf("another token is delayed by %s", d)
	}
	now = now.Add(longestDelay + time.Second) // never more is owed than the longest delay
	if d := p.delay(now, token); d != 0 {
		t.Errorf("delayed by %s after the time that it owed", d)
	}
}
