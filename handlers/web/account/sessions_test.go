package account_test

import (
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
)

func TestMySessions(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	one, two, three := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.OwnerEmail)
	stranger := w.SignIn(webtest.StrangerEmail)
	list := one.Get("/account/sessions").Is(http.StatusOK).Says("table", "this session", "127.0.0.1", "unknown program")
	ends := list.Doc.Find("form[action$='/end']")
	if ends.Length() != 2 {
		t.Fatalf("%d sessions can be ended, want the 2 others", ends.Length())
	}
	// The latest sign-in stands first.
	end := ends.First().AttrOr("action", "")
	stranger.Post(end, nil).Is(http.StatusNotFound)
	three.Get("/").Is(http.StatusOK)
	one.Post(end, nil).Redirects("/account/sessions")
	one.Get("/account/sessions").Says(".flash", "Session signed out")
	three.Get("/").Redirects("/signin")
	two.Get("/").Is(http.StatusOK)
	one.Post("/account/sessions/end-others", nil).Redirects("/account/sessions")
	two.Get("/").Redirects("/signin")
	last := one.Get("/account/sessions").Is(http.StatusOK)
	if last.Doc.Find("#end-others, form[action$='/end']").Length() != 0 {
		t.Error("others are offered where there are none")
	}
	stranger.Get("/").Is(http.StatusOK)
}
