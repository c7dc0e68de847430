package policy_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// Whoever may read the policy finds how it works from there, laid out and with the
// documents to copy.
func TestThePolicyLeadsToItsGuide(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for _, who := range []string{storetest.AdminEmail, webtest.OwnerEmail} {
		p := w.SignIn(who)
		link, _ := p.Get("/policy").Is(http.StatusOK).Doc.Find("main .sheet-head a").Attr("href")
		guide := p.Get(link).Is(http.StatusOK).Says("h1", "How the policy works").Doc
		if got, want := guide.Find("main .markdown pre").Length(), strings.Count(policy.Guide, "```")/2; got != want {
			t.Errorf("%s sees %d documents and commands, the guide has %d", who, got, want)
		}
		if guide.Find("main .markdown h3").Length() == 0 {
			t.Error("the guide has no headings")
		}
	}
}
