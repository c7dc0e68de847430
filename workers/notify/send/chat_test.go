package send_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"countersign/models"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// A topic gets its message by ntfy's publishing as JSON: at the server, with the token.
func TestNtfy(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	r := sender(t, s).Send(t.Context(), models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/push/my-topic", Token: "tk_secret"}, notice())
	if r.Class != models.SendSent || r.Status != 200 {
		t.Fatalf("%+v", r)
	}
	got := s.only(t)
	if got.method != http.MethodPost || got.path != "/push/" || got.header.Get("Authorization") != "Bearer tk_secret" {
		t.Errorf("%s %s %v", got.method, got.path, got.header)
	}
	for name := range got.header { // ntfy reads headers too: Markdown, Actions, Attach, Email …
		switch name {
		case "Authorization", "Connection", "Content-Type", "Content-Length", "User-Agent":
		default:
			t.Errorf("header %s", name)
		}
	}
	var body struct {
		Topic, Title, Message, Click string
		Priority                     int
	}
	if err := json.Unmarshal(got.body, &body, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if body.Topic != "my-topic" || body.Priority != 4 || body.Click != notice().URL || body.Title != "High-risk request from deploy-bot: shell_exec" || !strings.HasPrefix(body.Message, "A request needs a decision.\n\nAgent: deploy-bot\n") {
		t.Errorf("%+v", body)
	}
}

// What is no topic is not asked.
func TestNtfyTopics(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	for _, path := range []string{"", "/", "//", "/a b", "/" + strings.Repeat("a", 65), "/a?auth=b", "/a#b", "/a%0ab"} {
		if r := sender(t, s).Send(t.Context(), models.ChannelNtfy, models.ChannelTarget{URL: s.URL + path}, notice()); r.Class == models.SendSent {
			t.Errorf("%q was sent to", path)
		}
	}
	if r := sender(t, s).Send(t.Context(), models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/a", Token: "a\r\nX-Email: eve@x.example"}, notice()); r.Class != models.SendRejected {
		t.Errorf("a token with a line break: %+v", r)
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests", len(s.requests))
	}
	if r := sender(t, s).Send(t.Context(), models.ChannelNtfy, models.ChannelTarget{URL: s.URL + "/a/"}, notice()); r.Class != models.SendSent || s.only(t).path != "/" {
		t.Errorf("with a slash at its end: %+v", r)
	}
}

func TestSlack(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	s.answer = "ok"
	r := sender(t, s).Send(t.Context(), models.ChannelSlack, models.ChannelTarget{URL: s.URL + "/services/T/B/secret"}, notice())
	if r.Class != models.SendSent || string(r.Body) != "ok" {
		t.Fatalf("%+v", r)
	}
	got := s.only(t)
	if got.path != "/services/T/B/secret" || !jsontext.Value(got.body).IsValid() || !strings.Contains(string(got.body), "deploy-bot") {
		t.Errorf("%s %s", got.path, got.body)
	}
}

// A receiver with the official library accepts the message, and each attempt has the same id.
func TestWebhookIsSigned(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	out := outward.New(outward.Options{Hosts: allow(s.Listener.Addr().String()), Roots: roots(s.Server)})
	sender, err := send.New(send.Options{Out: out, Now: time.Now}) // the library compares with the machine's clock
	if err != nil {
		t.Fatal(err)
	}
	to := models.ChannelTarget{URL: s.URL + "/hook?x=y", Token: secret}
	for range 2 {
		if r := sender.Send(t.Context(), models.ChannelWebhook, to, notice()); r.Class != models.SendSent {
			t.Fatalf("%+v", r)
		}
	}
	official, err := webhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range s.requests {
		if err := official.Verify(got.body, got.header); err != nil {
			t.Error(err)
		}
		if id := got.header.Get("webhook-id"); id != notice().ID || got.path != "/hook?x=y" {
			t.Errorf("id %s, %s", id, got.path)
		}
		if err := official.Verify(append(got.body, ' '), got.header); err == nil {
			t.Error("another body is accepted")
		}
		if strings.Contains(string(got.body), "whsec") {
			t.Error("the secret is in the body")
		}
	}
}

// Without a secret nothing goes out unsigned.
func TestWebhookWithoutSecret(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	for _, token := range []string{"", "whsec_", "whsec_%%%", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if r := sender(t, s).Send(t.Context(), models.ChannelWebhook, models.ChannelTarget{URL: s.URL, Token: token}, notice()); r.Class != models.SendNotConfigured {
			t.Errorf("%q: %+v", token, r)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests", len(s.requests))
	}
}

// What a service's status means.
func TestClasses(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	sender := sender(t, s)
	for status, want := range map[int]models.SendClass{
		200: models.SendSent, 204: models.SendSent, 302: models.SendRedirect, 400: models.SendRejected, 404: models.SendRejected,
		410: models.SendRejected, 413: models.SendRejected, 429: models.SendUnavailable, 500: models.SendUnavailable, 503: models.SendUnavailable,
	} {
		s.status = status
		if r := sender.Send(t.Context(), models.ChannelSlack, models.ChannelTarget{URL: s.URL}, notice()); r.Class != want || r.Status != status {
			t.Errorf("%d: %+v, want %s", status, r, want)
		}
	}
}

// A host that no admin allowed is not asked, whatever the kind; why is said in words.
func TestHostsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	out := outward.New(outward.Options{Hosts: allow("other.example"), Roots: roots(s.Server)})
	sender, err := send.New(send.Options{Out: out, Now: noon, Push: send.NewPushKeys(send.NewPushKey), Name: "https://sign.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	to, _ := newBrowser(t, s.URL+"/topic")
	to.Token = secret
	for _, kind := range []models.ChannelKind{models.ChannelNtfy, models.ChannelSlack, models.ChannelWebhook, models.ChannelWebPush} {
		if r := sender.Send(t.Context(), kind, to, notice()); r.Class != models.SendRefusedHost || !strings.Contains(string(r.Body), "list of allowed hosts") {
			t.Errorf("%s: %+v %s", kind, r, r.Body)
		}
	}
	if r := sender.Send(t.Context(), models.ChannelEmail, models.ChannelTarget{Address: "ann@example.com"}, notice()); r.Class != models.SendNotConfigured || sender.Can(models.ChannelEmail) {
		t.Errorf("e-mail without a server: %+v", r)
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests", len(s.requests))
	}
}
