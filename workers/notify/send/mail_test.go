package send_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/notify/send"
)

// mailSender sends by one server.
func mailSender(t *testing.T, o send.SMTP) *send.Sender {
	t.Helper()
	o.From = "countersign@sign.example.com"
	s, err := send.New(send.Options{SMTP: o, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var ann = models.ChannelTarget{Address: "ann@example.com"}

// parts are the header of an e-mail and its parts, by type.
func parts(t *testing.T, raw string) (mail.Header, map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s %v", kind, err)
	}
	all := map[string]string{}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return m.Header, all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(p))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		all[kind] = strings.ReplaceAll(string(body), "\r\n", "\n")
	}
}

// E-mail goes out over TLS, after signing in, as text and HTML.
func TestMail(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	for _, way := range []send.SMTPTLS{send.SMTPStartTLS, send.SMTPImplicit} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			s := newMailServer(t, &mailServer{config: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, implicit: way == send.SMTPImplicit, password: "correct horse"})
			sender := mailSender(t, send.SMTP{Addr: s.addr(), TLS: way, User: "sender", Password: "correct horse", Roots: pool})
			if r := sender.Send(t.Context(), models.ChannelEmail, ann, notice()); r.Class != models.SendSent || r.Status != 250 {
				t.Fatalf("%+v %s", r, r.Body)
			}
			got := s.only(t)
			if !got.secure || got.user != "sender" || !strings.Contains(got.from, "<countersign@sign.example.com>") || !strings.Contains(got.to, "<ann@example.com>") {
				t.Errorf("%+v", got)
			}
			for _, command := range s.plain {
				if command != "EHLO" && command != "STARTTLS" {
					t.Errorf("%s without TLS", command)
				}
			}
			header, body := parts(t, got.data)
			if from := header.Get("From"); from != `"Countersign" <countersign@sign.example.com>` {
				t.Errorf("From: %s", from)
			}
			if subject := header.Get("Subject"); subject != "High-risk request from deploy-bot: shell_exec" {
				t.Errorf("Subject: %s", subject)
			}
			if !strings.Contains(body["text/plain"], "\nAgent: deploy-bot\n") || !strings.Contains(body["text/plain"], "\nhttps://sign.example.com/approvals/2\n") {
				t.Errorf("%s", body["text/plain"])
			}
			if !strings.Contains(body["text/html"], `<a href="https://sign.example.com/approvals/2">Open the request</a>`) {
				t.Errorf("%s", body["text/html"])
			}
		})
	}
}

// noTLS is a server on this machine that needs neither TLS nor a password.
func noTLS(t *testing.T, answers map[string]string) (*mailServer, *send.Sender) {
	t.Helper()
	s := newMailServer(t, &mailServer{answers: answers})
	return s, mailSender(t, send.SMTP{Addr: s.addr(), TLS: send.SMTPNone, Timeout: 2 * time.Second})
}

// All messages about one request are one thread, and each is another message.
func TestMailThreads(t *testing.T) {
	t.Parallel()
	s, sender := noTLS(t, nil)
	follow := notice()
	follow.ID, follow.Kind, follow.Outcome, follow.By = "0198f0aa-0000-7000-8000-000000000009", models.NoticeSettled, "approved", "Ann"
	other := notice()
	other.ID, other.Request = "0198f0aa-0000-7000-8000-00000000000a", "0198f0aa-0000-7000-8000-00000000000b"
	for _, n := range []models.Notice{notice(), follow, other} {
		if r := sender.Send(t.Context(), models.ChannelEmail, ann, n); r.Class != models.SendSent {
			t.Fatalf("%+v %s", r, r.Body)
		}
	}
	first, _ := parts(t, s.mails[0].data)
	second, _ := parts(t, s.mails[1].data)
	third, _ := parts(t, s.mails[2].data)
	if id := first.Get("Message-ID"); id != "<notice.0198f0aa-0000-7000-8000-000000000001@sign.example.com>" || id == second.Get("Message-ID") {
		t.Errorf("ids %s, %s", id, second.Get("Message-ID"))
	}
	for _, name := range []string{"References", "In-Reply-To", "Subject"} {
		if first.Get(name) == "" || first.Get(name) != second.Get(name) {
			t.Errorf("%s: %q and %q", name, first.Get(name), second.Get(name))
		}
	}
	if first.Get("References") == third.Get("References") {
		t.Error("two requests are one thread")
	}
	if first.Get("List-Unsubscribe") != "<https://sign.example.com/account/notifications>" || first.Get("Auto-Submitted") != "auto-generated" || first.Get("User-Agent") != "" {
		t.Errorf("%v", first)
	}
}

