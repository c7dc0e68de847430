package hooks

import (
	"strings"
	"testing"

	"countersign/models"
)

// Why nobody's decision came is not always that nobody decided: each cause has its own
// sentence, and each says that the call must not run (I10).
func TestAnExpiredCallSaysWhyI10(t *testing.T) {
	t.Parallel()
	said := map[string]models.Cause{}
	for _, cause := range []models.Cause{models.CauseTimeout, models.CauseNoReviewer, models.CauseUndelivered, models.CauseGone, models.CauseRunEnded, models.CauseStopped} {
		text := refusal(&models.Approval{Response: models.Response{Kind: models.KindToolCall, ApprovalStatus: new(models.StatusExpired), Cause: cause}})
		if other, ok := said[text]; ok {
			t.Errorf("%s and %s both say %q", cause, other, text)
		}
		said[text] = cause
		if strings.Contains(text, "Nobody decided") != (cause == models.CauseTimeout) || !strings.HasSuffix(text, "This call must not run.") {
			t.Errorf("%s says %q", cause, text)
		}
	}
}
