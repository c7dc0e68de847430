package account_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

func TestWrongPasswordsTellNothingAndAreLimited(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.Visitor()
	texts := map[string]bool{}
	for range 5 {
		got := p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, "not the password")).Is(http.StatusUnprocessableEntity)
		texts[got.Text("main")] = true
		if got.Value("input[name=email]") != webtest.OwnerEmail || got.Value("input[name=password]") != "" {
			t.Errorf("the form holds %q and a password %q", got.Value("input[name=email]"), got.Value("input[name=password]"))
		}
	}
	texts[p.Post("/signin", webtest.Credentials("nobody@example.com", "not the password")).Is(http.StatusUnprocessableEntity).Text("main")] = true
	if len(texts) != 1 {
		t.Errorf("the answers differ: %v", texts)
	}
	got := p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Is(http.StatusTooManyRequests).Says("main", "Try again in", "15 minutes")
	if got.Header.Get("Retry-After") != "900" {
		t.Errorf("Retry-After = %q", got.Header.Get("Retry-After"))
	}
	// What a header says about the address counts for nothing.
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), webtest.Header{"X-Forwarded-For", "198.51.100.7"}).Is(http.StatusTooManyRequests)
	w.Clock.Step(16 * time.Minute)
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Redirects("/")
}

func TestSetupLinkMakesTheFirstAdminOnce(t *testing.T) {
	t.Parallel()
	w := webtest.Empty(t, 0)
	w.Visitor().Get("/signin").Is(http.StatusOK).Says("main", "setup link")
	key, err := w.Store.People.NewSetupLink(t.Context(), storetest.Operator())
	if err != nil {
		t.Fatal(err)
	}
	p := w.Visitor()
	p.Get("/setup").Is(http.StatusNotFound)
	p.Get("/setup?key=guess").Is(http.StatusNotFound)
	link := "/setup?key=" + url.QueryEscape(key)
	p.Get(link).Is(http.StatusOK)
	form := p.Get(link).Is(http.StatusOK).Form("main form", "")

	form.Set("name", "Ada")
	form.Set("email", "ada@example.com")
	form.Set("password", "short")
	bad := p.Post("/setup", form).Is(http.StatusUnprocessableEntity).Says("#password-error", "12")
	if bad.Value("input[name=name]") != "Ada" || bad.Value("input[name=key]") != key {
		t.Errorf("the form lost what was filled in: %s", bad.Body)
	}
	form.Set("password", storetest.Password)
	other := w.Visitor()
	p.Post("/setup", form).Redirects("/")
	p.Get("/").Is(http.StatusOK).Says("header", "Ada", "admin").Says(".flash", "signed in")
	other.Get(link).Is(http.StatusNotFound)
	form.Set("email", "eve@example.com")
	other.Post("/setup", form).Is(http.StatusNotFound)
	other.Post("/signin", webtest.Credentials("eve@example.com", storetest.Password)).Is(http.StatusUnprocessableEntity)
}

func TestChangingThePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	here, there := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.OwnerEmail)
	form := here.Get("/account/password").Is(http.StatusOK).Form("main form", "")
	form.Set("current", "not this one")
	form.Set("new", "another long password")
	here.Post("/account/password", form).Is(http.StatusUnprocessableEntity).Says("#current-error", "password")
	form.Set("current", storetest.Password)
	form.Set("new", "short")
	here.Post("/account/password", form).Is(http.StatusUnprocessableEntity).Says("#new-error", "12")
	form.Set("new", "another long password")
	here.Post("/account/password", form).Redirects("/")
	here.Get("/").Is(http.StatusOK).Says(".flash", "other sessions are signed out")
	there.Get("/").Redirects("/signin")
	w.Visitor().Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Is(http.StatusUnprocessableEntity)
	w.Visitor().Post("/signin", webtest.Credentials(webtest.OwnerEmail, "another long password")).Redirects("/")

	for range 6 {
		form.Set("current", "not this one")
		here.Post("/account/password", form)
	}
	here.Post("/account/password", form).Is(http.StatusTooManyRequests).Says("main", "try again in")
}

// A browser in which somebody has signed in is known afterwards, by a cookie that
// opens nothing.
func TestASignInHasTheBrowserKnown(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.Visitor()
	device := func() string {
		got := p.Post("/signin", url.Values{"email": {webtest.OwnerEmail}, "password": {storetest.Password}})
		got.Redirects("/")
		for _, line := range got.Header.Values("Set-Cookie") {
			if c, err := http.ParseSetCookie(line); err == nil && strings.HasSuffix(c.Name, "-device") {
				if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge < 300*24*3600 {
					t.Errorf("cookie %s", line)
				}
				return c.Value
			}
		}
		t.Fatal("no cookie by which the browser is known")
		return ""
	}
	first := device()
	if again := device(); again != first {
		t.Error("the same browser is another one at the next sign-in")
	}
	stranger := w.Visitor()
	at, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	stranger.HTTP.Jar.SetCookies(at, []*http.Cookie{{Name: "countersign-device", Value: first}, {Name: "countersign", Value: first}})
	stranger.Get("/").Redirects("/signin")
}

