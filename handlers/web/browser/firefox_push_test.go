package browser_test

import (
	"bufio"
	"context"
	"encoding/base64"
	stdjson "encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// A push service for Firefox, on this computer: what its maker's does (autopush), as far as a
// browser with one subscription needs it. The app posts to it as to any service by RFC 8030,
// and the browser holds a WebSocket to it.
type pushService struct {
	tb      testing.TB
	browser *httptest.Server // where the browser connects
	app     *httptest.Server // where the app posts: HTTPS, as every push service

	mu      sync.Mutex
	conn    *websocket.Conn
	channel string
	headers []http.Header

	subscribed, acked chan struct{}
}

type pushMessage struct {
	MessageType  string            `json:"messageType"`
	Status       int               `json:"status,omitempty"`
	UAID         string            `json:"uaid,omitempty"`
	UseWebPush   bool              `json:"use_webpush,omitempty"`
	ChannelID    string            `json:"channelID,omitempty"`
	PushEndpoint string            `json:"pushEndpoint,omitempty"`
	Version      string            `json:"version,omitempty"`
	Data         string            `json:"data,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
}

func newPushService(w *webtest.World) *pushService {
	w.TB.Helper()
	s := &pushService{tb: w.TB, subscribed: make(chan struct{}, 1), acked: make(chan struct{}, 1)}
	s.browser = httptest.NewServer(websocket.Server{
		Handshake: func(c *websocket.Config, _ *http.Request) error {
			c.Protocol = c.Protocol[:min(1, len(c.Protocol))]
			return nil
		},
		Handler: s.speak,
	})
	s.app = httptest.NewTLSServer(http.HandlerFunc(s.receivePost))
	w.TB.Cleanup(s.browser.CloseClientConnections)
	w.TB.Cleanup(s.app.Close)
	w.Roots.AddCert(s.app.Certificate())
	storetest.Must(w.TB, w.Store.People.AllowHost(w.TB.Context(), w.Admin, s.app.Listener.Addr().String()))
	return s
}

// speak is the browser's end of the protocol.
func (s *pushService) speak(c *websocket.Conn) {
	for {
		var raw string
		if err := websocket.Message.Receive(c, &raw); err != nil {
			return
		}
		var m pushMessage
		if err := stdjson.Unmarshal([]byte(raw), &m); err != nil {
			s.tb.Errorf("the browser says %q: %v", raw, err)
			return
		}
		answer := pushMessage{MessageType: m.MessageType, Status: http.StatusOK, ChannelID: m.ChannelID}
		switch m.MessageType {
		case "hello":
			answer.UAID, answer.UseWebPush = strings.Repeat("0123456789abcdef", 2), true
		case "register":
			s.mu.Lock()
			s.conn, s.channel = c, m.ChannelID
			s.mu.Unlock()
			answer.PushEndpoint = s.app.URL + "/wpush/v2/" + m.ChannelID
		case "ack":
			s.acked <- struct{}{}
			continue
		case "", "ping":
			raw = "{}"
		case "unregister":
		default:
			continue
		}
		if m.MessageType != "" && m.MessageType != "ping" {
			out, err := stdjson.Marshal(answer)
			storetest.Must(s.tb, err)
			raw = string(out)
		}
		if err := websocket.Message.Send(c, raw); err != nil {
			return
		}
	}
}

// receivePost passes on what the app posts.
func (s *pushService) receivePost(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.tb.Errorf("read a push: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.headers = append(s.headers, r.Header)
	out, err := stdjson.Marshal(pushMessage{
		MessageType: "notification", ChannelID: s.channel, Version: fmt.Sprint(len(s.headers)),
		Data: base64.RawURLEncoding.EncodeToString(body), Headers: map[string]string{"encoding": r.Header.Get("Content-Encoding")},
	})
	if err == nil {
		err = websocket.Message.Send(s.conn, string(out))
	}
	if err != nil {
		s.tb.Errorf("pass a push on: %v", err)
	}
	rw.WriteHeader(http.StatusCreated)
}

// firefox is a Firefox with a profile of its own, driven by WebDriver BiDi. It needs a screen:
// without one it drops notifications as soon as they are shown.
type firefox struct {
	tb   testing.TB
	conn *websocket.Conn
	n    int
	page string // the browsing context that commands are for
}

func newFirefox(tb testing.TB, program string, push *pushService) *firefox {
	tb.Helper()
	profile := tb.TempDir()
	var prefs strings.Builder
	for name, value := range map[string]any{
		"alerts.useSystemBackend": false, "dom.push.serverURL": strings.Replace(push.browser.URL, "http", "ws", 1) + "/", "dom.push.testing.allowInsecureServerURL": true, "dom.push.connection.enabled": true,
		"permissions.default.desktop-notification": 1, "remote.prefs.recommended": false, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
		"app.update.disabledForTesting": true, "browser.startup.page": 0, "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false,
		"browser.aboutwelcome.enabled": false, "termsofuse.bypassNotification": true, "services.settings.server": "data:,#", "network.proxy.type": 0,
	} {
		raw, err := stdjson.Marshal(value)
		storetest.Must(tb, err)
		fmt.Fprintf(&prefs, "user_pref(%q, %s);\n", name, raw)
	}
	storetest.Must(tb, os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs.String()), 0o600))
	cmd := exec.CommandContext(tb.Context(), program, "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "--remote-allow-origins", "http://localhost", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+profile)
	said, err := cmd.StderrPipe()
	storetest.Must(tb, err)
	storetest.Must(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	listens := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if _, at, found := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); found {
				listens <- at
			}
		}
	}()
	f := &firefox{tb: tb}
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	select {
	case at := <-listens:
		f.conn, err = websocket.Dial(at+"/session", "", "http://localhost")
		storetest.Must(tb, err)
		tb.Cleanup(func() { _ = f.conn.Close() })
	case <-ctx.Done():
		tb.Fatal("the browser listens nowhere")
	}
	f.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.open()
	return f
}

// call sends one command and waits for its answer.
func (f *firefox) call(method string, params, result any) {
	f.tb.Helper()
	f.n++
	storetest.Must(f.tb, websocket.JSON.Send(f.conn, map[string]any{"id": f.n, "method": method, "params": params}))
	storetest.Must(f.tb, f.conn.SetReadDeadline(time.Now().Add(time.Minute)))
	for {
		var got struct {
			ID      int                `json:"id"`
			Type    string             `json:"type"`
			Error   string             `json:"error"`
			Message string             `json:"message"`
			Result  stdjson.RawMessage `json:"result"`
		}
		if err := websocket.JSON.Receive(f.conn, &got); err != nil {
			f.tb.Fatalf("%s: %v", method, err)
		}
		if got.ID != f.n {
			continue
		}
		if got.Type == "error" {
			f.tb.Fatalf("%s: %s: %s", method, got.Error, got.Message)
		}
		if result != nil {
			storetest.Must(f.tb, stdjson.Unmarshal(got.Result, result))
		}
		return
	}
}

// open opens a tab, which commands are for from now on.
func (f *firefox) open() {
	f.tb.Helper()
	var made struct {
		Context string `json:"context"`
	}
	f.call("browsingContext.create", map[string]any{"type": "tab"}, &made)
	f.page = made.Context
}

func (f *firefox) visit(url string) {
	f.tb.Helper()
	f.call("browsingContext.navigate", map[string]any{"context": f.page, "url": url, "wait": "complete"}, nil)
}

// value is what an expression, or its promise, comes to, as a string.
func (f *firefox) value(expression string) string {
	f.tb.Helper()
	var got struct {
		Type   string `json:"type"`
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		ExceptionDetails struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	f.call("script.evaluate", map[string]any{
		"expression": expression, "target": map[string]any{"context": f.page}, "awaitPromise": true, "userActivation": true,
	}, &got)
	if got.Type != "success" {
		f.tb.Fatalf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	return fmt.Sprint(got.Result.Value)
}

// click presses a button with the mouse.
func (f *firefox) click(selector string) {
	f.tb.Helper()
	f.value(`document.querySelector(` + quoted(selector) + `).scrollIntoView({ block: "center" }), ""`)
	var found struct {
		Nodes []struct {
			SharedID string `json:"sharedId"`
		} `json:"nodes"`
	}
	f.call("browsingContext.locateNodes", map[string]any{"context": f.page, "locator": map[string]any{"type": "css", "value": selector}, "maxNodeCount": 1}, &found)
	if len(found.Nodes) == 0 {
		f.tb.Fatalf("there is no %s", selector)
	}
	button := map[string]any{"type": "element", "element": map[string]any{"sharedId": found.Nodes[0].SharedID}}
	f.call("input.performActions", map[string]any{"context": f.page, "actions": []any{map[string]any{
		"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": []any{
			map[string]any{"type": "pointerMove", "x": 0, "y": 0, "origin": button},
			map[string]any{"type": "pointerDown", "button": 0},
			map[string]any{"type": "pointerUp", "button": 0},
		},
	}}}, nil)
}

// until waits for an expression to be true, also over pages that come meanwhile.
func (f *firefox) until(expression string) {
	f.tb.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if f.value(`(async () => { await new Promise((next) => setTimeout(next, 50)); return String(Boolean(await (`+expression+`))); })()`) == "true" {
			return
		}
	}
	f.tb.Fatalf("never %s; the page shows: %s", expression, f.value(`document.body.innerText`))
}

// In Firefox the whole way is real: its own subscription at a push service, the message that
// the app encrypts and signs for it, its own decryption, and the service worker, with no page
// of the app open. It shows exactly what may be shown, and its address leads to the request.
//
// What this does not show: the service of the browser's maker (one on this computer speaks its
// protocol), that the operating system draws the notification, and a person's click on it.
func TestInFirefoxAPushShowsOnlyWhatIsAllowed(t *testing.T) {
	program := os.Getenv("FIREFOX")
	if program == "" {
		t.Skip("FIREFOX names no program: make test-firefox sets it")
	}
	w := webtest.New(t)
	push := newPushService(w)
	f := newFirefox(t, program, push)
	f.visit(w.URL + "/")
	f.value(`document.querySelector("#email").value = ` + quoted(webtest.OwnerEmail) + `, document.querySelector("#password").value = ` + quoted(storetest.Password) + `, document.querySelector("#sign-in").click(), ""`)
	f.until(`document.querySelector("main h1")?.textContent.includes("Inbox")`)
	f.visit(w.URL + "/account/notifications")
	f.value(`navigator.serviceWorker.ready.then(() => "")`)
	f.value(`document.querySelector("#add-web_push summary").click(), document.querySelector("#push-on").click(), ""`)
	f.until(`document.querySelector(".flash")?.textContent.includes("This browser gets notifications")`)
	f.visit("about:blank") // no page of the app is open

	w.Clock.Step(2 * time.Minute)
	a := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "https://x.example @everyone", []byte(`{"command":"hidden-input"}`), "hidden-description"
	})
	w.SendsDue()
	select {
	case <-push.acked:
	case <-time.After(time.Minute):
		t.Fatal("the browser did not take the message")
	}
	if auth := push.headers[0].Get("Authorization"); !strings.HasPrefix(auth, "vapid t=") {
		t.Errorf("it is signed by %q", auth)
	}

	f.visit(w.URL + "/offline")
	const notifications = `navigator.serviceWorker.getRegistration().then((r) => r.getNotifications())`
	f.until(notifications + `.then((all) => all.length > 0)`)
	shown := notifications + `.then((all) => JSON.stringify(all.map((one) => [one.title, one.body, one.tag, one.data.url])))`
	at := w.URL + "/approvals/" + string(a.ID)
	title := "Medium-risk request from deployer: https://x.example @everyone"
	body := "A request needs a decision.\n\nAgent: deployer\nTool: https://x.example @everyone\nRisk: medium\nExpires: in 5 minutes (2026-03-02 12:07 UTC)\nWho may decide: owner@example.com"
	type line [4]string
	var got []line
	if err := stdjson.Unmarshal([]byte(f.value(shown)), &got); err != nil || !slices.Equal(got, []line{{title, body, string(a.ID), at}}) {
		t.Errorf("it shows %q (%v)", got, err)
	}
	f.visit(at)
	f.until(`document.querySelector("main").textContent.includes("hidden-input")`)
	f.until(`document.readyState === "complete" && document.documentElement.dataset.unseen === undefined && performance.now() - Number(document.documentElement.dataset.shifted ?? 0) > 360`)
	f.click("#approval button[value=approve]")
	f.until(`document.querySelector("main").textContent.includes("approved by ` + webtest.OwnerEmail + `")`)
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}
