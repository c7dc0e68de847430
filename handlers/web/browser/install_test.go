package browser_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
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
	w := webtest.New(t)
	w.Ask(func(in *models.AskInput) { in.Description = "a secret plan" })
	server := httptest.NewServer(w.Pages)
	t.Cleanup(server.Close)
	p := openTab(w)
	p.expected = append(p.expected, "ERR_", "Failed to fetch", "htmx:", "Failed to load")
	p.do("open", chromedp.EmulateViewport(1440, 900), chromedp.Navigate(server.URL+"/"))
	p.fill("#email", webtest.OwnerEmail)
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
	if body := p.text("body"); strings.Contains(body, "secret") || strings.Contains(body, webtest.OwnerEmail) {
		t.Errorf("it shows %s", body)
	}
	if got := p.value(`getComputedStyle(document.querySelector(".btn")).display + " " + document.documentElement.classList.contains("js")`); got == "inline true" || !strings.HasSuffix(got, "true") {
		t.Errorf("without style or script: %s", got)
	}
}

func TestAManifestAndIconsToInstallIt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	v := w.Visitor()
	at, _ := v.Get("/signin").Doc.Find("link[rel=manifest]").Attr("href")
	got := v.Get(at).Is(200)
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/manifest+json") {
		t.Errorf("it is %s", got.Header.Get("Content-Type"))
	}
	icons := 0
	for part := range strings.SplitSeq(got.Body, `"`) {
		if strings.HasPrefix(part, static.Prefix) {
			v.Get(part).Is(200)
			icons++
		}
	}
	if icons != 4 || !strings.Contains(got.Body, `"maskable"`) || !strings.Contains(got.Body, `"standalone"`) {
		t.Errorf("it says %s", got.Body)
	}
	for _, path := range []string{"/sw.js", "/offline"} {
		page := v.Get(path).Is(200)
		if cache := page.Header.Get("Cache-Control"); cache != "no-cache" {
			t.Errorf("%s: Cache-Control %q", path, cache)
		}
		if mine := w.SignIn(webtest.OwnerEmail).Get(path).Is(200); mine.Body != page.Body || len(mine.Cookies) > 0 {
			t.Errorf("%s is another for somebody", path)
		}
	}
	if policy := v.Get("/signin").Header.Get("Content-Security-Policy"); !strings.Contains(policy, "worker-src 'self'") || !strings.Contains(policy, "manifest-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
}
