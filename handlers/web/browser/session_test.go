package browser_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// expire ends all sessions of somebody, who may sign in again.
func expire(w *webtest.World, who models.Actor) {
	w.TB.Helper()
	if err := w.Store.People.SetPassword(w.TB.Context(), storetest.Operator(), who.UserID(), storetest.Password); err != nil {
		w.TB.Fatal(err)
	}
}

// signInAgain is for the dialog of a page whose session has expired.
func (t *tab) signInAgain(email string) {
	t.tb.Helper()
	t.becomes(`document.getElementById("session").open`)
	t.becomes(`document.getElementById("live-dot").dataset.state === "off"`)
	t.sees("#live-text", "signed out")
	t.sees("#session", "Sign in – your text is kept")
	t.value(`document.getElementById("session-email").value = "` + email + `"`)
	t.fill("#session-password", storetest.Password)
	t.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
}

// quiet keeps the page from asking for anything by itself until the person has found
// out that the session is over: the dialog would open before they have sent what they
// are about to send, which lies behind it then.
func (t *tab) quiet() {
	t.tb.Helper()
	t.becomes(`document.readyState === "complete"`)
	t.value(`window.found = false, document.addEventListener("countersign:expired", () => { found = true; }),
		document.addEventListener("htmx:before:request", (event) => { if (!found && event.detail.ctx.request.method === "GET") event.preventDefault(); }),
		document.getElementById("live").remove()`)
	t.becomes(`!document.querySelector(".htmx-request")`)
}

func TestInABrowserAnExpiredSessionGoesOnInPlace(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.expected = append(p.expected, "401")
	p.value(`window.same = "page"`)
	p.quiet()
	p.fill("#reason", "half a thought")
	expire(w, w.Owner)
	p.calm()
	p.click("#reject")
	p.becomes(`document.getElementById("session").open`)

	// A wrong password is said in the dialog, and keys decide nothing behind it.
	p.fill("#session-password", "not the password")
	p.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
	p.becomes(`document.querySelector("[data-session-error]").textContent !== ""`)
	p.value(`document.activeElement.blur()`)
	p.press("a", "r")
	w.Waits(asked...)

	p.fill("#session-password", storetest.Password)
	p.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
	got := w.Decided(asked[0].ID)
	if got.Status() != models.StatusRejected || got.Vote.Reason != "half a thought" || got.Vote.UserID != w.Owner.UserID() {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
	p.shownBeside(asked[1].ID)
	if p.value(`window.same`) != "page" || p.value(`document.getElementById("session").open`) != "false" {
		t.Error("the page was loaded again, or still asks")
	}
}

func TestInABrowserSomebodyElseGetsAPageOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(1)
	p := openDesk(w, asked[0].ID)
	p.expected = append(p.expected, "401", "409")
	p.fill("#reason", "my secret thought")
	expire(w, w.Owner)
	p.value(`window.same = "page"`)
	p.signInAgain("admin@example.com")
	p.becomes(`window.same === undefined && document.readyState === "complete"`)
	p.sees("header", "admin@example.com")
	p.shownBeside(asked[0].ID)
	w.Waits(asked...)
	if got := p.value(`document.documentElement.outerHTML.includes("secret thought") || [...document.querySelectorAll("textarea")].some((t) => t.value.includes("secret")) || JSON.stringify(sessionStorage).includes("secret")`); got != "false" {
		t.Error("what one person typed is shown to another")
	}

	// Signed in as somebody else in a tab beside: the first page decides nothing.
	beside := p.beside()
	beside.expected, p.expected = append(beside.expected, "401"), append(p.expected, "401")
	beside.signInAs(webtest.OwnerEmail)
	p.value(`window.same = "page", document.getElementById("session").open && document.getElementById("session").close(), document.querySelector("#approve")?.click()`)
	p.becomes(`window.same === undefined && document.readyState === "complete" && document.querySelector("header").innerText.includes("` + webtest.OwnerEmail[:5] + `")`)
	w.Waits(asked...)
}

