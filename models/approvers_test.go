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
		"":                                      {SelfApproval: models.SelfAllowed, Named: named(1)},
		"Only a@x can approve":                  {ReviewersOnly: true, Named: named(1)},
		"Only a@x or b@x can approve":           {ReviewersOnly: true, Named: named(2)},
		"Only a@x, b@x or c@x can approve":      {ReviewersOnly: true, Named: named(3)},
		"Only a@x, b@x or 2 others can approve": {ReviewersOnly: true, Named: named(4)},
		"Only a@x or an admin can approve":      {SelfApproval: models.SelfNever, Named: named(1)},
		"Only an admin who does not own the agent can approve": {SelfApproval: models.SelfNever},
		"Nobody is able to approve":                            {ReviewersOnly: true},
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

// A group is named as such, and whoever is in it may approve.
func TestApproversByGroup(t *testing.T) {
	t.Parallel()
	finance := models.Approvers{ReviewersOnly: true, Named: []models.Approver{{Group: "finance"}, {ID: "bo", Email: "bo@x"}}}
	if got := finance.Must(); got != "Only finance or bo@x can approve" {
		t.Errorf("%q", got)
	}
	never := models.Approvers{SelfApproval: models.SelfNever, Named: []models.Approver{{ID: "bo", Email: "bo@x"}, {Group: "finance"}}}
	if got := never.Must(); got != "Only bo@x, finance or an admin can approve" {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct {
		who  models.Voter
		want bool
	}{
		{models.Voter{ID: "ann"}, false},
		{models.Voter{ID: "ann", Groups: []string{"board"}}, false},
		{models.Voter{ID: "ann", Groups: []string{"board", "finance"}}, true},
		{models.Voter{ID: "bo"}, true},
		{models.Voter{}, false},
	} {
		if got := finance.Allow("owner", tt.who); got != tt.want {
			t.Errorf("%+v may approve: %t", tt.who, got)
		}
	}
	if never.Allow("ann", models.Voter{ID: "ann", Groups: []string{"finance"}}) {
		t.Error("who owns the agent approves by a group")
	}
}