// Nothing is sent where the connection is not secret, or the server is another one.
func TestMailStaysSecret(t *testing.T) {
	t.Parallel()
	cert, pool := certificate(t)
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	for name, tt := range map[string]struct {
		server *mailServer
		smtp   send.SMTP
		want   models.SendClass
	}{
		"no STARTTLS offered":                 {&mailServer{}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool}, models.SendConnect},
		"unknown certificate":                 {&mailServer{config: config}, send.SMTP{TLS: send.SMTPStartTLS, Roots: x509.NewCertPool()}, models.SendCertificate},
		"unknown certificate, from the start": {&mailServer{config: config, implicit: true}, send.SMTP{TLS: send.SMTPImplicit, Roots: x509.NewCertPool()}, models.SendCertificate},
		"certificate of another name":         {&mailServer{config: config}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool, Addr: "localhost"}, models.SendCertificate},
		"another name, from the start":        {&mailServer{config: config, implicit: true}, send.SMTP{TLS: send.SMTPImplicit, Roots: pool, Addr: "localhost"}, models.SendCertificate},
		"STARTTLS refused":                    {&mailServer{config: config, answers: map[string]string{"STARTTLS": "454 not now"}}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool}, models.SendUnavailable},
		"STARTTLS stripped, signing in asked": {&mailServer{password: "right"}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool, User: "sender", Password: "right"}, models.SendConnect},
		"signing in without TLS":              {&mailServer{password: "right"}, send.SMTP{TLS: send.SMTPNone, User: "sender", Password: "right"}, models.SendConnect},
		"words before TLS":                    {&mailServer{config: config, answers: map[string]string{"STARTTLS": "454 no\r\n250 forged"}}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool}, models.SendUnavailable},
		"wrong password":                      {&mailServer{config: config, password: "right"}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool, User: "sender", Password: "wrong"}, models.SendRejected},
		"nobody can sign in":                  {&mailServer{config: config}, send.SMTP{TLS: send.SMTPStartTLS, Roots: pool, User: "sender", Password: "right"}, models.SendConnect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMailServer(t, tt.server)
			if tt.smtp.Addr == "" {
				tt.smtp.Addr = s.addr()
			} else { // by another name
				_, port, _ := net.SplitHostPort(s.addr())
				tt.smtp.Addr += ":" + port
			}
			if r := mailSender(t, tt.smtp).Send(t.Context(), models.ChannelEmail, ann, notice()); r.Class != tt.want {
				t.Errorf("%+v %s, want %s", r, r.Body, tt.want)
			}
			if len(s.mails) != 0 {
				t.Errorf("sent %+v", s.mails)
			}
			for _, command := range s.plain {
				if command != "EHLO" && command != "STARTTLS" && command != "QUIT" {
					t.Errorf("%s without TLS", command)
				}
			}
		})
	}
}

// What the server's answers mean.
func TestMailAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers map[string]string
		class   models.SendClass
		status  int
	}{
		"no such person":      {map[string]string{"RCPT": "550 no such person"}, models.SendRejected, 550},
		"try later":           {map[string]string{"RCPT": "451 greylisted"}, models.SendUnavailable, 451},
		"too busy to talk":    {map[string]string{"": "421 too busy"}, models.SendUnavailable, 421},
		"nothing from you":    {map[string]string{"MAIL": "553 not from you"}, models.SendRejected, 553},
		"refused at the end":  {map[string]string{".": "554 spam"}, models.SendRejected, 554},
		"error after the end": {map[string]string{"RSET": "500 what", "QUIT": "500 what"}, models.SendSent, 250},
		"no words":            {map[string]string{"": "hello"}, models.SendConnect, 0},
		"endless":             {map[string]string{"EHLO": strings.Repeat("250-x\r\n", 100_000)}, models.SendTooLarge, 0},
		"one endless line":    {map[string]string{"": "220 " + strings.Repeat("x", 1<<20)}, models.SendTooLarge, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, sender := noTLS(t, tt.answers)
			if r := sender.Send(t.Context(), models.ChannelEmail, ann, notice()); r.Class != tt.class || r.Status != tt.status || len(r.Body) > 1024 {
				t.Errorf("%+v %s, want %s %d", r, r.Body, tt.class, tt.status)
			}
		})
	}
}

