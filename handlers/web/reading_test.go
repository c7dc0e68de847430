package web_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// TestI15ReadingChangesNothing gets every address there is, also with a verdict
// in the query, and finds the database as it was.
func TestI15ReadingChangesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, q, token := w.Ask(), w.Ask(webtest.Question), w.OwnToken()
	people := []*webtest.Person{w.Visitor(), w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")}
	before := storetest.Dump(t, w.Store)
	if !strings.Contains(before, string(a.ID)) || !strings.Contains(before, "ledger\n") {
		t.Fatalf("the dump lacks what was asked: %.300s", before)
	}
	var paths []string
	for _, route := range w.Pages.Routes() {
		if route.Method != http.MethodGet && route.Method != http.MethodPost || route.Path == "/events" || strings.Contains(route.Path, "*") {
			continue
		}
		path := w.Filled(route, a, token)
		paths = append(paths, path, path+"?verdict=approve&digest="+a.Digest+"&scope=agent&agent=x&step=save&base_version=1"+
			"&email="+webtest.OwnerEmail+"&password=x&option=eu&_method=POST")
	}
	paths = append(paths, webtest.PageOf(q), "/?conversation="+string(a.ConversationID))
	for _, path := range paths {
		for _, p := range people {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				p.Send(method, path, nil, webtest.Header{"X-HTTP-Method-Override", "POST"})
				p.Send(method, path, nil, webtest.HTMX)
			}
		}
	}
	if after := storetest.Dump(t, w.Store); after != before {
		t.Errorf("reading changed what is stored:\n%s\n---\n%s", before, after)
	}
}
