package browser_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// oneProcess keeps a tab in the process that it has. Chromium would start another for each
// page, to be able to go back to the last, which it never does to pages that are not to be
// stored, as ours are.
const oneProcess = "Translate,BlinkGenPropertyTrees,BackForwardCache,ProactivelySwapBrowsingInstance,SpareRendererForSitePerProcess"

// chromium is one browser for all tests; each tab has cookies of its own.
var chromium struct {
	once sync.Once
	ctx  context.Context //nolint:containedctx // chromedp's handle of the browser
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if chromium.stop != nil {
		chromium.stop()
	}
	os.Exit(code)
}

func browser(tb testing.TB) context.Context {
	tb.Helper()
	path := os.Getenv("CHROMIUM")
	if path == "" {
		for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
			if found, err := exec.LookPath(name); err == nil {
				path = found
				break
			}
		}
	}
	if path == "" {
		tb.Fatal("browser tests need Chromium: install it (apt-get install chromium-headless-shell), or set CHROMIUM to its path")
	}
	chromium.once.Do(func() {
		opts := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
			chromedp.Flag("disable-features", oneProcess),
		)
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, stop := chromedp.NewContext(allocator)
		chromium.ctx, chromium.err = ctx, chromedp.Do(ctx) //nolint:fatcontext // once, and all tabs come from it
		chromium.stop = func() {
			stop()
			stopAllocator()
		}
	})
	if chromium.err != nil {
		tb.Fatalf("start %s: %v", path, chromium.err)
	}
	return chromium.ctx
}

// tab is one page in a browser. What the page writes to its console as an error,
// broken content policies among it, fails the test.
type tab struct {
	tb  testing.TB
	w   *webtest.World
	ctx context.Context //nolint:containedctx // chromedp's handle of the tab

	expected []string // errors that belong to the test
}

func openTab(w *webtest.World) *tab {
	w.TB.Helper()
	ctx, cancel := chromedp.NewContext(browser(w.TB), chromedp.WithNewBrowserContext())
	return tabIn(ctx, w, cancel)
}

// beside is another tab of the same browser, with its cookies and its
// connections.
func (t *tab) beside() *tab {
	t.tb.Helper()
	ctx, cancel := chromedp.NewContext(t.ctx)
	return tabIn(ctx, t.w, cancel)
}

// tabIn opens a tab, and gathers what its page writes to the console until the test ends.
func tabIn(ctx context.Context, w *webtest.World, cancel context.CancelFunc) *tab {
	w.TB.Helper()
	t := &tab{tb: w.TB, w: w, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		w.TB.Fatalf("open a tab: %v", err)
	}
	var mu sync.Mutex
	var said []string
	read := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(read)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" || m.Type == "warning" || m.Type == "warn" || strings.Contains(m.Text, "Content Security Policy") {
				mu.Lock()
				said = append(said, m.String()+" "+m.URL)
				mu.Unlock()
			}
		}
	}()
	w.TB.Cleanup(func() {
		cancel()
		<-read
		mu.Lock()
		defer mu.Unlock()
		for _, text := range said {
			if !t.expects(text) {
				w.TB.Errorf("the page says: %s", text)
			}
		}
	})
	return t
}

func (t *tab) expects(text string) bool {
	for _, part := range t.expected {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// do runs steps, each of which may wait for the page.
func (t *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, webtest.Browsing)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.tb.Fatalf("%s: %v; the page shows: %s", what, err, t.text("body"))
	}
}

func (t *tab) open(path string) {
	t.tb.Helper()
	t.do("open "+path, chromedp.Navigate(t.w.URL+path))
}

// sees waits until an element shows a text.
func (t *tab) sees(selector, text string) {
	t.tb.Helper()
	found := func() bool { return strings.Contains(t.text(selector), text) }
	deadline := time.After(webtest.Browsing)
	for tick := time.NewTicker(50 * time.Millisecond); !found(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.tb.Fatalf("%s never says %q: %q; the page shows: %s", selector, text, t.text(selector), t.text("body"))
		}
	}
}

