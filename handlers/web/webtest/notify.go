package webtest

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

	"countersign/handlers/web/channels"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/storetest"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

// AllowSink has an admin allow the host of a service, by form.
func (w *World) AllowSink(s *Sink) {
	w.TB.Helper()
	admin := w.SignIn(AdminEmail)
	admin.AllowHost(s.Listener.Addr().String())
	admin.Get("/system/notifications").Says("main", s.Listener.Addr().String())
}

// Mailer keeps what goes by e-mail; all else goes by the program's own sender, to the hosts
// that an admin has allowed.
type Mailer struct {
	*send.Sender

	mu   sync.Mutex
	mail []models.Notice
	down models.SendClass // how each attempt ends; empty: it is sent
}

// Down has each e-mail end like this from now on.
func (m *Mailer) Down(class models.SendClass) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = class
}

// Sink is a service on this computer that takes messages.
type Sink struct {
	*httptest.Server

	Mu     sync.Mutex
	Bodies []string
	Status int
	Says   string
}

// Send keeps an e-mail, and sends all else.
func (m *Mailer) Send(
	ctx context.Context, kind models.ChannelKind, to models.ChannelTarget, n models.Notice,
) models.SendResult {
	if kind != models.ChannelEmail {
		return m.Sender.Send(ctx, kind, to, n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != "" {
		return models.SendResult{Class: m.down}
	}
	m.mail = append(m.mail, n)
	return models.SendResult{Class: models.SendSent, Status: 250}
}

// Last is the latest message by e-mail.
func (m *Mailer) Last(tb testing.TB) models.Notice {
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
func (w *World) notifies() channels.Sender {
	w.Roots = x509.NewCertPool()
	keys := send.NewPushKeys(send.NewPushKey)
	w.out = outward.New(outward.Options{Hosts: w.hosts, Roots: w.Roots})
	sender, err := send.New(send.Options{Out: w.out, Now: w.Store.Now, Push: keys, Name: "https://countersign.example"})
	if err != nil {
		w.TB.Fatal(err)
	}
	w.Mails = &Mailer{Sender: sender}
	w.notifier = notify.New(notify.Options{
		Store: w.Store, Sender: w.Mails, Log: slog.New(slog.DiscardHandler),
		RequestURL:  func(id models.ResponseID) string { return w.URL + "/approvals/" + string(id) },
		SettingsURL: "https://countersign.example/account/notifications",
	})
	return channels.Sender{
		From: "countersign@example.org", PushKey: keys.Public, Check: sender.Check, Test: w.notifier.Test,
		Mail: func(ctx context.Context, address string, n models.Notice) models.SendResult {
			return w.Mails.Send(ctx, models.ChannelEmail, models.ChannelTarget{Address: address}, n)
		},
	}
}

// hosts are those that admins have allowed.
func (w *World) hosts(ctx context.Context) (outward.List, error) {
	all, err := w.Store.People.HostsForSending(ctx)
	var out outward.List
	for _, h := range all {
		out = append(out, h.Host)
	}
	return out, err
}

// SendsDue sends all that is due now.
func (w *World) SendsDue() {
	w.TB.Helper()
	ctx := w.TB.Context()
	if w.lease == nil {
		var err error
		w.lease, err = w.Store.Nodes.TakeLease(ctx, "notify", "test", 10_000*time.Hour)
		storetest.Must(w.TB, err)
	}
	for {
		_, err := notices.New(w.Store).Take(ctx, w.lease)
		storetest.Must(w.TB, err)
		due, _, err := notices.New(w.Store).Due(ctx, 50)
		storetest.Must(w.TB, err)
		if len(due) == 0 {
			return
		}
		for _, one := range due {
			storetest.Must(w.TB, w.notifier.Once(ctx, w.lease, one.ID))
		}
	}
}

// Sink is a service that the world trusts.
func (w *World) Sink() *Sink {
	w.TB.Helper()
	s := &Sink{Status: http.StatusOK, Says: "taken"}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.Mu.Lock()
		defer s.Mu.Unlock()
		s.Bodies = append(s.Bodies, string(body))
		rw.WriteHeader(s.Status)
		_, _ = io.WriteString(rw, s.Says)
	}))
	w.TB.Cleanup(s.Close)
	w.Roots.AddCert(s.Certificate())
	return s
}

// Last is the latest message.
func (s *Sink) Last(tb testing.TB) string {
	tb.Helper()
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if len(s.Bodies) == 0 {
		tb.Fatal("nothing was sent there")
	}
	return s.Bodies[len(s.Bodies)-1]
}

// Code is the code in the latest message of a webhook.
func (s *Sink) Code(tb testing.TB) string {
	tb.Helper()
	var m struct{ Data struct{ Code string } }
	if err := stdjson.Unmarshal([]byte(s.Last(tb)), &m); err != nil || m.Data.Code == "" {
		tb.Fatalf("no code in %s: %v", s.Last(tb), err)
	}
	return m.Data.Code
}
