package web_test

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
	"countersign/models/storetest"
	"countersign/views/gallery"
)

// developed is the pages of a server that was started for development.
func developed(t *testing.T) *world {
	t.Helper()
	w := &world{tb: t, clock: storetest.NewClock()}
	w.store = storetest.New(t, storetest.WithClock(w.clock))
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.site = web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.store.Now, PublicURL: public}, w.store, web.Options{Gallery: gallery.Pages{}})
	server.Config.Handler = w.site
	server.Start()
	w.url = server.URL
	t.Cleanup(func() {
		w.site.Stop()
		server.Close()
	})
	storetest.Reviewer(t, w.store, ownerEmail)
	return w
}

// Every state that the gallery lists is a whole page, of which nothing can be
// sent.
func TestTheGalleryShowsEveryState(t *testing.T) {
	t.Parallel()
	w := developed(t)
	w.visitor().get("/dev/gallery").redirects("/signin?next=%2Fdev%2Fgallery")
	p := w.signedIn(ownerEmail)
	index := p.get("/dev/gallery").is(http.StatusOK)
	links := index.doc.Find("main .gallery a")
	if links.Length() < 90 {
		t.Errorf("only %d states are listed", links.Length())
	}
	links.Each(func(_ int, link *goquery.Selection) {
		state := p.get(link.AttrOr("href", "")).is(http.StatusOK)
		if !strings.Contains(state.body, "</html>") || !strings.Contains(state.header.Get("Content-Security-Policy"), "form-action 'none'") {
			t.Errorf("%s is no whole page, or its forms can be sent", state.asked)
		}
	})
	for _, path := range []string{"/dev/gallery/inbox/x", "/dev/gallery/x/usual", "/dev/gallery/inbox", "/dev"} {
		p.get(path).is(http.StatusNotFound)
	}
}

// Without the setting there is no gallery, and no page leads to it.
func TestThereIsNoGalleryButForDevelopment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	for _, path := range []string{"/dev/gallery", "/dev/gallery/inbox/usual"} {
		p.get(path).is(http.StatusNotFound)
	}
	if home := developed(t).signedIn(ownerEmail).get("/"); strings.Contains(home.body, "/dev/") {
		t.Error("the inbox leads to the gallery")
	}
}
