package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers"
)

// A page elsewhere may use what takes bearer tokens if its origin is named, exactly; never
// with cookies, and nothing else.
func TestPagesElsewhereUseTheAPIWithATokenOnly(t *testing.T) {
	t.Parallel()
	const page = "https://app.example.com"
	origins, err := handlers.ParseOrigins("https://App.example.com:443/, http://localhost:5173")
	if err != nil {
		t.Fatal(err)
	}
	handled := 0
	served := origins.Wrap(&url.URL{Scheme: "https", Host: "sign.example.com"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		handled++
		w.WriteHeader(http.StatusOK)
	}))
	for _, tt := range []struct {
		name, method, path, host, origin string
		header                           map[string]string
		allowed, handled                 bool
	}{
		{"a token", "GET", "/v1/approvals", "sign.example.com", page, map[string]string{"Authorization": "Bearer x"}, true, true},
		{"another named origin", "GET", "/v1/approvals", "sign.example.com", "http://localhost:5173", map[string]string{"Authorization": "Bearer x"}, true, true},
		{"a conversation", "POST", "/conversations/1/approve", "sign.example.com", page, map[string]string{"Authorization": "Bearer x"}, true, true},
		{"no token", "GET", "/v1/approvals", "sign.example.com", page, nil, false, true},
		{"a cookie", "GET", "/v1/approvals", "sign.example.com", page, map[string]string{"Cookie": "countersign=x"}, false, true},
		{"a token in the address", "GET", "/v1/approvals?access_token=x", "sign.example.com", page, nil, false, true},
		{"another origin", "GET", "/v1/approvals", "sign.example.com", "https://evil.example.com", map[string]string{"Authorization": "Bearer x"}, false, true},
		{"one that begins like it", "GET", "/v1/approvals", "sign.example.com", page + ".evil.example", map[string]string{"Authorization": "Bearer x"}, false, true},
		{"another port", "GET", "/v1/approvals", "sign.example.com", page + ":8443", map[string]string{"Authorization": "Bearer x"}, false, true},
		{"another scheme", "GET", "/v1/approvals", "sign.example.com", "http://app.example.com", map[string]string{"Authorization": "Bearer x"}, false, true},
		{"none", "GET", "/v1/approvals", "sign.example.com", "null", map[string]string{"Authorization": "Bearer x"}, false, true},
		{"a host that is not ours", "GET", "/v1/approvals", "evil.example.com", page, map[string]string{"Authorization": "Bearer x"}, false, true},
		{"a page of ours", "GET", "/approvals/1", "sign.example.com", page, map[string]string{"Authorization": "Bearer x"}, false, true},
		{"a coding agent's hook", "POST", "/hooks/claude-code", "sign.example.com", page, map[string]string{"Authorization": "Bearer x"}, false, true},
		{"before a request", "OPTIONS", "/v1/approvals", "sign.example.com", page, map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}, true, false},
		{"before one of another origin", "OPTIONS", "/v1/approvals", "sign.example.com", "https://evil.example.com", map[string]string{"Access-Control-Request-Method": "POST"}, false, true},
		{"before a form of ours", "OPTIONS", "/signin", "sign.example.com", page, map[string]string{"Access-Control-Request-Method": "POST"}, false, true},
	} {
		before, rec := handled, httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, http.NoBody)
		r.Host = tt.host
		r.Header.Set("Origin", tt.origin)
		for name, value := range tt.header {
			r.Header.Set(name, value)
		}
		served.ServeHTTP(rec, r)
		h := rec.Header()
		if got := h.Get("Access-Control-Allow-Origin"); (got == tt.origin) != tt.allowed || !tt.allowed && got != "" {
			t.Errorf("%s: allowed for %q", tt.name, got)
		}
		if (handled > before) != tt.handled {
			t.Errorf("%s: handled %d times", tt.name, handled-before)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: with credentials", tt.name)
		}
		if strings.HasPrefix(tt.path, "/v1") && h.Get("Vary") != "Origin" {
			t.Errorf("%s: caches may give the answer to another origin", tt.name)
		}
	}
}

func TestOriginsAreNamedExactly(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"*", "null", "app.example.com", "https://*.example.com", "https://a.example/path", "https://u@a.example", "https://a.example?x", "ftp://a.example", "https://"} {
		if got, err := handlers.ParseOrigins("https://ok.example.com," + wrong); err == nil {
			t.Errorf("%s is taken: %q", wrong, got)
		}
	}
	if got, err := handlers.ParseOrigins(" "); err != nil || len(got) != 0 {
		t.Errorf("nothing is %q, %v", got, err)
	}
}
