package web_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models/policy"
	"countersign/models/storetest"
)

// Whoever may read the policy finds how it works from there, laid out and with the
// documents to copy.
func TestThePolicyLeadsToItsGuide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, who := range []string{storetest.AdminEmail, ownerEmail} {
		p := w.signedIn(who)
		link, _ := p.get("/policy").is(http.StatusOK).doc.Find("main .sheet-head a").Attr("href")
		guide := p.get(link).is(http.StatusOK).says("h1", "How the policy works").doc
		if got, want := guide.Find("main .markdown pre").Length(), strings.Count(policy.Guide, "```")/2; got != want {
			t.Errorf("%s sees %d documents and commands, the guide has %d", who, got, want)
		}
		if guide.Find("main .markdown h3").Length() == 0 {
			t.Error("the guide has no headings")
		}
	}
}
