package web_test

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

	"countersign/models"
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
func (w *world) usualTab() (t *tab, leave context.CancelFunc) {
	w.tb.Helper()
	ctx, cancel := chromedp.NewContext(browser(w.tb))
	return w.tabIn(ctx, cancel), cancel
}

// allowNotifications answers the question that a browser asks.
func (t *tab) allowNotifications() {
	t.tb.Helper()
	_, err := chromedp.CallBrowser(t.ctx, permissions.SetPermission, permissions.SetPermissionParams{
		Permission: &permissions.PermissionDescriptor{Name: "notifications"}, Setting: permissions.PermissionSettingGranted, Origin: t.w.url,
	})
	if err != nil {
		t.tb.Fatalf("allow notifications: %v", err)
	}
}

// worker finds the service worker of the world, from any tab of the browser.
func (t *tab) worker() serviceworker.RegistrationID {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, browsing)
	defer cancel()
	found := make(chan serviceworker.RegistrationID, 1)
	updates := chromedp.Events(ctx, serviceworker.WorkerRegistrationUpdated)
	go func() {
		for e, err := range updates {
			if err != nil {
				return
			}
			for _, r := range e.Registrations {
				if strings.HasPrefix(r.ScopeURL, t.w.url) {
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
	_, err := chromedp.Call(t.ctx, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: t.w.url, RegistrationID: worker, Data: message})
	if err != nil {
		t.tb.Fatalf("deliver: %v", err)
	}
}

// notified is what the browser shows, as JSON, once it shows n messages.
const notified = `(async (n) => {
  const worker = await navigator.serviceWorker.getRegistration();
  for (let all = []; window.notified === undefined; all = await worker.getNotifications()) {
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
// Neither the service of a browser's maker nor a click on a notification is tried here.
func TestInABrowserAPushShowsOnlyWhatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, me := w.sink(), newSubscriber(t)
	w.allowSink(s)
	p, leave := w.usualTab()
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

	other, _ := w.usualTab()
	worker := other.worker()
	leave() // no page is open
	w.clock.Step(2 * time.Minute)
	a := w.ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "https://x.example @everyone", []byte(`{"command":"hidden-input"}`), "hidden-description"
	})
	w.sendsDue()
	message := me.read(t, s.last(t))
	if strings.Contains(message, "hidden") {
		t.Errorf("the message has %s", message)
	}
	other.delivers(worker, message)

	other.open("/offline")
	at := w.url + "/approvals/" + string(a.ID)
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
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.DecidedBy == nil {
		t.Errorf("it is %s", got.Status())
	}

	// What is no message of ours shows nothing of it, and leads nowhere else.
	other.delivers(worker, "not JSON")
	other.open("/offline")
	if got := other.notified(2); !strings.Contains(got, `["Countersign","","",""]`) {
		t.Errorf("it shows %s", got)
	}
}
