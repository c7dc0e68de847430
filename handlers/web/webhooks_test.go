package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

const webhooksPath = "/system/webhooks"

// endpoint has an admin add an endpoint by form, and gives its page and its secret.
func (p *person) endpoint(name, address string, more url.Values) (path, secret string) {
	p.w.tb.Helper()
	form := p.get(webhooksPath+"/new").is(http.StatusOK).form("#webhook-form", "")
	form.Set("name", name)
	form.Set("url", address)
	maps.Copy(form, more)
	added := p.post(webhooksPath, form).is(http.StatusOK)
	test := added.doc.Find("form:has(#test-webhook)").AttrOr("action", "")
	secret = added.text("#webhook-secret")
	if !strings.HasPrefix(secret, "whsec_") || added.header.Get("Content-Encoding") != "" {
		p.w.tb.Errorf("the secret is %q, in an answer of %q", secret, added.header.Get("Content-Encoding"))
	}
	return strings.TrimSuffix(test, "/test"), secret
}

func TestAnEndpointIsAddedChangedPausedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	p.get("/system").is(http.StatusOK).says("main", "Webhooks: programs that are sent events")
	p.get(webhooksPath).is(http.StatusOK).says(".empty-state", "No endpoints yet")
	p.get(webhooksPath+"/new").is(http.StatusOK).says(".flash", "No host is allowed yet")
	const address = "https://hooks.example.com/s3cret-path?key=s3cret-key"
	path, secret := p.endpoint("Ledger copy", address, nil)

	p.get(path).is(http.StatusOK).says("h1", "Ledger copy").says(".sheet-head", "https://hooks.example.com").says("#webhook-state", "active", "all", "not sent", "admin")
	for _, at := range []string{path, webhooksPath, path + "/change", path + "/replay"} {
		if got := p.get(at).is(http.StatusOK); strings.Contains(got.body, secret) || strings.Contains(got.body, "s3cret") {
			t.Errorf("%s shows a secret", at)
		}
	}

	change := p.get(path+"/change").is(http.StatusOK).form("#webhook-form", "")
	if change.Get("events") != "all" || change.Get("url") != "" || change.Get("name") != "Ledger copy" {
		t.Errorf("the form holds %v", change)
	}
	change.Set("events", "chosen")
	change["families"], change["types"] = []string{"token"}, []string{"approval.approved"}
	change.Set("inputs", "true")
	change.Set("name", "Approvals")
	p.post(path, change).redirects(path)
	p.get(path).is(http.StatusOK).says(".flash", "Saved").says("h1", "Approvals").says("#webhook-state", "approval.approved", "token.*", "sent too")
	again := p.get(path+"/change").is(http.StatusOK).form("#webhook-form", "")
	if got := fmt.Sprint(again["types"], again["families"], again["events"], again["inputs"]); got != "[approval.approved] [token] [chosen] [true]" {
		t.Errorf("the form holds %s", got)
	}

	p.post(path+"/pause", nil).redirects(path)
	page := p.get(path).says(".flash", "Paused").says("#webhook-state", "paused", "by admin@example.com")
	p.get(webhooksPath).says("tbody", "Approvals", "paused")
	p.post(path+"/retry", nil).is(http.StatusConflict).says(".flash", "resume it first")
	if page.doc.Find("#switch-webhook").Text() != "Resume" {
		t.Error("it can't be resumed")
	}
	p.post(path+"/resume", nil).redirects(path)
	p.get(path).says("#webhook-state", "active")
	p.post(path+"/test", nil).is(http.StatusOK).says("#webhook-test", "is not allowed")

	p.get(path + "/remove").redirects(path) // an address alone changes nothing
	p.post(path+"/remove", nil).redirects(webhooksPath)
	p.get(webhooksPath).says(".flash", "Removed").says(".empty-state", "No endpoints yet")
	p.get(path).is(http.StatusNotFound)
	p.get("/audit/all").says("main", "webhook added", "webhook changed", "webhook paused", "webhook resumed", "webhook removed")
}

func TestAnEndpointThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	p.endpoint("Taken", "https://hooks.example.com/", nil)
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
		got := p.post(webhooksPath, tt.form).is(tt.status)
		if got.text(tt.says) == "" || got.value("#name") != tt.form.Get("name") || got.doc.Find("#inputs[checked]").Length() != 1 || got.value("#url") != tt.form.Get("url") || got.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: says %q about it; typed: %v", name, got.text(tt.says), got.form("#webhook-form", ""))
		}
	}
	if all, err := w.store.Webhooks.List(t.Context(), w.admin); err != nil || len(all) != 1 {
		t.Errorf("%d endpoints, %v", len(all), err)
	}
}

func TestASecretOfAnEndpointIsShownOnceAndTheOldOneRetired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	path, first := p.endpoint("Copy", "https://hooks.example.com/", nil)
	rotated := p.post(path+"/rotate", nil).is(http.StatusOK).says("#webhook-state", "The old one signs too until")
	second := rotated.text("#webhook-secret")
	if !strings.HasPrefix(second, "whsec_") || second == first || rotated.header.Get("Content-Encoding") != "" {
		t.Errorf("the new secret is %q, the old one was %q", second, first)
	}
	p.post(path+"/retire", nil).redirects(path)
	if page := p.get(path).says(".flash", "Only the new secret signs").saysNot("#webhook-state", "old one"); strings.Contains(page.body, second) {
		t.Error("the secret is shown again")
	}
	w.clock.Step(time.Hour)
	p.post(path+"/rotate", nil).is(http.StatusOK)
	w.clock.Step(models.WebhookOldKeyLife + time.Second)
	w.signedIn(adminEmail).get(path).is(http.StatusOK).saysNot("#webhook-state", "old one")
}

