package models_test

import (
	"testing"

	"countersign/models"
)

func TestWhoMustApproveInWords(t *testing.T) {
	t.Parallel()
	named := func(n int) []models.Approver {
		all := []models.Approver{{ID: "a", Email: "a@x"}, {ID: "b", Email: "b@x"}, {ID: "c", Email: "c@x"}, {ID: "d", Email: "d@x"}}
		return all[:n]
	}
	for want, w := range map[string]models.Approvers{
		"":                                  {SelfApproval: models.SelfAllowed, Named: named(1)},
		"a@x must approve":                  {ReviewersOnly: true, Named: named(1)},
		"a@x or b@x must approve":           {ReviewersOnly: true, Named: named(2)},
		"a@x, b@x or c@x must approve":      {ReviewersOnly: true, Named: named(3)},
		"a@x, b@x or 2 others must approve": {ReviewersOnly: true, Named: named(4)},
		"a@x or an admin must approve":      {SelfApproval: models.SelfNever, Named: named(1)},
		"An admin who does not own the agent must approve": {SelfApproval: models.SelfNever},
		"Nobody is able to approve":                        {ReviewersOnly: true},
	} {
		if got := w.Must(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var r models.Response
		r.OwnerID = "o"
		r.SetApprovers(w)
		if got := r.Approvers().Must(); got != want {
			t.Errorf("stored: %q, want %q", got, want)
		}
	}
}
