package request_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// Who says that they look at a request need be able to see it, and nothing of theirs is told.
func TestLookingAtARequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	look := "/approvals/" + string(a.ID) + "/look"
	w.SignIn(webtest.StrangerEmail).Post(look, nil).Is(http.StatusNotFound)
	owner := w.SignIn(webtest.OwnerEmail)
	owner.Get(look).Redirects("/approvals/" + string(a.ID))
	owner.Post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).Redirects("/account/notifications")
	w.SendsDue()
	verify := owner.Get("/account/notifications").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	owner.Post(verify, url.Values{"code": {w.Mails.Last(t).Code}}).Redirects("/account/notifications")
	w.Clock.Step(2 * time.Minute)

	seen, unseen := w.Ask(), w.Ask()
	owner.Post("/approvals/"+string(seen.ID)+"/look", nil).Is(http.StatusNoContent)
	w.SendsDue()
	w.Clock.Step(models.ActiveFor)
	w.SendsDue()
	if told := w.Mails.Last(t); told.Request != unseen.ID {
		t.Errorf("told of %s, which is %s, and looked at is %s", told.Request, told.Kind, seen.ID)
	}
}
