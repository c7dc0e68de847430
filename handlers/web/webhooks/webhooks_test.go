package webhooks_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

const webhooksPath = "/system/webhooks"

// endpoint has an admin add an endpoint by form, and gives its page and its secret.
func endpoint(p *webtest.Person, name, address string, more url.Values) (path, secret string) {
	p.World.TB.Helper()
	form := p.Get(webhooksPath+"/new").Is(http.StatusOK).Form("#webhook-form", "")
	form.Set("name", name)
	form.Set("url", address)
	maps.Copy(form, more)
	added := p.Post(webhooksPath, form).Is(http.StatusOK)
	test := added.Doc.Find("form:has(#test-webhook)").AttrOr("action", "")
	secret = added.Text("#webhook-secret")
	if !strings.HasPrefix(secret, "whsec_") || added.Header.Get("Content-Encoding") != "" {
		p.World.TB.Errorf("the secret is %q, in an answer of %q", secret, added.Header.Get("Content-Encoding"))
	}
	return strings.TrimSuffix(test, "/test"), secret
}

func TestAnEndpointIsAddedChangedPausedAndRemoved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	p.Get("/system").Is(http.StatusOK).Says("main", "Webhooks: programs that are sent events")
	p.Get(webhooksPath).Is(http.StatusOK).Says(".empty-state", "No endpoints yet")
	p.Get(webhooksPath+"/new").Is(http.StatusOK).Says(".flash", "No host is allowed yet")
	const address = "https://hooks.example.com/s3cret-path?key=s3cret-key"
	path, secret := endpoint(p, "Ledger copy", address, nil)

	p.Get(path).Is(http.StatusOK).Says("h1", "Ledger copy").Says(".sheet-head", "https://hooks.example.com").Says("#webhook-state", "active", "all", "not sent", "admin")
	for _, at := range []string{path, webhooksPath, path + "/change", path + "/replay"} {
		if got := p.Get(at).Is(http.StatusOK); strings.Contains(got.Body, secret) || strings.Contains(got.Body, "s3cret") {
			t.Errorf("%s shows a secret", at)
		}
	}

	change := p.Get(path+"/change").Is(http.StatusOK).Form("#webhook-form", "")
	if change.Get("events") != "all" || change.Get("url") != "" || change.Get("name") != "Ledger copy" {
		t.Errorf("the form holds %v", change)
	}
	change.Set("events", "chosen")
	change["families"], change["types"] = []string{"token"}, []string{"approval.approved"}
	change.Set("inputs", "true")
	change.Set("name", "Approvals")
	p.Post(path, change).Redirects(path)
	p.Get(path).Is(http.StatusOK).Says(".flash", "Saved").Says("h1", "Approvals").Says("#webhook-state", "approval.approved", "token.*", "sent too")
	again := p.Get(path+"/change").Is(http.StatusOK).Form("#webhook-form", "")
	if got := fmt.Sprint(again["types"], again["families"], again["events"], again["inputs"]); got != "[approval.approved] [token] [chosen] [true]" {
		t.Errorf("the form holds %s", got)
	}

	p.Post(path+"/pause", nil).Redirects(path)
	page := p.Get(path).Says(".flash", "Paused").Says("#webhook-state", "paused", "by admin@example.com")
	p.Get(webhooksPath).Says("tbody", "Approvals", "paused")
	p.Post(path+"/retry", nil).Is(http.StatusConflict).Says(".flash", "resume it first")
	if page.Doc.Find("#switch-webhook").Text() != "Resume" {
		t.Error("it can't be resumed")
	}
	p.Post(path+"/resume", nil).Redirects(path)
	p.Get(path).Says("#webhook-state", "active")
	p.Post(path+"/test", nil).Is(http.StatusOK).Says("#webhook-test", "is not allowed")

	p.Get(path + "/remove").Redirects(path) // an address alone changes nothing
	p.Post(path+"/remove", nil).Redirects(webhooksPath)
	p.Get(webhooksPath).Says(".flash", "Removed").Says(".empty-state", "No endpoints yet")
	p.Get(path).Is(http.StatusNotFound)
	p.Get("/audit/all").Says("main", "webhook added", "webhook changed", "webhook paused", "webhook resumed", "webhook removed")
}

func TestAnEndpointThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	endpoint(p, "Taken", "https://hooks.example.com/", nil)
	for name, tt := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{
		"no address":     {url.Values{"name": {"Copy"}, "events": {"all"}}, http.StatusUnprocessableEntity, "#url-error"},
		"a wrong scheme": {url.Values{"name": {"Copy"}, "url": {"ftp://s3cret.example.com"}, "events": {"all"}}, http.StatusUnprocessableEntity, "#url-error"},
		"nothing chosen": {url.Values{"name": {"Copy"}, "url": {"https://s3cret.example.com"}, "events": {"chosen"}, "types": {"approval.nonsense"}}, http.StatusUnprocessableEntity, "#types-error"},
		"a taken name":   {url.Values{"name": {"Taken"}, "url": {"https://s3cret.example.com"}, "events": {"all"}}, http.StatusConflict, "#name-error"},
	} {
		tt.form.Set("inputs", "true")
		got := p.Post(webhooksPath, tt.form).Is(tt.status)
		if got.Text(tt.says) == "" || got.Value("#name") != tt.form.Get("name") || got.Doc.Find("#inputs[checked]").Length() != 1 || got.Value("#url") != tt.form.Get("url") || got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: says %q about it; typed: %v", name, got.Text(tt.says), got.Form("#webhook-form", ""))
		}
	}
	if all, err := w.Store.Webhooks.List(t.Context(), w.Admin); err != nil || len(all) != 1 {
		t.Errorf("%d endpoints, %v", len(all), err)
	}
}

func TestASecretOfAnEndpointIsShownOnceAndTheOldOneRetired(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	path, first := endpoint(p, "Copy", "https://hooks.example.com/", nil)
	rotated := p.Post(path+"/rotate", nil).Is(http.StatusOK).Says("#webhook-state", "The old one signs too until")
	second := rotated.Text("#webhook-secret")
	if !strings.HasPrefix(second, "whsec_") || second == first || rotated.Header.Get("Content-Encoding") != "" {
		t.Errorf("the new secret is %q, the old one was %q", second, first)
	}
	p.Post(path+"/retire", nil).Redirects(path)
	if page := p.Get(path).Says(".flash", "Only the new secret signs").SaysNot("#webhook-state", "old one"); strings.Contains(page.Body, second) {
		t.Error("the secret is shown again")
	}
	w.Clock.Step(time.Hour)
	p.Post(path+"/rotate", nil).Is(http.StatusOK)
	w.Clock.Step(models.WebhookOldKeyLife + time.Second)
	w.SignIn(webtest.AdminEmail).Get(path).Is(http.StatusOK).SaysNot("#webhook-state", "old one")
}

func TestEventsAreSentAgainFromAnEntryOrATime(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	before := w.Clock.Now()
	w.Clock.Step(time.Hour)
	w.Ask()
	path, _ := endpoint(p, "Copy", "https://hooks.example.com/", nil)
	hook, err := w.Store.Webhooks.List(t.Context(), w.Admin)
	if err != nil || len(hook) != 1 {
		t.Fatal(hook, err)
	}
	end := hook[0].Cursor
	head, err := w.Store.Ledger.Head(t.Context())
	storetest.Must(t, err)
	count := func(from int64) string {
		return fmt.Sprintf("%d entries of the ledger, from entry %d", head.Seq-from+1, from)
	}

	p.Get(path+"/replay").Is(http.StatusOK).SaysNot("main", "of the ledger")
	p.Get(path+"/replay?seq=2").Is(http.StatusOK).Says("#replay", count(2))
	p.Get(path+"/replay?at="+url.QueryEscape(before.UTC().Add(time.Minute).Format("2006-01-02 15:04"))).Is(http.StatusOK).Says("#replay", "of the ledger, from entry")
	for _, wrong := range []string{"seq=yesterday", "seq=0", "seq=-4", "at=noon", fmt.Sprintf("seq=%d", end+10)} {
		if got := p.Get(path + "/replay?" + wrong).Is(http.StatusOK); got.Text(".field-error") == "" || got.Doc.Find("#replay").Length() != 0 {
			t.Errorf("%s: says %q", wrong, got.Text("main"))
		}
	}
	p.Post(path+"/replay", nil).Is(http.StatusUnprocessableEntity).Says(".field-error", "must be the number of an entry")
	p.Post(path+"/replay", p.Get(path+"/replay?seq=2").Form("#replay", "#replay-webhook")).Redirects(path)
	p.Get(path).Says(".flash", "sent again from there")
	if hook, err = w.Store.Webhooks.List(t.Context(), w.Admin); err != nil || hook[0].Cursor != 1 {
		t.Errorf("it is at %d, %v", hook[0].Cursor, err)
	}
}