// Signed out in one tab, no other tab of the browser shows anything more.
func TestInABrowserSigningOutBlanksTheOtherTabs(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Pays()
	p := openDesk(w, a.ID)
	others := map[string]string{"/": "#detail", webtest.PageOf(a): "main", webtest.ConversationPath(a.ConversationID): "main", "/account/notifications": "main"}
	var tabs []*tab
	for path, shows := range others {
		other := p.beside()
		other.expected = append(other.expected, "401")
		other.open(path)
		other.becomes(`document.readyState === "complete" && document.querySelector("` + shows + `").innerText.length > 20`)
		tabs = append(tabs, other)
	}
	p.expected = append(p.expected, "401")
	p.value(`document.querySelector("form[action='/signout']").requestSubmit()`)
	p.sees("main h1", "Sign in")
	for _, other := range tabs {
		other.sees("main h1", "You signed out")
		if got := other.value(`document.body.innerText + document.documentElement.innerHTML`); strings.Contains(got, "ACME") || strings.Contains(got, webtest.OwnerEmail) {
			t.Errorf("it still shows %s", got)
		}
		other.becomes(`document.activeElement.matches("a[href='/signin']")`)
	}
}

// Where a session ended otherwise, what is behind the question to sign in can't be read.
func TestInABrowserNothingIsReadBehindTheSignIn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openDesk(w, w.Pays().ID)
	p.expected = append(p.expected, "401")
	expire(w, w.Owner)
	p.becomes(`document.getElementById("session").open`)
	p.becomes(`/^(rgb|oklch|color)\([^/]*\)$/.test(getComputedStyle(document.getElementById("session"), "::backdrop").backgroundColor)`)
}

func TestInABrowserWhatIsTypedOutlivesTheSession(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Asks(1)[0]
	admin := func() *tab {
		p := openTab(w)
		p.do("size", chromedp.EmulateViewport(1440, 900))
		p.expected = append(p.expected, "401")
		p.open("/")
		p.fill("#email", "admin@example.com")
		p.fill("#password", storetest.Password)
		p.click("#sign-in")
		p.sees("main h1", "Inbox")
		return p
	}
	conversation := "/conversations/" + string(a.ConversationID)
	for _, c := range []struct{ name, path, field, text, send, says string }{
		{"composer", conversation, "#content", "what I wanted to say", "#send", "what I wanted to say"},
		{"policy", "/policy/settings", "#required_approval_tools", "deploy_everything", "#review", "deploy_everything"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// In place, by the dialog.
			p := admin()
			p.open(c.path)
			p.do("type", chromedp.WaitVisible(chromedp.CSS(c.field)))
			p.quiet()
			p.value(fmt.Sprintf(`document.querySelector(%q).value = %q`, c.field, c.text))
			expire(w, w.Admin)
			p.click(c.send)
			p.becomes(`document.getElementById("session").open`)
			p.fill("#session-password", storetest.Password)
			p.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
			p.becomes(fmt.Sprintf(`document.querySelector(%q)?.value !== %q && document.querySelector("main")?.innerText.includes(%q) === true`, c.field, c.text, c.says))

			// By way of the sign-in page, as when a link is followed.
			q := admin()
			q.open(c.path)
			q.do("type", chromedp.WaitVisible(chromedp.CSS(c.field)))
			q.quiet()
			q.value(fmt.Sprintf(`document.querySelector(%q).value = "another " + %q`, c.field, c.text))
			expire(w, w.Admin)
			q.open("/audit")
			q.sees("main h1", "Sign in")
			q.fill("#email", "admin@example.com")
			q.fill("#password", storetest.Password)
			q.click("#sign-in")
			q.sees("main h1", "udit")
			q.open(c.path)
			q.becomes(fmt.Sprintf(`document.querySelector(%q)?.value === "another " + %q`, c.field, c.text))

			// Signing out forgets it.
			q.value(`document.querySelector("form[action='/signout']").requestSubmit()`)
			q.sees("main h1", "Sign in")
			if got := q.value(`sessionStorage.getItem("countersign:drafts")`); got != "null" {
				t.Errorf("after signing out there is %s", got)
			}
		})
	}
}

