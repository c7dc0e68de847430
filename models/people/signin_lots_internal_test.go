package people

import (
	"testing"
)

// One of many wins, and one alone always does.
func TestOneOfManyWins(t *testing.T) {
	t.Parallel()
	const rounds, many = 7000, 7
	won := 0
	for range rounds {
		if !oneOf(1) {
			t.Fatal("who is alone does not win")
		}
		if oneOf(many) {
			won++
		}
	}
	if won < rounds/9 || won > rounds/5 {
		t.Errorf("won %d of %d times", won, rounds)
	}
}
