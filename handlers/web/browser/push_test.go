package browser_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	permissions "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// subscriber is the browser's end of a subscription. Its keys are real; its address is that of
// a service on this computer, in place of the maker's of the browser.
type subscriber struct {
	key  *ecdh.PrivateKey
	auth []byte
}

func newSubscriber(tb testing.TB) *subscriber {
	tb.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	s := &subscriber{key, make([]byte, 16)}
	_, _ = rand.Read(s.auth)
	return s
}

// stub has a page subscribe at an address, with the keys of s.
func (s *subscriber) stub(endpoint string) string {
	raw := func(b []byte) string {
		return "Uint8Array.from(atob(" + quoted(base64.StdEncoding.EncodeToString(b)) + "), (c) => c.charCodeAt(0)).buffer"
	}
	return `PushManager.prototype.subscribe = async function (options) {
  if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new Error("not what a browser takes");
  return { endpoint: ` + quoted(endpoint) + `, getKey: (name) => (name === "auth" ? ` + raw(s.auth) + ` : ` + raw(s.key.PublicKey().Bytes()) + `) };
}, 0`
}

// read decrypts a message as a browser does, by RFC 8291 and RFC 8188.
func (s *subscriber) read(tb testing.TB, body string) string {
	tb.Helper()
	sealed := []byte(body)
	salt, server, text := sealed[:16], sealed[21:86], sealed[86:]
	public, err := ecdh.P256().NewPublicKey(server)
	if err != nil {
		tb.Fatal(err)
	}
	shared, err := s.key.ECDH(public)
	if err != nil {
		tb.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			tb.Fatal(err)
		}
		return out
	}
	ikm := derive(shared, s.auth, "WebPush: info\x00"+string(s.key.PublicKey().Bytes())+string(server), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		tb.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), text, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimRight(string(plain), "\x00"), "\x02")
}

// usualTab is a tab of the browser's own profile, where notifications can be allowed.
func usualTab(w *webtest.World) (t *tab, leave context.CancelFunc) {
	w.TB.Helper()
	ctx, cancel := chromedp.NewContext(browser(w.TB))
	return tabIn(ctx, w, cancel), cancel
}

// allowNotifications answers the question that a browser asks.
func (t *tab) allowNotifications() {
	t.tb.Helper()
	_, err := chromedp.CallBrowser(t.ctx, permissions.SetPermission, permissions.SetPermissionParams{
		Permission: &permissions.PermissionDescriptor{Name: "notifications"}, Setting: permissions.PermissionSettingGranted, Origin: t.w.URL,
	})
	if err != nil {
		t.tb.Fatalf("allow notifications: %v", err)
	}
}

// worker finds the service worker of the world, from any tab of the browser.
func (t *tab) worker() serviceworker.RegistrationID {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, webtest.Browsing)
	defer cancel()
	found := make(chan serviceworker.RegistrationID, 1)
	updates := chromedp.Events(ctx, serviceworker.WorkerRegistrationUpdated)
	go func() {
		for e, err := range updates {
			if err != nil {
				return
			}
			for _, r := range e.Registrations {
				if strings.HasPrefix(r.ScopeURL, t.w.URL) {
					found <- r.RegistrationID
					return
				}
			}
		}
	}()
	if _, err := chromedp.Call(ctx, serviceworker.Enable, struct{}{}); err != nil {
		t.tb.Fatalf("look for workers: %v", err)
	}
	select {
	case id := <-found:
		return id
	case <-ctx.Done():
		t.tb.Fatal("there is no service worker")
		return ""
	}
}

// delivers hands a message to the service worker, as the browser does with one of its maker's
// service.
func (t *tab) delivers(worker serviceworker.RegistrationID, message string) {
	t.tb.Helper()
	_, err := chromedp.Call(t.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: t.w.URL, RegistrationID: worker, Data: message})
	if err != nil {
		t.tb.Fatalf("deliver: %v", err)
	}
}

