package figures_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"countersign/models/figures"
)

// The bound within which a share are is never below the true one, and at most half above it.
func TestASpreadTellsHowLongTheyTook(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(figures.Bounds) {
		t.Fatal("the bounds are not in order")
	}
	for i, b := range figures.Bounds[1:] {
		if b > figures.Bounds[i]*5/2 && b < 365*24*time.Hour {
			t.Errorf("%s comes after %s", b, figures.Bounds[i])
		}
	}
	s := figures.Spread{0: 5, 3: 4, len(figures.Bounds) - 1: 1}
	for share, want := range map[float64]time.Duration{0.5: time.Second, 0.51: 3 * time.Second, 0.9: 3 * time.Second, 1: 365 * 24 * time.Hour} {
		if got := s.Within(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	if n := s.UpTo(time.Second, time.Hour); n != 4 || figures.Spread(nil).Within(0.5) != 0 {
		t.Errorf("up to an hour: %d", n)
	}
}

// A list that is too long keeps those with the most, and says how much it leaves out.
func TestListsAreCut(t *testing.T) {
	t.Parallel()
	f := &figures.Sum{Reasons: map[string]int64{}, Tools: map[string]figures.Rate{}}
	for i := range figures.MostNames + 2 {
		f.Reasons[fmt.Sprintf("r%03d", i)] = int64(i + 1)
		f.Tools[fmt.Sprintf("t%03d", i)] = figures.Rate{Approved: 1, Other: int64(i)}
	}
	f.Cut()
	if len(f.Reasons) != figures.MostNames || len(f.Tools) != figures.MostNames || f.Reasons["r000"]+f.Reasons["r001"] != 0 || !maps.Equal(f.Left, map[string]int64{"reasons": 3, "tools": 3}) {
		t.Errorf("%d reasons, %d tools, left %v", len(f.Reasons), len(f.Tools), f.Left)
	}
}
