package account_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// behindProxy is the pages as a proxy on this machine serves them.
func behindProxy(t *testing.T, proxies handlers.Proxies) *webtest.World {
	t.Helper()
	w := &webtest.World{TB: t, Clock: storetest.NewClock()}
	w.Store = storetest.New(t, storetest.WithClock(w.Clock))
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.Pages = web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: public, Proxies: proxies}, w.Store, web.Options{})
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

func TestSignInLimitsCountTheAddressBehindASetProxy(t *testing.T) {
	t.Parallel()
	proxies, err := handlers.ParseProxies("127.0.0.1,::1")
	if err != nil {
		t.Fatal(err)
	}
	w := behindProxy(t, proxies)
	p := w.Visitor()
	from := func(address string) webtest.Header { return webtest.Header{"X-Forwarded-For", address} }
	for range 5 {
		p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, "not the password"), from("198.51.100.7")).Is(http.StatusUnprocessableEntity)
	}
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), from("198.51.100.7")).Is(http.StatusTooManyRequests)
	// What the guesser puts before its own address changes nothing.
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), from("203.0.113.9, 198.51.100.7")).Is(http.StatusTooManyRequests)
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), from("203.0.113.9")).Redirects("/")
}
