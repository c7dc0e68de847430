package store

import (
	"testing"

	"countersign/models"
)

// Every way to end has its line in the log.
func TestEveryOutcomeHasItsLine(t *testing.T) {
	t.Parallel()
	for _, status := range models.FinalStatuses() {
		if outcomeTexts[status] == "" {
			t.Errorf("%s has none", status)
		}
	}
}
