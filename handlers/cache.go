package handlers

import (
	"net/http"
	"strings"
)

// CacheControl is what keeps an answer with somebody's data out of every cache. A browser
// throws a page away, to which somebody could go back at once, when a script of it was
// answered with no-store. So a script that says itself that nothing of its request is to be
// stored (RFC 9111, 5.2.1.5), as those of our pages do, is answered without that word.
func CacheControl(r *http.Request) string {
	for _, line := range r.Header.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(directive), "no-store") {
				return "private, no-cache"
			}
		}
	}
	return "no-store"
}
