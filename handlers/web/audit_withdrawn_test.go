package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// TestATrailSaysWhyADecisionWasTakenBack by another than who gave it: an admin, whose
// own decision that is, or the other system.
func TestATrailSaysWhyADecisionWasTakenBack(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.run(models.RunInput{RunID: "r"}, queued("u1", "Bash", `{"command":"make"}`))
	o.take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"make"}`)})
	a := o.waits()
	approve := func() {
		t.Helper()
		o.signedIn(ownerEmail).post(decideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).redirects(pageOf(&a))
	}
	approve()
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryRefused, Status: http.StatusUnprocessableEntity, Words: "it runs already"})
	approve()
	if _, err := o.store.WithdrawDecision(t.Context(), o.admin, a.ID, "the hub is broken"); err != nil {
		t.Fatal(err)
	}
	p := o.signedIn(storetest.AdminEmail)
	p.get("/audit?what=decisions").is(http.StatusOK).says("main", "the hub is broken")
	for path, want := range map[string]string{
		"/audit/export?format=csv&what=decisions":                          "approval.withdrawn,pending,the hub is broken,",
		"/people/" + o.owner.ID + "/audit/export?format=csv&what=requests": "approval.refused,pending,it runs already,",
	} {
		if got := p.get(path).is(http.StatusOK).body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