func TestEventsAreSentAgainFromAnEntryOrATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	before := w.clock.Now()
	w.clock.Step(time.Hour)
	w.ask()
	path, _ := p.endpoint("Copy", "https://hooks.example.com/", nil)
	hook, err := w.store.Webhooks.List(t.Context(), w.admin)
	if err != nil || len(hook) != 1 {
		t.Fatal(hook, err)
	}
	end := hook[0].Cursor
	head, err := w.store.Ledger.Head(t.Context())
	storetest.Must(t, err)
	count := func(from int64) string {
		return fmt.Sprintf("%d entries of the ledger, from entry %d", head.Seq-from+1, from)
	}

	p.get(path+"/replay").is(http.StatusOK).saysNot("main", "of the ledger")
	p.get(path+"/replay?seq=2").is(http.StatusOK).says("#replay", count(2))
	p.get(path+"/replay?at="+url.QueryEscape(before.UTC().Add(time.Minute).Format("2006-01-02 15:04"))).is(http.StatusOK).says("#replay", "of the ledger, from entry")
	for _, wrong := range []string{"seq=yesterday", "seq=0", "seq=-4", "at=noon", fmt.Sprintf("seq=%d", end+10)} {
		if got := p.get(path + "/replay?" + wrong).is(http.StatusOK); got.text(".field-error") == "" || got.doc.Find("#replay").Length() != 0 {
			t.Errorf("%s: says %q", wrong, got.text("main"))
		}
	}
	p.post(path+"/replay", nil).is(http.StatusUnprocessableEntity).says(".field-error", "must be the number of an entry")
	p.post(path+"/replay", p.get(path+"/replay?seq=2").form("#replay", "#replay-webhook")).redirects(path)
	p.get(path).says(".flash", "sent again from there")
	if hook, err = w.store.Webhooks.List(t.Context(), w.admin); err != nil || hook[0].Cursor != 1 {
		t.Errorf("it is at %d, %v", hook[0].Cursor, err)
	}
}

// What the guide says of events is what there is, and it is for whoever asks.
func TestTheGuideOfWebhooksNamesAllEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guide := w.visitor().get("/docs/webhooks").is(http.StatusOK).says("h1", "Webhooks")
	var named []string
	for _, s := range guide.doc.Find("#events ~ .table-wrap tbody th").EachIter() {
		named = append(named, s.Text())
	}
	var all []string
	for _, e := range models.EventTypes() {
		all = append(all, e.Name)
	}
	storetest.SameStrings(t, "events", named, all)
	if guide.doc.Find("main .markdown pre").Length() < 5 || guide.doc.Find("main .markdown h3").Length() == 0 {
		t.Error("the guide is not laid out")
	}
}

// Who was an admin and is none any more gets nothing of webhooks in the session that they still
// have: no page, no secret, and nothing is changed.
func TestWhoIsNoAdminAnyMoreGetsNothingOfWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	path, _ := p.endpoint("Copy", "https://hooks.example.com/s3cret", nil)
	before, err := w.store.Webhooks.List(t.Context(), w.admin)
	storetest.Must(t, err)
	storetest.Must(t, w.store.People.SetRole(t.Context(), storetest.Operator(), w.owner.UserID(), models.RoleAdmin))
	storetest.Must(t, w.store.People.SetRole(t.Context(), storetest.Operator(), w.admin.UserID(), models.RoleReviewer))
	for _, route := range []string{
		"GET " + webhooksPath, "POST " + webhooksPath, "GET " + webhooksPath + "/new", "GET ", "POST ", "GET /change", "GET /replay?seq=1", "POST /replay", "POST /test",
		"POST /pause", "POST /resume", "POST /retry", "POST /retire", "POST /skip", "POST /rotate", "POST /remove",
	} {
		method, at, _ := strings.Cut(route, " ")
		if !strings.HasPrefix(at, webhooksPath) {
			at = path + at
		}
		form := url.Values{"name": {"Mine"}, "url": {"https://hooks.example.com/"}, "events": {"all"}, "inputs": {"true"}, "seq": {"1"}, "reason": {"because"}}
		got := p.send(method, at, form)
		signIn := got.status == http.StatusSeeOther && strings.HasPrefix(got.header.Get("Location"), "/signin")
		if got.status != http.StatusForbidden && !signIn || strings.Contains(got.body, "whsec_") || strings.Contains(got.body, "hooks.example.com") {
			t.Errorf("%s: %d", route, got.status)
		}
	}
	after, err := w.store.Webhooks.List(t.Context(), storetest.Operator())
	storetest.Must(t, err)
	if len(after) != 1 || after[0].Name != before[0].Name || after[0].PausedAt != nil || after[0].OldKeyUntil != nil || after[0].Inputs {
		t.Errorf("%+v", after)
	}
}

// A name is a text, whatever is in it: no markup, no link.
func TestTheNameOfAnEndpointIsAText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	const name = `@everyone <a href="https://x.example">https://x.example</a>`
	path, _ := p.endpoint(name, "https://hooks.example.com/", nil)
	p.post(path+"/pause", nil).redirects(path)
	for _, at := range []string{path, path + "/change", path + "/replay?seq=1", webhooksPath, "/system", "/audit/all"} {
		got := p.get(at).is(http.StatusOK)
		if got.doc.Find(`a[href*="x.example"]`).Length() > 0 {
			t.Errorf("%s makes a link of it", at)
		}
	}
	p.get(path).says("h1", name)
	p.get(webhooksPath).says("tbody", name)
}
