package web_test

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

	"countersign/models"
	"countersign/models/storetest"
)

// expire ends all sessions of somebody, who may sign in again.
func (w *world) expire(who models.Actor) {
	w.tb.Helper()
	if err := w.store.People.SetPassword(w.tb.Context(), storetest.Operator(), who.UserID(), storetest.Password); err != nil {
		w.tb.Fatal(err)
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
	w := newWorld(t)
	asked := w.asks(2)
	p := w.desk(asked[0].ID)
	p.expected = append(p.expected, "401")
	p.value(`window.same = "page"`)
	p.quiet()
	p.fill("#reason", "half a thought")
	w.expire(w.owner)
	p.calm()
	p.click("#reject")
	p.becomes(`document.getElementById("session").open`)

	// A wrong password is said in the dialog, and keys decide nothing behind it.
	p.fill("#session-password", "not the password")
	p.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
	p.becomes(`document.querySelector("[data-session-error]").textContent !== ""`)
	p.value(`document.activeElement.blur()`)
	p.press("a", "r")
	w.waits(asked...)

	p.fill("#session-password", storetest.Password)
	p.do("sign in", chromedp.Click(chromedp.CSS("#session-sign-in")))
	got := w.decided(asked[0].ID)
	if got.Status() != models.StatusRejected || got.Vote.Reason != "half a thought" || got.Vote.UserID != w.owner.UserID() {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
	p.shownBeside(asked[1].ID)
	if p.value(`window.same`) != "page" || p.value(`document.getElementById("session").open`) != "false" {
		t.Error("the page was loaded again, or still asks")
	}
}

func TestInABrowserSomebodyElseGetsAPageOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.asks(1)
	p := w.desk(asked[0].ID)
	p.expected = append(p.expected, "401", "409")
	p.fill("#reason", "my secret thought")
	w.expire(w.owner)
	p.value(`window.same = "page"`)
	p.signInAgain("admin@example.com")
	p.becomes(`window.same === undefined && document.readyState === "complete"`)
	p.sees("header", "admin@example.com")
	p.shownBeside(asked[0].ID)
	w.waits(asked...)
	if got := p.value(`document.documentElement.outerHTML.includes("secret thought") || [...document.querySelectorAll("textarea")].some((t) => t.value.includes("secret")) || JSON.stringify(sessionStorage).includes("secret")`); got != "false" {
		t.Error("what one person typed is shown to another")
	}

	// Signed in as somebody else in a tab beside: the first page decides nothing.
	beside := p.beside()
	beside.expected, p.expected = append(beside.expected, "401"), append(p.expected, "401")
	beside.signInAs(ownerEmail)
	p.value(`window.same = "page", document.getElementById("session").open && document.getElementById("session").close(), document.querySelector("#approve")?.click()`)
	p.becomes(`window.same === undefined && document.readyState === "complete" && document.querySelector("header").innerText.includes("` + ownerEmail[:5] + `")`)
	w.waits(asked...)
}

// Signed out in one tab, no other tab of the browser shows anything more.
func TestInABrowserSigningOutBlanksTheOtherTabs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.pays()
	p := w.desk(a.ID)
	others := map[string]string{"/": "#detail", pageOf(a): "main", conversationPath(a.ConversationID): "main", "/account/notifications": "main"}
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
		if got := other.value(`document.body.innerText + document.documentElement.innerHTML`); strings.Contains(got, "ACME") || strings.Contains(got, ownerEmail) {
			t.Errorf("it still shows %s", got)
		}
		other.becomes(`document.activeElement.matches("a[href='/signin']")`)
	}
}

// Where a session ended otherwise, what is behind the question to sign in can't be read.
func TestInABrowserNothingIsReadBehindTheSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.desk(w.pays().ID)
	p.expected = append(p.expected, "401")
	w.expire(w.owner)
	p.becomes(`document.getElementById("session").open`)
	p.becomes(`/^(rgb|oklch|color)\([^/]*\)$/.test(getComputedStyle(document.getElementById("session"), "::backdrop").backgroundColor)`)
}

func TestInABrowserWhatIsTypedOutlivesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.asks(1)[0]
	admin := func() *tab {
		p := w.tab()
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
		{"policy", "/policy", "#required_approval_tools", "deploy_everything", "#review", "deploy_everything"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// In place, by the dialog.
			p := admin()
			p.open(c.path)
			p.do("type", chromedp.WaitVisible(chromedp.CSS(c.field)))
			p.quiet()
			p.value(fmt.Sprintf(`document.querySelector(%q).value = %q`, c.field, c.text))
			w.expire(w.admin)
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
			w.expire(w.admin)
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
	w := newWorld(t)
	a := w.ask()
	p := w.signedIn(ownerEmail)
	w.expire(w.owner)
	got := p.post("/approvals/"+string(a.ID)+"/decide", url.Values{"verdict": {"reject"}, "reason": {"a long <b>thought</b>"}, "digest": {a.Digest}})
	got.is(http.StatusUnauthorized).says("main", "nothing was sent", "a long <b>thought</b>")
	if got.value("input[name=next]") != "" && !strings.HasPrefix(got.value("input[name=next]"), "/") {
		t.Errorf("it leads to %q", got.value("input[name=next]"))
	}
	w.waits(a)

	// It is carried through signing in, also through a wrong password, and sent when the person says so.
	again := got.form("form[action='/signin']", "")
	again.Set("email", ownerEmail)
	again.Set("password", "not the password")
	again = p.post("/signin", again).is(http.StatusUnprocessableEntity).form("form[action='/signin']", "")
	again.Set("password", storetest.Password)
	unsent := p.post("/signin", again).is(http.StatusOK).says("main", "Not sent yet", "a long <b>thought</b>")
	w.waits(a)
	p.post("/approvals/"+string(a.ID)+"/decide", unsent.form("form.kept", "")).is(http.StatusSeeOther)
	if stands := w.stands(a.ID); stands.Status() != models.StatusRejected || stands.Feedback() != "a long <b>thought</b>" {
		t.Errorf("it is %s: %s", stands.Status(), stands.Feedback())
	}

	// It leads nowhere else, and carries no password.
	for _, action := range []string{"//evil.example/x", "https://evil.example/", "evil", ""} {
		again.Set("unsent_action", action)
		w.visitor().post("/signin", again).redirects("/")
	}
	w.expire(w.owner)
	p.post("/account/password", url.Values{"current": {"secret"}, "new": {"secret too"}}).redirects("/signin")
}

func TestSigningInFromADialogIsGuardedAsTheSignInPageIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.visitor()
	for range 5 {
		p.post("/signin", credentials(ownerEmail, "not the password"), json).is(http.StatusUnauthorized)
	}
	if got := p.post("/signin", credentials(ownerEmail, storetest.Password), json).is(http.StatusTooManyRequests); got.header.Get("Retry-After") == "" {
		t.Error("it does not say how long to wait")
	}
	w.visitor().post("/signin", credentials(ownerEmail, storetest.Password), json, header{"Sec-Fetch-Site", "cross-site"}).is(http.StatusForbidden)
}

// frozen is the way to a server that can stop answering without hanging up, as
// when a cable is pulled.
type frozen struct {
	url string
	mu  sync.RWMutex // held while nothing goes through
}

func (w *world) frozen() *frozen {
	w.tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(w.tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.tb.Fatal(err)
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
			there, err := (&net.Dialer{}).DialContext(w.tb.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				here.Close()
				return
			}
			go carry(there, here)
			go carry(here, there)
		}
	}()
	w.tb.Cleanup(func() { l.Close() })
	return f
}

func TestInABrowserAServerThatFallsSilentIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	way := w.frozen()
	p := w.tab()
	p.expected = append(p.expected, "ERR_", "Failed to fetch", "htmx:")
	p.do("open", chromedp.Navigate(way.url+"/"))
	p.fill("#email", ownerEmail)
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
	w := newWorld(t)
	p := w.desk(w.asks(1)[0].ID)
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
