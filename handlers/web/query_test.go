package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestAQueryThatCannotBeReadIsAPageThatSaysSo on every page: a filter that is
// dropped unread would show more than was asked for.
func TestAQueryThatCannotBeReadIsAPageThatSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, token := w.ask(), w.ownToken()
	admin := w.signedIn(adminEmail)
	for _, route := range w.behind() {
		if route.Method != http.MethodGet {
			continue
		}
		path := w.filled(route, a, token)
		got := admin.get(path + "?status=';DROP").is(http.StatusUnprocessableEntity)
		if route.Path != "/events" {
			got.says("main", "query", "%3B")
		}
		if got.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: the page of the error may run scripts", path)
		}
	}
	w.visitor().get("/signin?next=/%zz").is(http.StatusUnprocessableEntity)
	if got := admin.get("/history?status=';DROP", json).is(http.StatusUnprocessableEntity); !strings.Contains(got.body, `"field":"query"`) {
		t.Errorf("%s", got.body)
	}
}

// TestAFilterThatDoesNotExistIsRefused on each list that takes one.
func TestAFilterThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	for _, path := range []string{
		"/history?status=x", "/history?status=%27%3BDROP", "/history/export?format=csv&status=x", "/history?cause=x", "/history?risk=x",
		"/conversations?status=x", "/conversations?status=%27%3BDROP", "/?risk=x",
	} {
		admin.get(path).is(http.StatusUnprocessableEntity)
	}
	for _, path := range []string{"/history?status=rejected", "/conversations?status=running", "/conversations?status="} {
		admin.get(path).is(http.StatusOK)
	}
}
