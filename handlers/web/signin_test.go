package web_test

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
	"countersign/models/storetest"
)

func credentials(email, password string) url.Values {
	return url.Values{"email": {email}, "password": {password}}
}

func TestSigningInOpensASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.visitor()
	p.get("/").redirects("/signin")
	p.get("/audit?x=1").redirects("/signin?next=%2Faudit%3Fx%3D1")

	got := p.post("/signin", credentials(ownerEmail, storetest.Password)).redirects("/")
	if len(got.cookies) != 2 { // the session's, and the one by which the browser is known
		t.Fatalf("cookies = %v", got.cookies)
	}
	c := got.cookies[0]
	if c.Name != "countersign" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie = %+v", c)
	}
	if strings.Contains(c.Value, w.owner.ID) || len(c.Value) < 40 {
		t.Errorf("the cookie holds %q, want an opaque secret", c.Value)
	}
	p.get("/").is(http.StatusOK).says("header", ownerEmail).says("main h1", "Inbox")

	// Signing in again gives another secret, and the one before is worth nothing.
	again := p.post("/signin", credentials(ownerEmail, storetest.Password)).redirects("/")
	if again.cookies[0].Value == c.Value {
		t.Error("the same secret again")
	}
	w.visitor().get("/", header{"Cookie", "countersign=" + c.Value}).redirects("/signin")

	p.post("/signout", nil).redirects("/signin")
	p.get("/signin").is(http.StatusOK).says(".flash", "You are signed out.")
	p.get("/signin").saysNot(".flash", "You are signed out.")
	p.get("/").redirects("/signin")
	w.visitor().get("/", header{"Cookie", "countersign=" + again.cookies[0].Value}).redirects("/signin")
}

func TestCookiesAreSecureOffLoopback(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"https://sign.example.com", "https://127.0.0.1:8443", "http://10.0.0.5:8080"} {
		w := newWorld(t)
		at, err := url.Parse(public)
		if err != nil {
			t.Fatal(err)
		}
		site := web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.store.Now, PublicURL: at}, w.store, web.Options{})
		t.Cleanup(site.Stop)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, public+"/signin", strings.NewReader(credentials(ownerEmail, storetest.Password).Encode()))
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
	w := newWorld(t)
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
		form := credentials(ownerEmail, storetest.Password)
		form.Set("next", next)
		w.visitor().post("/signin", form).redirects(want)
		w.signedIn(ownerEmail).get("/signin?" + url.Values{"next": {next}}.Encode()).redirects(want)
		shown := w.visitor().get("/signin?" + url.Values{"next": {next}}.Encode()).is(http.StatusOK)
		if got := shown.value("input[name=next]"); want == "/" && got != "" || want != "/" && got != want {
			t.Errorf("the form would lead to %q for %q", got, next)
		}
	}
}

func TestWrongPasswordsTellNothingAndAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.visitor()
	texts := map[string]bool{}
	for range 5 {
		got := p.post("/signin", credentials(ownerEmail, "not the password")).is(http.StatusUnprocessableEntity)
		texts[got.text("main")] = true
		if got.value("input[name=email]") != ownerEmail || got.value("input[name=password]") != "" {
			t.Errorf("the form holds %q and a password %q", got.value("input[name=email]"), got.value("input[name=password]"))
		}
	}
	texts[p.post("/signin", credentials("nobody@example.com", "not the password")).is(http.StatusUnprocessableEntity).text("main")] = true
	if len(texts) != 1 {
		t.Errorf("the answers differ: %v", texts)
	}
	got := p.post("/signin", credentials(ownerEmail, storetest.Password)).is(http.StatusTooManyRequests).says("main", "Try again in", "15 minutes")
	if got.header.Get("Retry-After") != "900" {
		t.Errorf("Retry-After = %q", got.header.Get("Retry-After"))
	}
	// What a header says about the address counts for nothing.
	p.post("/signin", credentials(ownerEmail, storetest.Password), header{"X-Forwarded-For", "198.51.100.7"}).is(http.StatusTooManyRequests)
	w.clock.Step(16 * time.Minute)
	p.post("/signin", credentials(ownerEmail, storetest.Password)).redirects("/")
}

