package web_test

import (
	"context"
	"crypto/x509"
	stdjson "encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"countersign/handlers/web"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/storetest"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// mailer keeps what goes by e-mail; all else goes by the program's own sender, to the hosts
// that an admin has allowed.
type mailer struct {
	*send.Sender

	mu   sync.Mutex
	mail []models.Notice
}

func (m *mailer) Send(ctx context.Context, kind models.ChannelKind, to models.ChannelTarget, n models.Notice) models.SendResult {
	if kind != models.ChannelEmail {
		return m.Sender.Send(ctx, kind, to, n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mail = append(m.mail, n)
	return models.SendResult{Class: models.SendSent, Status: 250}
}

// last is the latest message by e-mail.
func (m *mailer) last(tb testing.TB) models.Notice {
	tb.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mail) == 0 {
		tb.Fatal("nothing was sent by e-mail")
	}
	return m.mail[len(m.mail)-1]
}

// notifies has a world send messages as the program does; browsers' push services are what
// roots vouch for.
func (w *world) notifies() web.Notify {
	w.roots = x509.NewCertPool()
	keys := send.NewPushKeys(w.tb.TempDir())
	w.out = outward.New(outward.Options{Hosts: w.hosts, Roots: w.roots})
	sender, err := send.New(send.Options{Out: w.out, Now: w.store.Now, Push: keys, Name: "https://countersign.example"})
	if err != nil {
		w.tb.Fatal(err)
	}
	w.mails = &mailer{Sender: sender}
	w.notifier = notify.New(notify.Options{
		Store: w.store, Sender: w.mails, Log: slog.New(slog.DiscardHandler),
		RequestURL:  func(id models.ResponseID) string { return w.url + "/approvals/" + string(id) },
		SettingsURL: "https://countersign.example/account/notifications",
	})
	return web.Notify{From: "countersign@example.org", PushKey: keys.Public, Check: sender.Check, Test: w.notifier.Test}
}

// hosts are those that admins have allowed.
func (w *world) hosts(ctx context.Context) (outward.List, error) {
	all, err := w.store.People.HostsForSending(ctx)
	var out outward.List
	for _, h := range all {
		out = append(out, h.Host)
	}
	return out, err
}

// sendsDue sends all that is due now.
func (w *world) sendsDue() {
	w.tb.Helper()
	ctx := w.tb.Context()
	if w.lease == nil {
		var err error
		w.lease, err = w.store.TakeLease(ctx, "notify", "test", 10_000*time.Hour)
		storetest.Must(w.tb, err)
	}
	for {
		_, err := notices.New(w.store).Take(ctx, w.lease)
		storetest.Must(w.tb, err)
		due, _, err := notices.New(w.store).Due(ctx, 50)
		storetest.Must(w.tb, err)
		if len(due) == 0 {
			return
		}
		for _, one := range due {
			storetest.Must(w.tb, w.notifier.Once(ctx, w.lease, one.ID))
		}
	}
}

// sink is a service on this computer that takes messages.
type sink struct {
	*httptest.Server

	mu     sync.Mutex
	bodies []string
	status int
	says   string
}

func (w *world) sink() *sink {
	w.tb.Helper()
	s := &sink{status: http.StatusOK, says: "taken"}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(body))
		rw.WriteHeader(s.status)
		_, _ = io.WriteString(rw, s.says)
	}))
	w.tb.Cleanup(s.Close)
	w.roots.AddCert(s.Certificate())
	return s
}

func (s *sink) last(tb testing.TB) string {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bodies) == 0 {
		tb.Fatal("nothing was sent there")
	}
	return s.bodies[len(s.bodies)-1]
}

// code is the code in the latest message of a webhook.
func (s *sink) code(tb testing.TB) string {
	tb.Helper()
	var m struct{ Data struct{ Code string } }
	if err := stdjson.Unmarshal([]byte(s.last(tb)), &m); err != nil || m.Data.Code == "" {
		tb.Fatalf("no code in %s: %v", s.last(tb), err)
	}
	return m.Data.Code
}