// notified is what the browser shows, as JSON, once it shows n messages.
const notified = `(async (n) => {
  const worker = await navigator.serviceWorker.getRegistration();
  for (let all = []; window.notified === undefined; all = await worker.getNotifications()) {
    await new Promise((next) => { setTimeout(next, 50); }); // the browser has to show them too
    if (all.length === n) window.notified = JSON.stringify(all.map((one) => [one.title, one.body, one.tag, one.data.url]));
  }
})`

func (t *tab) notified(n int) string {
	t.tb.Helper()
	t.value(fmt.Sprintf(`window.notified = undefined, %s(%d), 0`, notified, n))
	t.becomes(`window.notified !== undefined`)
	return t.value(`window.notified`)
}

// A browser turns notifications on and all its pages are closed; what the server sends shows
// exactly what may be shown, and its address leads to the request, where it is approved.
//
// What this does not show: that the service of a browser's maker takes and delivers the
// message (subscribe is replaced, and the message goes into the browser by its debugging
// interface), that the operating system draws it, and a person's click on it.
func TestInABrowserAPushShowsOnlyWhatIsAllowed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s, me := w.Sink(), newSubscriber(t)
	w.AllowSink(s)
	p, leave := usualTab(w)
	p.allowNotifications()
	p.signIn()
	p.open("/account/notifications")
	if p.value(`Notification.permission`) != "granted" {
		t.Skip("this Chromium shows no notifications, as the headless shell: set CHROMIUM to a whole one")
	}
	p.value(`navigator.serviceWorker.ready.then(() => { window.ready = true; }), 0`)
	p.becomes(`window.ready === true`)
	p.value(me.stub(s.URL + "/push/address"))
	p.click("#add-web_push summary")
	p.click("#push-on")
	p.sees(".flash", "This browser gets notifications from now on")
	p.sees("#channels tbody", "127.0.0.1")

	other, _ := usualTab(w)
	worker := other.worker()
	leave() // no page is open
	w.Clock.Step(2 * time.Minute)
	a := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "https://x.example @everyone", []byte(`{"command":"hidden-input"}`), "hidden-description"
	})
	w.SendsDue()
	message := me.read(t, s.Last(t))
	if strings.Contains(message, "hidden") {
		t.Errorf("the message has %s", message)
	}
	other.delivers(worker, message)

	other.open("/offline")
	at := w.URL + "/approvals/" + string(a.ID)
	title := "Medium-risk request from deployer: https://x.example @everyone"
	body := "A request needs a decision.\n\nAgent: deployer\nTool: https://x.example @everyone\nRisk: medium\nExpires: in 5 minutes (2026-03-02 12:07 UTC)\nWho may decide: owner@example.com"
	type line [4]string
	want := []line{{title, body, string(a.ID), at}}
	var shown []line
	if err := stdjson.Unmarshal([]byte(other.notified(1)), &shown); err != nil || !slices.Equal(shown, want) {
		t.Errorf("it shows %q (%v)\nwant     %q", shown, err, want)
	}
	other.do("open its page", chromedp.Navigate(at))
	other.sees("main", "hidden-input")
	other.click("#approval button[value=approve]")
	other.sees("main", "approved by owner@example.com")
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.DecidedBy == nil {
		t.Errorf("it is %s", got.Status())
	}

	// What is no message of ours shows nothing of it.
	other.delivers(worker, "not JSON")
	other.open("/offline")
	if got := other.notified(2); !strings.Contains(got, `["Countersign","","",""]`) {
		t.Errorf("it shows %s", got)
	}

	other.clicksLeadToOurPages()

	// Signing out gives the browser's address up, and the server forgets it.
	other.open("/account/notifications")
	other.value(`PushManager.prototype.getSubscription = async () => ({ unsubscribe: async () => { localStorage.setItem("given-up", "yes"); return true; } }), 0`)
	other.value(`document.querySelector("form[action='/signout']").requestSubmit(), 0`)
	other.becomes(`localStorage.getItem("given-up") === "yes" && document.querySelector("#sign-in") !== null`)
	if n := storetest.Scalar[int](t, w.Store, `SELECT count(*) FROM channels WHERE kind = 'web_push' AND removed_at IS NULL`); n != 0 {
		t.Errorf("the server keeps %d addresses of browsers", n)
	}
	s.Mu.Lock()
	before := len(s.Bodies)
	s.Mu.Unlock()
	w.Clock.Step(2 * time.Minute)
	w.Ask()
	w.SendsDue()
	if after := len(s.Bodies); after != before {
		t.Errorf("%d messages after signing out", after-before)
	}
}