func TestSetupLinkMakesTheFirstAdminOnce(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t, 0)
	w.visitor().get("/signin").is(http.StatusOK).says("main", "setup link")
	key, err := w.store.People.NewSetupLink(t.Context(), storetest.Operator())
	if err != nil {
		t.Fatal(err)
	}
	p := w.visitor()
	p.get("/setup").is(http.StatusNotFound)
	p.get("/setup?key=guess").is(http.StatusNotFound)
	link := "/setup?key=" + url.QueryEscape(key)
	p.get(link).is(http.StatusOK)
	form := p.get(link).is(http.StatusOK).form("main form", "")

	form.Set("name", "Ada")
	form.Set("email", "ada@example.com")
	form.Set("password", "short")
	bad := p.post("/setup", form).is(http.StatusUnprocessableEntity).says("#password-error", "12")
	if bad.value("input[name=name]") != "Ada" || bad.value("input[name=key]") != key {
		t.Errorf("the form lost what was filled in: %s", bad.body)
	}
	form.Set("password", storetest.Password)
	other := w.visitor()
	p.post("/setup", form).redirects("/")
	p.get("/").is(http.StatusOK).says("header", "Ada", "admin").says(".flash", "signed in")
	other.get(link).is(http.StatusNotFound)
	form.Set("email", "eve@example.com")
	other.post("/setup", form).is(http.StatusNotFound)
	other.post("/signin", credentials("eve@example.com", storetest.Password)).is(http.StatusUnprocessableEntity)
}

func TestChangingThePasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, there := w.signedIn(ownerEmail), w.signedIn(ownerEmail)
	form := here.get("/account/password").is(http.StatusOK).form("main form", "")
	form.Set("current", "not this one")
	form.Set("new", "another long password")
	here.post("/account/password", form).is(http.StatusUnprocessableEntity).says("#current-error", "password")
	form.Set("current", storetest.Password)
	form.Set("new", "short")
	here.post("/account/password", form).is(http.StatusUnprocessableEntity).says("#new-error", "12")
	form.Set("new", "another long password")
	here.post("/account/password", form).redirects("/")
	here.get("/").is(http.StatusOK).says(".flash", "other sessions are signed out")
	there.get("/").redirects("/signin")
	w.visitor().post("/signin", credentials(ownerEmail, storetest.Password)).is(http.StatusUnprocessableEntity)
	w.visitor().post("/signin", credentials(ownerEmail, "another long password")).redirects("/")

	for range 6 {
		form.Set("current", "not this one")
		here.post("/account/password", form)
	}
	here.post("/account/password", form).is(http.StatusTooManyRequests).says("main", "try again in")
}

// A browser in which somebody has signed in is known afterwards, by a cookie that
// opens nothing.
func TestASignInHasTheBrowserKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.visitor()
	device := func() string {
		got := p.post("/signin", url.Values{"email": {ownerEmail}, "password": {storetest.Password}})
		got.redirects("/")
		for _, line := range got.header.Values("Set-Cookie") {
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
	stranger := w.visitor()
	at, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	stranger.http.Jar.SetCookies(at, []*http.Cookie{{Name: "countersign-device", Value: first}, {Name: "countersign", Value: first}})
	stranger.get("/").redirects("/signin")
}

// Who changes their password may end their tokens with it; they are kept otherwise.
func TestAPasswordChangeOffersToRevokeTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const next = "another long password"
	p := w.signedIn(ownerEmail)
	works := func() bool {
		_, err := w.store.People.AuthenticateToken(t.Context(), w.token)
		return err == nil
	}
	form := p.get("/account/password").is(http.StatusOK).says("main", "Revoke my token too").form("main form", "")
	form.Set("current", storetest.Password)
	form.Set("new", next)
	p.post("/account/password", form).redirects("/")
	if !works() {
		t.Fatal("a token was revoked that nobody asked to revoke")
	}
	form.Set("current", "wrong, of course")
	form.Set("revoke_tokens", "true")
	if again := p.post("/account/password", form).is(http.StatusUnprocessableEntity); again.doc.Find("#revoke_tokens[checked]").Length() != 1 || !works() {
		t.Error("the wish is lost, or done though nothing was changed")
	}
	form.Set("current", next)
	form.Set("new", storetest.Password)
	p.post("/account/password", form).redirects("/")
	p.get("/").says(".flash", "your tokens are revoked")
	if works() {
		t.Error("the token still works")
	}
	p.get("/account/password").is(http.StatusOK).saysNot("main", "Revoke")
	w.signedIn(strangerEmail).get("/account/password").is(http.StatusOK).saysNot("main", "Revoke")
}
