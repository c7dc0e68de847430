package web_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
)

// TestAQueryThatCannotBeReadIsAPageThatSaysSo on every page: a filter that is
// dropped unread would show more than was asked for.
func TestAQueryThatCannotBeReadIsAPageThatSaysSo(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, token := w.Ask(), w.OwnToken()
	admin := w.SignIn(webtest.AdminEmail)
	for _, route := range w.Behind() {
		if route.Method != http.MethodGet {
			continue
		}
		path := w.Filled(route, a, token)
		got := admin.Get(path + "?status=';DROP").Is(http.StatusUnprocessableEntity)
		if route.Path != "/events" {
			got.Says("main", "query", "%3B")
		}
		if got.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: the page of the error may run scripts", path)
		}
	}
	w.Visitor().Get("/signin?next=/%zz").Is(http.StatusUnprocessableEntity)
	if got := admin.Get("/history?status=';DROP", webtest.JSON).Is(http.StatusUnprocessableEntity); !strings.Contains(got.Body, `"field":"query"`) {
		t.Errorf("%s", got.Body)
	}
}

// TestAFilterThatDoesNotExistIsRefused on each list that takes one.
func TestAFilterThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	for _, path := range []string{
		"/history?status=x", "/history?status=%27%3BDROP", "/history/export?format=csv&status=x", "/history?cause=x", "/history?risk=x",
		"/conversations?status=x", "/conversations?status=%27%3BDROP", "/?risk=x",
	} {
		admin.Get(path).Is(http.StatusUnprocessableEntity)
	}
	for _, path := range []string{"/history?status=rejected", "/conversations?status=running", "/conversations?status="} {
		admin.Get(path).Is(http.StatusOK)
	}
}
