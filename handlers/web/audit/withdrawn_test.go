package audit_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestATrailSaysWhyADecisionWasTakenBack by another than who gave it: an admin, whose
// own decision that is, or the other system.
func TestATrailSaysWhyADecisionWasTakenBack(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Run(models.RunInput{RunID: "r"}, webtest.Queued("u1", "Bash", `{"command":"make"}`))
	o.Take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"make"}`)})
	a := o.Waits()
	approve := func() {
		t.Helper()
		o.SignIn(webtest.OwnerEmail).Post(webtest.DecideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Redirects(webtest.PageOf(&a))
	}
	approve()
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryRefused, Status: http.StatusUnprocessableEntity, Words: "it runs already"})
	approve()
	if _, err := o.Store.WithdrawDecision(t.Context(), o.Admin, a.ID, "the hub is broken"); err != nil {
		t.Fatal(err)
	}
	p := o.SignIn(storetest.AdminEmail)
	p.Get("/audit?what=decisions").Is(http.StatusOK).Says("main", "the hub is broken")
	for path, want := range map[string]string{
		"/audit/export?format=csv&what=decisions":                          "approval.withdrawn,pending,the hub is broken,",
		"/people/" + o.Owner.ID + "/audit/export?format=csv&what=requests": "approval.refused,pending,it runs already,",
	} {
		if got := p.Get(path).Is(http.StatusOK).Body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
