package send_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

func allow(hosts ...string) func(context.Context) (outward.List, error) {
	return func(context.Context) (outward.List, error) { return hosts, nil }
}

// browser is the end of a subscription that can read.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

// newBrowser subscribes at an endpoint.
func newBrowser(t *testing.T, endpoint string) (models.ChannelTarget, *browser) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{key: key, auth: make([]byte, 16)}
	_, _ = rand.Read(b.auth)
	return models.ChannelTarget{URL: endpoint, P256dh: b64(key.PublicKey().Bytes()), Auth: b64(b.auth)}, b
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func unb64(t *testing.T, s string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return raw
}

// decrypt reads a message by RFC 8291 and RFC 8188, written from their text.
func (b *browser) decrypt(t *testing.T, body []byte) []byte {
	t.Helper()
	salt, size, idlen := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	server, cipherText := body[21:21+idlen], body[21+idlen:]
	if idlen != 65 || int(size) < len(cipherText) || len(body) > 4096 {
		t.Fatalf("key of %d bytes, records of %d, message of %d", idlen, size, len(cipherText))
	}
	public, err := ecdh.P256().NewPublicKey(server)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := b.key.ECDH(public)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ikm := derive(shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(server), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), cipherText, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00"))
	if plain[len(plain)-1] != 2 {
		t.Fatal("the record is not marked as the last one")
	}
	return plain[:len(plain)-1]
}

// checkVAPID verifies the token of RFC 8292: whose key it is, for whom and how long.
func checkVAPID(t *testing.T, authorization, key, audience string) {
	t.Helper()
	scheme, rest, _ := strings.Cut(authorization, " ")
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	if scheme != "vapid" || parts["k"] != key {
		t.Fatalf("%q, want the key %s", authorization, key)
	}
	fields := strings.Split(parts["t"], ".")
	if len(fields) != 3 {
		t.Fatalf("token %q", parts["t"])
	}
	point, signature := unb64(t, key), unb64(t, fields[2])
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(fields[0] + "." + fields[1]))
	if len(signature) != 64 || !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is not valid")
	}
	var head struct{ Typ, Alg string }
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(unb64(t, fields[0]), &head, json.MatchCaseInsensitiveNames(true)); err != nil || head.Alg != "ES256" {
		t.Errorf("%+v %v", head, err)
	}
	if err := json.Unmarshal(unb64(t, fields[1]), &claims, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	left := time.Until(time.Unix(claims.Exp, 0)) // the library reads the machine's clock
	if claims.Aud != audience || claims.Sub != "https://sign.example.com" || left <= 0 || left > 24*time.Hour {
		t.Errorf("%+v, which ends in %s", claims, left)
	}
}

// A push service gets a message by RFC 8030 that it can't read, from a server that it knows
// by its key; the browser reads what is allowed.
func TestPush(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	s.status = 201
	to, browser := newBrowser(t, s.URL+"/push/secret")
	key, err := send.NewPushKey()
	if err != nil {
		t.Fatal(err)
	}
	load := func() ([]byte, error) { return key, nil }
	keys := send.NewPushKeys(load)
	out := outward.New(outward.Options{Hosts: allow(s.Listener.Addr().String()), Roots: roots(s.Server)})
	sender, err := send.New(send.Options{Out: out, Now: noon, Push: keys, Name: "https://sign.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if r := sender.Send(t.Context(), models.ChannelWebPush, to, notice()); r.Class != models.SendSent || r.Status != 201 {
		t.Fatalf("%+v %s", r, r.Body)
	}
	got := s.only(t)
	public, err := send.NewPushKeys(load).Public() // as after a restart
	if err != nil {
		t.Fatal(err)
	}
	checkVAPID(t, got.header.Get("Authorization"), public, s.URL)
	if got.method != "POST" || got.path != "/push/secret" || got.header.Get("Content-Encoding") != "aes128gcm" || got.header.Get("Ttl") != "1800" || got.header.Get("Urgency") != "high" {
		t.Errorf("%s %s %v", got.method, got.path, got.header)
	}
	if topic := got.header.Get("Topic"); len(topic) != 32 || strings.Contains(string(notice().Request), topic) {
		t.Errorf("topic %q", topic)
	}
	for _, secret := range []string{"deploy-bot", "shell_exec", "sign.example.com/approvals"} {
		if strings.Contains(string(got.body), secret) {
			t.Errorf("the service can read %q", secret)
		}
	}
	const want = `{"id":"0198f0aa-0000-7000-8000-000000000001","kind":"waiting","title":"High-risk request from deploy-bot: shell_exec","body":"A request needs a decision.\n\nAgent: deploy-bot\nTool: shell_exec\nRisk: high\nExpires: in 30 minutes (2026-11-23 12:30 UTC)\nWho may decide: Ann, Ben and 1 more","url":"https://sign.example.com/approvals/2","tag":"0198f0aa-0000-7000-8000-000000000002"}`
	if plain := browser.decrypt(t, got.body); string(plain) != want {
		t.Errorf("%s\nwant\n%s", plain, want)
	}
}

// An endpoint that the service no longer knows is gone; other refusals are not.
func TestPushGone(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	sender := sender(t, s)
	to, _ := newBrowser(t, s.URL+"/push")
	for status, want := range map[int]models.SendClass{404: models.SendGone, 410: models.SendGone, 401: models.SendRejected, 413: models.SendRejected, 429: models.SendUnavailable, 502: models.SendUnavailable} {
		s.status = status
		if r := sender.Send(t.Context(), models.ChannelWebPush, to, notice()); r.Class != want || r.Status != status {
			t.Errorf("%d: %+v, want %s", status, r, want)
		}
	}
}

// Keys that no browser has are refused before anything is sent.
func TestPushKeysOfBrowsers(t *testing.T) {
	t.Parallel()
	s := newSink(t)
	good, _ := newBrowser(t, s.URL)
	for name, change := range map[string]func(*models.ChannelTarget){
		"no point":     func(to *models.ChannelTarget) { to.P256dh = b64(make([]byte, 65)) },
		"a short key":  func(to *models.ChannelTarget) { to.P256dh = to.P256dh[:20] },
		"no key":       func(to *models.ChannelTarget) { to.P256dh = "" },
		"a short auth": func(to *models.ChannelTarget) { to.Auth = b64([]byte("short")) },
		"no auth":      func(to *models.ChannelTarget) { to.Auth = "" },
	} {
		to := good
		change(&to)
		if r := sender(t, s).Send(t.Context(), models.ChannelWebPush, to, notice()); r.Class != models.SendRejected || r.Status != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if len(s.requests) != 0 {
		t.Errorf("%d requests", len(s.requests))
	}
}

// The browsers' makers need no entry, and nothing that only looks like them goes without.
func TestPushServices(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"https://fcm.googleapis.com.evil.example/x", "https://evilfcm.googleapis.com/x", "http://fcm.googleapis.com/x", "https://fcm.googleapis.com:8443/x"} {
		to, _ := newBrowser(t, endpoint)
		if r := sender(t, newSink(t)).Send(t.Context(), models.ChannelWebPush, to, notice()); r.Class != models.SendRefusedHost {
			t.Errorf("%s: %+v", endpoint, r)
		}
	}
}

// A file that holds no key is named.
func TestADamagedPushKeyIsNamed(t *testing.T) {
	t.Parallel()
	keys := send.NewPushKeys(func() ([]byte, error) { return []byte("damaged"), nil })
	if _, err := keys.Public(); err == nil || !strings.Contains(err.Error(), "push.key") {
		t.Errorf("a damaged file: %v", err)
	}
}