// A server that drips keeps nobody longer than the time for one message, and a server that
// stops waits for none.
func TestSlowMailServer(t *testing.T) {
	t.Parallel()
	_, sender := noTLS(t, map[string]string{"EHLO": "250-never ends"})
	if r := sender.Send(t.Context(), models.ChannelEmail, ann, notice()); r.Class != models.SendTimeout {
		t.Errorf("%+v %s", r, r.Body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := sender.Send(ctx, models.ChannelEmail, ann, notice()); r.Class == models.SendSent {
		t.Errorf("%+v", r)
	}
}

// An address that is more than one address goes nowhere.
func TestMailAddresses(t *testing.T) {
	t.Parallel()
	s, sender := noTLS(t, nil)
	for _, address := range []string{
		"", "ann", "ann@example.com, eve@x.example", "Ann <ann@example.com>", "ann@example.com\r\nBcc: eve@x.example", "ann@example.com\nRCPT TO:<eve@x.example>",
		"<ann@example.com>", "\"a b\"@example.com", "ann@example.com ", "ann@[127.0.0.1]", "\"a@b\"@example.com", strings.Repeat("a", 300) + "@example.com", "änn@example.com",
	} {
		if r := sender.Send(t.Context(), models.ChannelEmail, models.ChannelTarget{Address: address}, notice()); r.Class != models.SendRejected {
			t.Errorf("%q: %+v", address, r)
		}
	}
	if len(s.mails) != 0 {
		t.Errorf("sent %+v", s.mails)
	}
}

// Names are no headers, parts or lines of the e-mail, whatever is in them (I13).
func TestMailHeadersI13(t *testing.T) {
	t.Parallel()
	s, sender := noTLS(t, nil)
	for i, name := range []string{"a\r\nBcc: eve@x.example", "a\n\nHello", "a\r\n.\r\nMAIL FROM:<eve@x.example>", "=?utf-8?q?a=0D=0ABcc:_eve?=", strings.Repeat("é", 200), strings.Repeat("x", 5000), "a\u2028b", "\x00"} {
		n := notice()
		n.Agent, n.Tool, n.Deciders, n.ID, n.Request = name, name, []string{name}, name, models.ResponseID(name)
		if r := sender.Send(t.Context(), models.ChannelEmail, ann, n); r.Class != models.SendSent {
			t.Fatalf("%q: %+v %s", name, r, r.Body)
		}
		if len(s.mails) != i+1 {
			t.Fatalf("%q: %d e-mails", name, len(s.mails))
		}
		for line := range strings.Lines(s.mails[i].data) {
			if len(line) > 998 {
				t.Errorf("%.20q: a line of %d bytes", name, len(line))
			}
		}
		header, body := parts(t, s.mails[i].data)
		for field := range header {
			switch field {
			case "Date", "Mime-Version", "Message-Id", "Subject", "From", "To", "In-Reply-To", "References", "List-Unsubscribe", "Auto-Submitted", "Content-Type":
			default:
				t.Errorf("%q: header %s", name, field)
			}
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		if err != nil || !strings.HasPrefix(subject, "High-risk request from ") || strings.ContainsAny(subject, "\r\n") {
			t.Errorf("%q: subject %q %v", name, subject, err)
		}
		if lines := strings.Count(body["text/plain"], "\n"); lines < 12 || lines > 14 {
			t.Errorf("%q: %d lines", name, lines)
		}
	}
}

// What a server is set up with is checked at the start.
func TestSMTPSettings(t *testing.T) {
	t.Parallel()
	good := send.SMTP{Addr: "mail.example.com:587", From: "a@example.com", TLS: send.SMTPStartTLS}
	for field, change := range map[string]func(*send.SMTP){
		"":          func(*send.SMTP) {},
		"smtp":      func(o *send.SMTP) { o.Addr = "mail.example.com" },
		"smtp ":     func(o *send.SMTP) { o.Addr = "/run/mail.sock:25" },
		"smtp-from": func(o *send.SMTP) { o.From = "Ann <a@example.com>" },
		"smtp-tls":  func(o *send.SMTP) { o.TLS = send.SMTPNone },
	} {
		o := good
		change(&o)
		err := o.Check()
		if field == "" && err != nil || field != "" && (err == nil || models.FieldsOf(err)[strings.TrimSpace(field)] == "") {
			t.Errorf("%q: %v", field, err)
		}
	}
	good.Addr, good.TLS = "localhost:25", send.SMTPNone
	if err := good.Check(); err != nil {
		t.Error(err)
	}
}

// The mail of the ledger's head has the command that checks it in one piece.
func TestTheMailOfTheLedgersHead(t *testing.T) {
	t.Parallel()
	s, sender := noTLS(t, nil)
	head := "1204:" + strings.Repeat("0aecb4e6", 8)
	n := models.Notice{ID: "1", Kind: models.NoticeLedgerHead, Head: head, HeadAt: noon(), URL: "https://sign.example.com/"}
	if r := sender.Send(t.Context(), models.ChannelEmail, ann, n); r.Class != models.SendSent {
		t.Fatalf("%+v %s", r, r.Body)
	}
	header, body := parts(t, s.only(t).data)
	if subject := header.Get("Subject"); subject != "Ledger head of "+noon().UTC().Format(time.DateOnly) {
		t.Errorf("Subject: %s", subject)
	}
	for kind, text := range body {
		if !strings.Contains(text, "countersign audit verify --head "+head) || !strings.Contains(text, "1204") || !strings.Contains(text, noon().UTC().Format("2006-01-02 15:04:05")+" UTC") {
			t.Errorf("%s:\n%s", kind, text)
		}
	}
}