// Who changes their password may end their tokens with it; they are kept otherwise.
func TestAPasswordChangeOffersToRevokeTokens(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	const next = "another long password"
	p := w.SignIn(webtest.OwnerEmail)
	works := func() bool {
		_, err := w.Store.People.AuthenticateToken(t.Context(), w.Token)
		return err == nil
	}
	form := p.Get("/account/password").Is(http.StatusOK).Says("main", "Revoke my token too").Form("main form", "")
	form.Set("current", storetest.Password)
	form.Set("new", next)
	p.Post("/account/password", form).Redirects("/")
	if !works() {
		t.Fatal("a token was revoked that nobody asked to revoke")
	}
	form.Set("current", "wrong, of course")
	form.Set("revoke_tokens", "true")
	if again := p.Post("/account/password", form).Is(http.StatusUnprocessableEntity); again.Doc.Find("#revoke_tokens[checked]").Length() != 1 || !works() {
		t.Error("the wish is lost, or done though nothing was changed")
	}
	form.Set("current", next)
	form.Set("new", storetest.Password)
	p.Post("/account/password", form).Redirects("/")
	p.Get("/").Says(".flash", "your tokens are revoked")
	if works() {
		t.Error("the token still works")
	}
	p.Get("/account/password").Is(http.StatusOK).SaysNot("main", "Revoke")
	w.SignIn(webtest.StrangerEmail).Get("/account/password").Is(http.StatusOK).SaysNot("main", "Revoke")
}

func TestSigningInOpensASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.Visitor()
	p.Get("/").Redirects("/signin")
	p.Get("/audit?x=1").Redirects("/signin?next=%2Faudit%3Fx%3D1")

	got := p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Redirects("/")
	if len(got.Cookies) != 2 { // the session's, and the one by which the browser is known
		t.Fatalf("cookies = %v", got.Cookies)
	}
	c := got.Cookies[0]
	if c.Name != "countersign" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie = %+v", c)
	}
	if strings.Contains(c.Value, w.Owner.ID) || len(c.Value) < 40 {
		t.Errorf("the cookie holds %q, want an opaque secret", c.Value)
	}
	p.Get("/").Is(http.StatusOK).Says("header", webtest.OwnerEmail).Says("main h1", "Inbox")

	// Signing in again gives another secret, and the one before is worth nothing.
	again := p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Redirects("/")
	if again.Cookies[0].Value == c.Value {
		t.Error("the same secret again")
	}
	w.Visitor().Get("/", webtest.Header{"Cookie", "countersign=" + c.Value}).Redirects("/signin")

	p.Post("/signout", nil).Redirects("/signin")
	p.Get("/signin").Is(http.StatusOK).Says(".flash", "You are signed out.")
	p.Get("/signin").SaysNot(".flash", "You are signed out.")
	p.Get("/").Redirects("/signin")
	w.Visitor().Get("/", webtest.Header{"Cookie", "countersign=" + again.Cookies[0].Value}).Redirects("/signin")
}

func TestCookiesAreSecureOffLoopback(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"https://sign.example.com", "https://127.0.0.1:8443", "http://10.0.0.5:8080"} {
		w := webtest.New(t)
		at, err := url.Parse(public)
		if err != nil {
			t.Fatal(err)
		}
		site := web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: at}, w.Store, web.Options{})
		t.Cleanup(site.Stop)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, public+"/signin", strings.NewReader(webtest.Credentials(webtest.OwnerEmail, storetest.Password).Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		site.ServeHTTP(rec, req)
		cookies := rec.Result().Cookies()
		if len(cookies) != 2 || cookies[0].Name != "__Host-countersign" || cookies[1].Name != "__Host-countersign-device" {
			t.Errorf("%s: cookies = %+v, status %d", public, cookies, rec.Code)
		}
		for _, c := range cookies {
			if !c.Secure || !c.HttpOnly || c.Path != "/" {
				t.Errorf("%s: cookie %+v", public, c)
			}
		}
	}
}

func TestAfterSigningInOnlyLocalPagesAreGoneTo(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for next, want := range map[string]string{
		"":                              "/",
		"/audit":                        "/audit",
		"/approvals/1?x=2":              "/approvals/1?x=2",
		"https://evil.example/":         "/",
		"//evil.example/":               "/",
		"/\\evil.example":               "/",
		"/\t/evil.example":              "/",
		"/\n/evil.example":              "/",
		" //evil.example":               "/",
		"\\\\evil.example":              "/",
		"javascript:alert(1)":           "/",
		"/signin?next=/audit":           "/",
		"/" + strings.Repeat("a", 5000): "/",
	} {
		form := webtest.Credentials(webtest.OwnerEmail, storetest.Password)
		form.Set("next", next)
		w.Visitor().Post("/signin", form).Redirects(want)
		w.SignIn(webtest.OwnerEmail).Get("/signin?" + url.Values{"next": {next}}.Encode()).Redirects(want)
		shown := w.Visitor().Get("/signin?" + url.Values{"next": {next}}.Encode()).Is(http.StatusOK)
		if got := shown.Value("input[name=next]"); want == "/" && got != "" || want != "/" && got != want {
			t.Errorf("the form would lead to %q for %q", got, next)
		}
	}
}
