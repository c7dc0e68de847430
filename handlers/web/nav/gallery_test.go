package nav_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
	"countersign/views/gallery"
)

// developed is the pages of a server that was started for development.
func developed(t *testing.T) *webtest.World {
	t.Helper()
	w := &webtest.World{TB: t, Clock: storetest.NewClock()}
	w.Store = storetest.New(t, storetest.WithClock(w.Clock))
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.Pages = web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: public}, w.Store, web.Options{Gallery: gallery.Pages{}})
	server.Config.Handler = w.Pages
	server.Start()
	w.URL = server.URL
	t.Cleanup(func() {
		w.Pages.Stop()
		server.Close()
	})
	storetest.Reviewer(t, w.Store, webtest.OwnerEmail)
	return w
}

// Every state that the gallery lists is a whole page, of which nothing can be
// sent.
func TestTheGalleryShowsEveryState(t *testing.T) {
	t.Parallel()
	w := developed(t)
	w.Visitor().Get("/dev/gallery").Redirects("/signin?next=%2Fdev%2Fgallery")
	p := w.SignIn(webtest.OwnerEmail)
	index := p.Get("/dev/gallery").Is(http.StatusOK)
	links := index.Doc.Find("main .gallery a")
	if links.Length() < 90 {
		t.Errorf("only %d states are listed", links.Length())
	}
	links.Each(func(_ int, link *goquery.Selection) {
		state := p.Get(link.AttrOr("href", "")).Is(http.StatusOK)
		if !strings.Contains(state.Body, "</html>") || !strings.Contains(state.Header.Get("Content-Security-Policy"), "form-action 'none'") {
			t.Errorf("%s is no whole page, or its forms can be sent", state.Asked)
		}
	})
	for _, path := range []string{"/dev/gallery/inbox/x", "/dev/gallery/x/usual", "/dev/gallery/inbox", "/dev"} {
		p.Get(path).Is(http.StatusNotFound)
	}
}

// Without the setting there is no gallery, and no page leads to it.
func TestThereIsNoGalleryButForDevelopment(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	for _, path := range []string{"/dev/gallery", "/dev/gallery/inbox/usual"} {
		p.Get(path).Is(http.StatusNotFound)
	}
	if home := developed(t).SignIn(webtest.OwnerEmail).Get("/"); strings.Contains(home.Body, "/dev/") {
		t.Error("the inbox leads to the gallery")
	}
}
