package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/models/storetest"
)

// behindProxy is the pages as a proxy on this machine serves them.
func behindProxy(t *testing.T, proxies handlers.Proxies) *world {
	t.Helper()
	w := &world{tb: t, clock: storetest.NewClock()}
	w.store = storetest.New(t, storetest.WithClock(w.clock))
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.site = web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.store.Now, PublicURL: public, Proxies: proxies}, w.store, web.Options{})
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

func TestSignInLimitsCountTheAddressBehindASetProxy(t *testing.T) {
	t.Parallel()
	proxies, err := handlers.ParseProxies("127.0.0.1,::1")
	if err != nil {
		t.Fatal(err)
	}
	w := behindProxy(t, proxies)
	p := w.visitor()
	from := func(address string) header { return header{"X-Forwarded-For", address} }
	for range 5 {
		p.post("/signin", credentials(ownerEmail, "not the password"), from("198.51.100.7")).is(http.StatusUnprocessableEntity)
	}
	p.post("/signin", credentials(ownerEmail, storetest.Password), from("198.51.100.7")).is(http.StatusTooManyRequests)
	// What the guesser puts before its own address changes nothing.
	p.post("/signin", credentials(ownerEmail, storetest.Password), from("203.0.113.9, 198.51.100.7")).is(http.StatusTooManyRequests)
	p.post("/signin", credentials(ownerEmail, storetest.Password), from("203.0.113.9")).redirects("/")
}
