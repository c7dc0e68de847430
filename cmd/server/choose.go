package server

import (
	"net/http"
	"strings"

	"countersign/handlers"
	"countersign/static"
	"countersign/views"
)

// operation are the paths that need no session: the API's router serves them to every caller.
var operation = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/openapi.json": true}

// choose picks one of the two routers before either sees the request. One reads
// bearer tokens and never cookies, the other cookies and never tokens, so that a
// browser can be made to send neither's credential to the other.
func choose(queue, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, static.Prefix), r.URL.Path == views.DocsURL(),
			r.URL.Path == views.WebhookGuideURL():
			pages.ServeHTTP(w, r)
		case operation[r.URL.Path], handlers.WantsBearer(r):
			queue.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}
