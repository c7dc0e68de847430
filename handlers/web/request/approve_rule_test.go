package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// An admin approves and goes on to a rule that is filled in from the request, with and without script, and after the
// question that high risk asks; for all others there is neither the button nor the act.
func TestAnApprovalLeadsToARule(t *testing.T) {
	t.Parallel()
	for _, risk := range []string{"low", "high"} {
		t.Run(risk, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(strings.ReplaceAll(webtest.Danger, `"high"`, `"`+risk+`"`))
			a, b, c := w.Ask(), w.Ask(), w.Ask()
			admin := w.SignIn(webtest.AdminEmail)
			if got := admin.Get(webtest.PageOf(a)).Doc.Find("#approve-rule").Length(); got != 1 {
				t.Fatalf("an admin has %d buttons", got)
			}
			form := admin.Get(webtest.PageOf(a)).Form("#verdict", "#approve-rule")
			got := admin.Post(webtest.DecideOf(a), form)
			if risk == "high" {
				got = admin.Post(webtest.DecideOf(a), got.Is(http.StatusOK).Says("#confirm", "and make a rule from it?").Form("#confirm", "#confirm-approve"))
			}
			rule := "/policy/rules/new?from=" + string(a.ID)
			if got.Redirects(rule); w.Approval(a.ID).Status() != models.StatusApproved {
				t.Error("it is not approved")
			}
			if got := admin.Get(rule).Is(http.StatusOK).Form("#rule-form", "").Get("tool"); got != a.ToolName {
				t.Errorf("the rule is for %q", got)
			}

			form = admin.Get(webtest.PageOf(b)).Form("#verdict", "#approve-rule")
			form.Set("confirmed", "true")
			form.Set("seen_end", "1")
			if to := admin.Post(webtest.DecideOf(b), form, webtest.HTMX).Is(http.StatusOK).Header.Get("HX-Redirect"); to != "/policy/rules/new?from="+string(b.ID) {
				t.Errorf("htmx goes to %q", to)
			}

			owner := w.SignIn(webtest.OwnerEmail)
			if got := owner.Get(webtest.PageOf(c)).Doc.Find("#approve-rule").Length(); got != 0 {
				t.Errorf("a reviewer has %d buttons", got)
			}
			sent := url.Values{"verdict": {"approve_rule"}, "digest": {c.Digest}, "confirmed": {"true"}, "seen_end": {"1"}}
			owner.Post(webtest.DecideOf(c), sent).Is(http.StatusForbidden)
			owner.Post(webtest.ConversationPath(c.ConversationID)+"/decide/"+string(c.ID), sent).Is(http.StatusForbidden)
			if got := w.Approval(c.ID).Status(); got != models.StatusPending {
				t.Errorf("it is %s", got)
			}
		})
	}
}
