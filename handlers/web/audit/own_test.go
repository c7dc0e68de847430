package audit_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
)

func TestAuditShowsOnesOwn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	owner := w.SignIn(webtest.OwnerEmail)
	owner.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Redirects(webtest.PageOf(a))
	owner.Get("/audit").Is(http.StatusOK).Says("main", "rejected", string(a.ID)[28:])
	w.SignIn(webtest.StrangerEmail).Get("/audit").Is(http.StatusOK).SaysNot("main", string(a.ID)[28:])
}
