package web_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models/storetest"
)

// TestI15ReadingChangesNothing gets every address there is, also with a verdict
// in the query, and finds the database as it was.
func TestI15ReadingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, q, token := w.ask(), w.ask(question), w.ownToken()
	people := []*person{w.visitor(), w.signedIn(ownerEmail), w.signedIn("admin@example.com")}
	before := storetest.Dump(t, w.store)
	if !strings.Contains(before, string(a.ID)) || !strings.Contains(before, "ledger\n") {
		t.Fatalf("the dump lacks what was asked: %.300s", before)
	}
	var paths []string
	for _, route := range w.site.Routes() {
		if route.Method != http.MethodGet && route.Method != http.MethodPost || route.Path == "/events" || strings.Contains(route.Path, "*") {
			continue
		}
		path := w.filled(route, a, token)
		paths = append(paths, path, path+"?verdict=approve&digest="+a.Digest+"&scope=agent&agent=x&step=save&base_version=1"+
			"&email="+ownerEmail+"&password=x&option=eu&_method=POST")
	}
	paths = append(paths, pageOf(q), "/?conversation="+string(a.ConversationID))
	for _, path := range paths {
		for _, p := range people {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				p.send(method, path, nil, header{"X-HTTP-Method-Override", "POST"})
				p.send(method, path, nil, htmx)
			}
		}
	}
	if after := storetest.Dump(t, w.store); after != before {
		t.Errorf("reading changed what is stored:\n%s\n---\n%s", before, after)
	}
}