// What the guide says of events is what there is, and it is for whoever asks.
func TestTheGuideOfWebhooksNamesAllEvents(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	guide := w.Visitor().Get("/docs/webhooks").Is(http.StatusOK).Says("h1", "Webhooks")
	var named []string
	for _, s := range guide.Doc.Find("#events ~ .table-wrap tbody th").EachIter() {
		named = append(named, s.Text())
	}
	var all []string
	for _, e := range models.EventTypes() {
		all = append(all, e.Name)
	}
	storetest.SameStrings(t, "events", named, all)
	if guide.Doc.Find("main .markdown pre").Length() < 5 || guide.Doc.Find("main .markdown h3").Length() == 0 {
		t.Error("the guide is not laid out")
	}
}

// Who was an admin and is none any more gets nothing of webhooks in the session that they still
// have: no page, no secret, and nothing is changed.
func TestWhoIsNoAdminAnyMoreGetsNothingOfWebhooks(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	path, _ := endpoint(p, "Copy", "https://hooks.example.com/s3cret", nil)
	before, err := w.Store.Webhooks.List(t.Context(), w.Admin)
	storetest.Must(t, err)
	storetest.Must(t, w.Store.People.SetRole(t.Context(), storetest.Operator(), w.Owner.UserID(), models.RoleAdmin))
	storetest.Must(t, w.Store.People.SetRole(t.Context(), storetest.Operator(), w.Admin.UserID(), models.RoleReviewer))
	for _, route := range []string{
		"GET " + webhooksPath, "POST " + webhooksPath, "GET " + webhooksPath + "/new", "GET ", "POST ", "GET /change", "GET /replay?seq=1", "POST /replay", "POST /test",
		"POST /pause", "POST /resume", "POST /retry", "POST /retire", "POST /skip", "POST /rotate", "POST /remove",
	} {
		method, at, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(at, webhooksPath) {
			at = path + at
		}
		form := url.Values{"name": {"Mine"}, "url": {"https://hooks.example.com/"}, "events": {"all"}, "inputs": {"true"}, "seq": {"1"}, "reason": {"because"}}
		got := p.Send(method, at, form)
		signIn := got.Status == http.StatusSeeOther && strings.HasPrefix(got.Header.Get("Location"), "/signin")
		if got.Status != http.StatusForbidden && !signIn || strings.Contains(got.Body, "whsec_") || strings.Contains(got.Body, "hooks.example.com") {
			t.Errorf("%s: %d", route, got.Status)
		}
	}
	after, err := w.Store.Webhooks.List(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	if len(after) != 1 || after[0].Name != before[0].Name || after[0].PausedAt != nil || after[0].OldKeyUntil != nil || after[0].Inputs {
		t.Errorf("%+v", after)
	}
}

// A name is a text, whatever is in it: no markup, no link.
func TestTheNameOfAnEndpointIsAText(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	const name = `@everyone <a href="https://x.example">https://x.example</a>`
	path, _ := endpoint(p, name, "https://hooks.example.com/", nil)
	p.Post(path+"/pause", nil).Redirects(path)
	for _, at := range []string{path, path + "/change", path + "/replay?seq=1", webhooksPath, "/system", "/audit/all"} {
		got := p.Get(at).Is(http.StatusOK)
		if got.Doc.Find(`a[href*="x.example"]`).Length() > 0 {
			t.Errorf("%s makes a link of it", at)
		}
	}
	p.Get(path).Says("h1", name)
	p.Get(webhooksPath).Says("tbody", name)
}
