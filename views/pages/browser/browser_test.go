package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/models"
	"countersign/static"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/inbox"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

// site serves the screens as the server does: static files, the content security
// policy, fragments for htmx, and a stream that tells what say is given.
type site struct {
	*httptest.Server
	say chan string

	mu      sync.Mutex
	shown   models.Approval
	refuse  int // streams to refuse before one stands
	fetched int // fragments of the approval
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{say: make(chan string, 8), shown: gallery.Shell()}
	mux := http.NewServeMux()
	mux.HandleFunc(static.Prefix, func(w http.ResponseWriter, r *http.Request) {
		content, contentType, ok := static.Lookup(r.URL.Path)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // as the server says: their names change with them
		_, _ = w.Write(content)
	})
	mux.HandleFunc(views.EventsURL(), s.stream)
	mux.HandleFunc("GET /approvals/{id}", s.approval)
	mux.HandleFunc(views.WorkerURL(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript") // one that does nothing
	})
	mux.HandleFunc("GET /axe.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600") // else each page would compile it anew
		http.ServeFile(w, r, "testdata/axe/axe.min.js")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == views.InboxURL() {
			_ = inbox.Fragment(inbox.New(inbox.Input{Count: 42}, gallery.Now)).Render(r.Context(), w)
			return
		}
		if r.Header.Get("HX-Request") != "" {
			w.WriteHeader(http.StatusNoContent) // a page that refetches a part of itself keeps it
			return
		}
		_, _ = fmt.Fprint(w, pagestest.Screen(strings.TrimPrefix(r.URL.Path, "/")))
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *site) stream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refused := s.refuse > 0
	s.refuse--
	s.mu.Unlock()
	if refused {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, ": here\n\n")
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case topic := <-s.say:
			_, _ = fmt.Fprintf(w, "event: %s\ndata:\n\n", topic)
		case <-r.Context().Done():
			return
		}
	}
}

func (s *site) approval(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := requests.New(requests.Input{Approval: s.shown, Substitution: models.ActingPage{Right: gallery.Own}}, gallery.Now)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("HX-Request") == "" {
		_ = requests.Page(gallery.Frame(v.Title, v.URL), v).Render(r.Context(), w)
		return
	}
	s.fetched++
	_ = requests.Panel(v).Render(r.Context(), w)
}

// oneProcess keeps a tab in the process that it has, where Chromium would start another
// for each page, to be able to go back to the last.
const oneProcess = "Translate,BlinkGenPropertyTrees,BackForwardCache,ProactivelySwapBrowsingInstance,SpareRendererForSitePerProcess"

// chromium is one browser for all tests; each tab has storage and connections of
// its own.
var chromium struct {
	once sync.Once
	ctx  context.Context
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

// tab opens a tab in Chromium; it is an error when there is none.
func tab(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Fatal("this test needs Chromium: apt-get install chromium-headless-shell, or set CHROMIUM to its path")
	}
	chromium.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
			chromedp.Flag("disable-features", oneProcess),
			chromedp.Flag("disable-threaded-compositing", true)) // what is drawn is measured, not watched: without frames it is a third less work
		allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, stop := chromedp.NewContext(allocator)
		chromium.ctx, chromium.err = ctx, chromedp.Do(ctx)
		chromium.stop = func() {
			stop()
			stopAllocator()
		}
	})
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

func eval(t *testing.T, ctx context.Context, script string) string {
	t.Helper()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return got
}

// until waits for a condition of the page.
func until(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	script := `new Promise((resolve) => { const end = Date.now() + 20000; (function look() {
		if (` + condition + `) resolve("yes"); else if (Date.now() > end) resolve("no"); else setTimeout(look, 20); })(); })`
	if eval(t, ctx, script) != "yes" {
		t.Fatalf("it never came to: %s\n%s", condition, eval(t, ctx, `document.body.innerText`))
	}
}

func resize(t *testing.T, ctx context.Context, width int64) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900)); err != nil {
		t.Fatal(err)
	}
}

func visit(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
}

func TestPageFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	s.refuse = 1
	topic := views.ApprovalTopic(s.shown.ID)
	visit(t, ctx, s.URL+views.ApprovalURL(s.shown.ID))

	until(t, ctx, `document.querySelector("#live-text").textContent === "live"`) // although the first stream was refused
	s.say <- views.InboxTopic()
	until(t, ctx, `document.title.startsWith("(42) ")`)
	until(t, ctx, `document.querySelector("link[rel=icon]").href.includes("waiting")`)

	// A refetch closes nothing that a person has opened.
	eval(t, ctx, `document.querySelector(".fold").open = true; document.addEventListener("htmx:finally:swap", () => { window.swaps = (window.swaps ?? 0) + 1 }); ""`)
	s.say <- topic
	until(t, ctx, `window.swaps === 1`)
	until(t, ctx, `document.querySelector(".fold").open`)

	// A form that is being filled in stays; once the request has ended it becomes the
	// outcome, and what was typed is kept beside it.
	eval(t, ctx, `document.querySelector("#reason").value = "because"`)
	s.say <- topic
	until(t, ctx, `window.swaps === 2`)
	until(t, ctx, `document.querySelector("[data-guard-note]").hidden`)
	s.mu.Lock()
	s.shown = gallery.Settle(s.shown, models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject})
	s.mu.Unlock()
	s.say <- topic
	until(t, ctx, `document.querySelector("[data-kept-text] textarea")?.value === "because"`)
	until(t, ctx, `document.querySelector(".outcome") && !document.querySelector("#decide")`)
	until(t, ctx, `window.swaps === 3`)

	// Many events at once are few fetches.
	s.mu.Lock()
	before := s.fetched
	s.mu.Unlock()
	for range 6 {
		s.say <- topic
	}
	until(t, ctx, `window.swaps > 3`)
	s.mu.Lock()
	if n := s.fetched - before; n > 2 {
		t.Errorf("6 events at once made %d fetches", n)
	}
	s.mu.Unlock()

	s.mu.Lock()
	s.refuse = 1 << 30
	s.mu.Unlock()
	s.CloseClientConnections()
	until(t, ctx, `document.querySelector("#live-text").textContent.startsWith("offline since ")`)
}

func TestThemeAndTimes(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	visit(t, ctx, s.URL+"/inbox")
	until(t, ctx, `document.querySelector(".row-left time[data-time=left]").textContent === "0:08 left"`) // ticks by the server's clock
	if got := eval(t, ctx, `document.querySelector(".row-left time[data-time=left]").title`); !strings.Contains(got, "2026") {
		t.Errorf("the exact time is %q", got)
	}
	eval(t, ctx, `document.querySelector("[data-theme-switch]").click(); document.documentElement.dataset.theme`)
	chosen := eval(t, ctx, `document.documentElement.dataset.theme`)
	visit(t, ctx, s.URL+"/audit")
	if got := eval(t, ctx, `document.documentElement.dataset.theme`); got != chosen || chosen == "" {
		t.Errorf("the theme %q became %q on the next page", chosen, got)
	}
}
