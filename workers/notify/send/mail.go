package send

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/textproto"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wneessen/go-mail"

	"countersign/models"
	"countersign/workers/notify/text"
	"countersign/workers/outward"
)

// SMTPTLS says how the connection to the mail server is kept secret.
type SMTPTLS string

// The ways.
const (
	SMTPStartTLS SMTPTLS = "starttls" // required: without it nothing is sent
	SMTPImplicit SMTPTLS = "tls"
	SMTPNone     SMTPTLS = "none" // to this machine alone
)

// SMTPTLSModes is the list of all ways.
func SMTPTLSModes() []SMTPTLS { return []SMTPTLS{SMTPStartTLS, SMTPImplicit, SMTPNone} }

// SMTP is the one server that e-mail goes to.
type SMTP struct {
	Addr           string // host:port
	From           string // a plain address
	User, Password string
	TLS            SMTPTLS

	Timeout time.Duration  // of one message; 0: 30 s
	Roots   *x509.CertPool // nil: the machine's
}

// Check finds mistakes in the options. Codes: invalid.
func (o SMTP) Check() error {
	host, port, err := net.SplitHostPort(o.Addr)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 || !isHost(host) {
		return models.Invalid("smtp", "must be HOST:PORT, such as mail.example.com:587")
	}
	if err := CheckAddress("smtp-from", o.From); err != nil {
		return err
	}
	switch o.TLS {
	case SMTPStartTLS, SMTPImplicit:
		return nil
	case SMTPNone:
		if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
			return nil
		}
		return models.Invalid("smtp-tls", "may be none only where the mail server is on this machine")
	}
	return models.Invalid("smtp-tls", "must be %s", models.AnyOf(SMTPTLSModes()))
}

// isHost reports whether a text is a name or an address: no path of a socket.
func isHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || outward.IsName(host)
}

// mailer sends e-mail.
type mailer struct {
	o      SMTP
	host   string
	port   int
	domain string // of the sender
}

func newMailer(o SMTP) (*mailer, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	host, port, _ := net.SplitHostPort(o.Addr)
	n, _ := strconv.Atoi(port)
	_, domain, _ := cutLast(o.From, "@")
	return &mailer{o: o, host: host, port: n, domain: domain}, nil
}

// send makes one attempt.
func (m *mailer) send(ctx context.Context, to models.ChannelTarget, n models.Notice) models.SendResult {
	msg, err := m.message(to.Address, n)
	if err != nil {
		return failed(models.SendRejected, "the message cannot be written: its address must be one such as ann@example.com")
	}
	limitCtx, cancel := context.WithTimeout(ctx, m.o.Timeout)
	defer cancel()
	way := &mailWay{o: m.o, host: m.host}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := way.dial(ctx, network, address)
		if err == nil {
			context.AfterFunc(limitCtx, func() { conn.Close() }) // also when the server stops
		}
		return conn, err
	}
	client, err := mail.NewClient(m.host, append(m.options(way), mail.WithDialContextFunc(dial))...)
	if err != nil {
		return failed(models.SendNotConfigured, "the settings of the mail server don't fit together")
	}
	err = client.DialAndSendWithContext(limitCtx, msg)
	if msg.IsDelivered() { // the server has taken it, whatever came after
		return models.SendResult{Class: models.SendSent, Status: 250}
	}
	return way.failure(limitCtx, err)
}

func (m *mailer) options(way *mailWay) []mail.Option {
	options := []mail.Option{
		mail.WithPort(m.port), mail.WithHELO(m.domain), mail.WithTimeout(m.o.Timeout),
		mail.WithTLSConfig(way.tls()), mail.WithoutNoop(),
	}
	switch m.o.TLS {
	case SMTPStartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case SMTPImplicit:
		// it finds TLS in the connection that way.dial made
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case SMTPNone:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if m.o.User != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(m.o.User),
			mail.WithPassword(m.o.Password))
	}
	return options
}

// message writes the e-mail. All messages about one request refer to the same one, which is
// never sent, so that mail programs keep them together.
func (m *mailer) message(address string, n models.Notice) (*mail.Msg, error) {
	if err := CheckAddress("address", address); err != nil {
		return nil, err
	}
	words := text.Unlinked(n)
	page, err := words.HTML()
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.FromFormat(agentName, m.o.From), msg.To(address)); err != nil {
		return nil, err
	}
	msg.Subject(words.Subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(m.id("notice", n.ID))
	if n.Request != "" {
		thread := "<" + m.id("request", string(n.Request)) + ">"
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
		msg.SetGenHeader(mail.HeaderReferences, thread)
	}
	if words.SettingsURL != "" {
		msg.SetListUnsubscribe(words.SettingsURL)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetBodyString(mail.TypeTextPlain, words.Plain())
	msg.AddAlternativeString(mail.TypeTextHTML, page)
	return msg, nil
}

// id is an id of ours as one of a message.
func (m *mailer) id(kind, id string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id)
	return kind + "." + plain[:min(len(plain), 64)] + "@" + m.domain // a line has at most 998 bytes
}

// failure says why a message was not taken.
func (w *mailWay) failure(ctx context.Context, err error) models.SendResult {
	var refusal *notLocalError
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var said *textproto.Error
	var delivery *mail.SendError
	switch {
	case errors.As(err, &refusal):
		return failed(models.SendRefusedHost, refusal.Error())
	case errors.As(err, &certificate):
		return failed(models.SendCertificate, "the mail server's certificate is not valid for its name")
	case w.full:
		return failed(models.SendTooLarge, "the mail server answers too much")
	case errors.Is(ctx.Err(), context.DeadlineExceeded), isTimeout(err):
		return failed(models.SendTimeout, "the mail server did not answer in time")
	case errors.As(err, &name):
		return failed(models.SendNameNotFound, "the mail server's name is not known")
	case errors.As(err, &delivery) && delivery.ErrorCode() > 0:
		return refusedMail(delivery.ErrorCode(), delivery.Error())
	case errors.As(err, &said):
		return refusedMail(said.Code, said.Msg)
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return failed(models.SendConnect, number.Error())
	}
	return failed(models.SendConnect,
		"the connection to the mail server failed, or it does not offer what this server needs (STARTTLS, signing in)")
}

// refusedMail is what a mail server's answer means: 4yz is for now, 5yz for good.
func refusedMail(code int, said string) models.SendResult {
	r := failed(models.SendRejected, said)
	if code < 500 {
		r.Class = models.SendUnavailable
	}
	r.Status = code
	return r
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