func TestWithoutScriptTheSignInPageGivesTheTextBack(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p := w.SignIn(webtest.OwnerEmail)
	expire(w, w.Owner)
	got := p.Post("/approvals/"+string(a.ID)+"/decide", url.Values{"verdict": {"reject"}, "reason": {"a long <b>thought</b>"}, "digest": {a.Digest}})
	got.Is(http.StatusUnauthorized).Says("main", "nothing was sent", "a long <b>thought</b>")
	if got.Value("input[name=next]") != "" && !strings.HasPrefix(got.Value("input[name=next]"), "/") {
		t.Errorf("it leads to %q", got.Value("input[name=next]"))
	}
	w.Waits(a)

	// It is carried through signing in, also through a wrong password, and sent when the person says so.
	again := got.Form("form[action='/signin']", "")
	again.Set("email", webtest.OwnerEmail)
	again.Set("password", "not the password")
	again = p.Post("/signin", again).Is(http.StatusUnprocessableEntity).Form("form[action='/signin']", "")
	again.Set("password", storetest.Password)
	unsent := p.Post("/signin", again).Is(http.StatusOK).Says("main", "Not sent yet", "a long <b>thought</b>")
	w.Waits(a)
	p.Post("/approvals/"+string(a.ID)+"/decide", unsent.Form("form.kept", "")).Is(http.StatusSeeOther)
	if stands := w.Approval(a.ID); stands.Status() != models.StatusRejected || stands.Feedback() != "a long <b>thought</b>" {
		t.Errorf("it is %s: %s", stands.Status(), stands.Feedback())
	}

	// It leads nowhere else, and carries no password.
	for _, action := range []string{"//evil.example/x", "https://evil.example/", "evil", ""} {
		again.Set("unsent_action", action)
		w.Visitor().Post("/signin", again).Redirects("/")
	}
	expire(w, w.Owner)
	p.Post("/account/password", url.Values{"current": {"secret"}, "new": {"secret too"}}).Redirects("/signin")
}

func TestSigningInFromADialogIsGuardedAsTheSignInPageIs(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.Visitor()
	for range 5 {
		p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, "not the password"), webtest.JSON).Is(http.StatusUnauthorized)
	}
	if got := p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), webtest.JSON).Is(http.StatusTooManyRequests); got.Header.Get("Retry-After") == "" {
		t.Error("it does not say how long to wait")
	}
	w.Visitor().Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password), webtest.JSON, webtest.Header{"Sec-Fetch-Site", "cross-site"}).Is(http.StatusForbidden)
}

// frozen is the way to a server that can stop answering without hanging up, as
// when a cable is pulled.
type frozen struct {
	url string
	mu  sync.RWMutex // held while nothing goes through
}

func freeze(w *webtest.World) *frozen {
	w.TB.Helper()
	l, err := (&net.ListenConfig{}).Listen(w.TB.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.TB.Fatal(err)
	}
	f := &frozen{url: "http://" + l.Addr().String()}
	carry := func(to, from net.Conn) {
		defer to.Close()
		for buf := make([]byte, 32<<10); ; {
			n, err := from.Read(buf)
			f.mu.RLock()
			_, failed := to.Write(buf[:n])
			f.mu.RUnlock()
			if err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			there, err := (&net.Dialer{}).DialContext(w.TB.Context(), "tcp", strings.TrimPrefix(w.URL, "http://"))
			if err != nil {
				here.Close()
				return
			}
			go carry(there, here)
			go carry(here, there)
		}
	}()
	w.TB.Cleanup(func() { l.Close() })
	return f
}

func TestInABrowserAServerThatFallsSilentIsSeen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	way := freeze(w)
	p := openTab(w)
	p.expected = append(p.expected, "ERR_", "Failed to fetch", "htmx:")
	p.do("open", chromedp.Navigate(way.url+"/"))
	p.fill("#email", webtest.OwnerEmail)
	p.fill("#password", storetest.Password)
	p.click("#sign-in")
	p.sees("#live-text", "live")
	way.mu.Lock()
	p.sees("#live-text", "offline since")
	way.mu.Unlock()
	p.sees("#live-text", "live")
}

func TestInABrowserAMachineWithoutNetworkIsSeen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openDesk(w, w.Asks(1)[0].ID)
	network := func(off bool) {
		p.do("network", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
			return err
		}))
	}
	network(true)
	p.sees("#live-text", "offline since")
	network(false)
	p.sees("#live-text", "live")
}
