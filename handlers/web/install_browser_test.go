package web_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/static"
)

// keptPaths puts what this browser's caches hold into window.kept.
const keptPaths = `(async () => {
  const paths = [];
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) paths.push(new URL(request.url).pathname);
  }
  window.kept = paths.join(" ");
})()`

func (t *tab) keptPaths() []string {
	t.tb.Helper()
	t.value(`window.kept = undefined, ` + keptPaths)
	t.becomes(`window.kept !== undefined`)
	return strings.Fields(t.value(`window.kept`))
}

func TestInABrowserWithoutNetworkThereIsAPageThatHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(func(in *models.AskInput) { in.Description = "a secret plan" })
	server := httptest.NewServer(w.site)
	t.Cleanup(server.Close)
	p := w.tab()
	p.expected = append(p.expected, "ERR_", "Failed to fetch", "htmx:", "Failed to load")
	p.do("open", chromedp.EmulateViewport(1440, 900), chromedp.Navigate(server.URL+"/"))
	p.fill("#email", ownerEmail)
	p.fill("#password", storetest.Password)
	p.click("#sign-in")
	p.sees("main", "a secret plan")
	p.value(`navigator.serviceWorker.ready.then(() => { window.ready = true; }), 0`)
	p.becomes(`window.ready === true`)
	for _, path := range []string{"/history", "/policy", "/audit"} { // through the worker
		p.do("open "+path, chromedp.Navigate(server.URL+path))
		p.becomes(`navigator.serviceWorker.controller !== null`)
	}

	want := []string{"/offline"}
	for _, name := range static.Offline {
		want = append(want, static.URL(name))
	}
	slices.Sort(want)
	if got := p.keptPaths(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("the caches hold %q, want %q", got, want)
	}

	server.CloseClientConnections()
	server.Close()
	p.do("reload", chromedp.Func(reload))
	p.sees("main h1", "You are offline")
	if body := p.text("body"); strings.Contains(body, "secret") || strings.Contains(body, ownerEmail) {
		t.Errorf("it shows %s", body)
	}
	if got := p.value(`getComputedStyle(document.querySelector(".btn")).display + " " + document.documentElement.classList.contains("js")`); got == "inline true" || !strings.HasSuffix(got, "true") {
		t.Errorf("without style or script: %s", got)
	}
}

func TestAManifestAndIconsToInstallIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.visitor()
	at, _ := v.get("/signin").doc.Find("link[rel=manifest]").Attr("href")
	got := v.get(at).is(200)
	if !strings.HasPrefix(got.header.Get("Content-Type"), "application/manifest+json") {
		t.Errorf("it is %s", got.header.Get("Content-Type"))
	}
	icons := 0
	for part := range strings.SplitSeq(got.body, `"`) {
		if strings.HasPrefix(part, static.Prefix) {
			v.get(part).is(200)
			icons++
		}
	}
	if icons != 4 || !strings.Contains(got.body, `"maskable"`) || !strings.Contains(got.body, `"standalone"`) {
		t.Errorf("it says %s", got.body)
	}
	for _, path := range []string{"/sw.js", "/offline"} {
		page := v.get(path).is(200)
		if cache := page.header.Get("Cache-Control"); cache != "no-cache" {
			t.Errorf("%s: Cache-Control %q", path, cache)
		}
		if mine := w.signedIn(ownerEmail).get(path).is(200); mine.body != page.body || len(mine.cookies) > 0 {
			t.Errorf("%s is another for somebody", path)
		}
	}
	if policy := v.get("/signin").header.Get("Content-Security-Policy"); !strings.Contains(policy, "worker-src 'self'") || !strings.Contains(policy, "manifest-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
}
