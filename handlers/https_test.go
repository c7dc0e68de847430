package handlers_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/labstack/echo/v4"
)

// Browsers are told to come by HTTPS alone where the public address is one, and only for
// its own name.
func TestBrowsersAreKeptToHTTPS(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ public, host, want string }{
		{"https://sign.example.com", "sign.example.com", "max-age=31536000"},
		{"https://sign.example.com", "localhost", ""},
		{"http://sign.example.com", "sign.example.com", ""},
	} {
		k, _ := kit()
		public, err := url.Parse(tt.public)
		if err != nil {
			t.Fatal(err)
		}
		k.PublicURL = public
		e := k.Router(k.FailJSON)
		e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
		got := ask(e, "GET", "/", func(r *http.Request) { r.Host = tt.host })
		if got.Code != http.StatusOK || got.Header().Get("Strict-Transport-Security") != tt.want {
			t.Errorf("%s at %s: %d, %q", tt.public, tt.host, got.Code, got.Header().Get("Strict-Transport-Security"))
		}
	}
}