// text is what a person reads of an element; empty while there is none.
func (t *tab) text(selector string) string {
	t.tb.Helper()
	text, err := t.evaluate(`document.querySelector(` + quoted(selector) + `)?.innerText ?? ""`)
	if err != nil {
		return "" // between two pages there is none
	}
	return strings.Join(strings.Fields(text), " ")
}

// value is the value of an expression in the page.
func (t *tab) value(expression string) string {
	t.tb.Helper()
	v, err := t.evaluate(`String(` + expression + `)`)
	if err != nil {
		t.tb.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (t *tab) evaluate(expression string) (string, error) {
	ctx, cancel := context.WithTimeout(t.ctx, webtest.Browsing)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[string](expression))
}

func quoted(s string) string { return "`" + s + "`" }

// calm waits until what changes on the page no longer keeps a decision back.
func (t *tab) calm() {
	t.tb.Helper()
	t.becomes(`document.readyState === "complete" && document.documentElement.dataset.unseen === undefined && performance.now() - Number(document.documentElement.dataset.shifted ?? 0) > 360`)
}

// insist acts again while the page says that it has only just changed, as a person
// does: what changes by itself may do so at any moment.
func (t *tab) insist(act func()) {
	t.tb.Helper()
	for early := true; early; early = strings.Contains(t.text("[data-hint]"), "just appeared") {
		t.calm()
		t.value(`(document.querySelector("[data-hint]") ?? {}).textContent = ""`)
		act()
	}
}

// acts presses keys that decide.
func (t *tab) acts(keys ...string) {
	t.tb.Helper()
	t.insist(func() { t.press(keys...) })
}

func (t *tab) click(selector string) {
	t.tb.Helper()
	t.do("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
	t.insist(func() {
		t.do("click "+selector, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.Click(chromedp.CSS(selector)))
	})
}

func (t *tab) fill(selector, text string) {
	t.tb.Helper()
	t.becomes(`document.documentElement.dataset.unseen === undefined`) // whoever types has seen what it is about
	t.do("fill "+selector, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// withoutScript has pages of this tab run none.
func (t *tab) withoutScript() {
	t.tb.Helper()
	t.do("leave the page, whose scripts may be at work", chromedp.Navigate("about:blank"))
	t.do("switch scripts off", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// signIn is for the owner.
func (t *tab) signIn() {
	t.tb.Helper()
	t.signInAs(webtest.OwnerEmail)
}

// signInAs gives the tab the cookies of somebody who has just signed in. Tests of signing
// in fill in the form; in the others each would take half a second for it.
func (t *tab) signInAs(email string) {
	t.tb.Helper()
	answer := t.w.Visitor().Post("/signin", url.Values{"email": {email}, "password": {storetest.Password}})
	answer.Redirects("/")
	t.do("take the cookies", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, network.SetCookies, network.SetCookiesParams{Cookies: asChromiumSets(t.w, answer.Cookies)})
		return err
	}))
	t.open("/")
	t.sees("main h1", "Inbox")
}

// asChromiumSets are the cookies of an answer, as a browser would keep them.
func asChromiumSets(w *webtest.World, cookies []*http.Cookie) []*network.CookieParam {
	sameSite := map[http.SameSite]network.CookieSameSite{
		http.SameSiteLaxMode: network.CookieSameSiteLax, http.SameSiteStrictMode: network.CookieSameSiteStrict, http.SameSiteNoneMode: network.CookieSameSiteNone,
	}
	var params []*network.CookieParam
	for _, c := range cookies {
		param := &network.CookieParam{
			Name: c.Name, Value: c.Value, URL: w.URL, Path: c.Path,
			Secure: c.Secure, HTTPOnly: c.HttpOnly, SameSite: sameSite[c.SameSite],
		}
		if c.MaxAge > 0 {
			param.Expires = cdp.TimeSinceEpoch(time.Now().Unix() + int64(c.MaxAge))
		}
		params = append(params, param)
	}
	return params
}