// clicks has the service worker take a click on a notification with this data, and returns
// where it leads: each window opened, and each one brought to the front. A click of a person
// can't be made from outside the browser, and without one no window opens: what opens and
// focuses windows is replaced.
func (t *tab) clicks(data string) string {
	t.tb.Helper()
	targets, err := chromedp.Targets(t.ctx)
	if err != nil {
		t.tb.Fatal(err)
	}
	for _, one := range targets {
		if one.Type != "service_worker" || !strings.HasPrefix(one.URL, t.w.URL) {
			continue
		}
		ctx, leave := chromedp.NewContext(t.ctx, chromedp.WithTargetID(one.TargetID), chromedp.WithDetachOnCancel())
		defer leave()
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(async () => {
  const led = [];
  Clients.prototype.openWindow = async (url) => { led.push("open " + url); return null; };
  WindowClient.prototype.focus = async function () { led.push("focus " + this.url); return this; };
  await self.registration.showNotification("clicked", { tag: "clicked", data: `+data+` });
  const [notification] = await self.registration.getNotifications({ tag: "clicked" });
  const event = new NotificationEvent("notificationclick", { notification });
  const waits = [];
  event.waitUntil = (promise) => waits.push(promise);
  self.dispatchEvent(event);
  await Promise.all(waits);
  const left = await self.registration.getNotifications({ tag: "clicked" });
  return [...led, left.length + " left"].join(", ");
})()`, chromedp.EvalAwaitPromise))
		if err != nil {
			t.tb.Fatalf("click: %v", err)
		}
		return got
	}
	t.tb.Fatal("there is no service worker")
	return ""
}

// clicksLeadToOurPages tells that a click on a notification opens its page, or brings it to
// the front, and leads nowhere else, whatever the message says. It decides nothing.
func (t *tab) clicksLeadToOurPages() {
	t.tb.Helper()
	w := t.w
	a := w.Ask()
	home, at := w.URL+"/", w.URL+"/approvals/"+string(a.ID)
	t.open("/offline")
	for data, want := range map[string]string{
		`{ url: ` + quoted(at) + ` }`:                                    "open " + at,
		`{ url: "https://evil.example/approvals/1" }`:                    "open " + home,
		`{ url: "//evil.example/" }`:                                     "open " + home,
		`{ url: "javascript:alert(1)" }`:                                 "open " + home,
		`{ url: "data:text/html,x" }`:                                    "open " + home,
		`{ url: "file:///etc/passwd" }`:                                  "open " + home,
		`{ url: ` + quoted("blob:"+w.URL+"/x") + ` }`:                    "open " + home,
		`{ url: ` + quoted(strings.Replace(at, "://", "://x@", 1)) + `}`: "open " + strings.Replace(at, "://", "://x@", 1),
		`{ url: ` + quoted(w.URL+".evil.example/") + ` }`:                "open " + home,
		`{ url: "" }`: "open " + home,
		`null`:        "open " + home,
	} {
		got := t.clicks(data)
		if got = strings.Replace(got, "open /,", "open "+home+",", 1); got != want+", 0 left" {
			t.tb.Errorf("%s: %s, want %s", data, got, want)
		}
	}
	t.open("/approvals/" + string(a.ID))
	if got := t.clicks(`{ url: ` + quoted(at) + ` }`); got != "focus "+at+", 0 left" {
		t.tb.Errorf("with its page open: %s", got)
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.tb.Errorf("a click decided it: %s", got.Status())
	}
}
