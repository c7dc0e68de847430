package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"countersign/models"
	"countersign/workers/notify/send"
)

// Mail is the server that notifications go to by e-mail. Without an Addr there is none.
type Mail struct {
	Addr, From, User string
	Password         Secret
	PasswordFile     string
	TLS              send.SMTPTLS
	Head             bool // admins get the ledger's head once a day
}

// SMTPPasswordEnv is the variable with the password. There is no flag: others on
// the machine can read a process's arguments.
const SMTPPasswordEnv = "COUNTERSIGN_SMTP_PASSWORD"

// mailSettings are what the mail server is set up with, but for the password.
var mailSettings = []Setting{
	{
		"smtp", "", "HOST:PORT", "mail server for notifications, such as mail.example.com:587 (default: no e-mail)",
		text(func(c *Config) *string { return &c.Mail.Addr }),
	},
	{
		"smtp-from", "", "ADDRESS", "e-mail address that notifications come from",
		text(func(c *Config) *string { return &c.Mail.From }),
	},
	{
		"smtp-user", "", "NAME",
		"user name to sign in with there; its password: " + SMTPPasswordEnv + " or --smtp-password-file",
		text(func(c *Config) *string { return &c.Mail.User }),
	},
	{
		"smtp-password-file", "", "FILE", "file with that password",
		text(func(c *Config) *string { return &c.Mail.PasswordFile }),
	},
	{
		"smtp-tls", string(send.SMTPStartTLS), "MODE",
		"starttls (required, never left out), tls (from the start, as on port 465), or none, only to a mail server on this machine", setSMTPTLS,
	},
	{
		"mail-head", "false", "bool",
		"send the ledger's head to admins by e-mail once a day, to be kept where nobody changes it",
		yesOrNo(func(c *Config) *bool { return &c.Mail.Head }),
	},
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = v
		return nil
	}
}

func setSMTPTLS(c *Config, v string) error {
	c.Mail.TLS = send.SMTPTLS(v)
	if !slices.Contains(send.SMTPTLSModes(), c.Mail.TLS) {
		return errors.New("must be " + models.AnyOf(send.SMTPTLSModes()))
	}
	return nil
}

// maxPassword is how long the file with the password may be.
const maxPassword = 4 << 10

// readPassword takes the password from the environment or the file, one of the two.
func (m *Mail) readPassword(env string) error {
	m.Password = Secret(env)
	if m.PasswordFile == "" {
		return nil
	}
	if env != "" {
		return fmt.Errorf("--smtp-password-file: %s is set too; give only one of them", SMTPPasswordEnv)
	}
	file, err := os.Open(m.PasswordFile)
	if err != nil {
		return fmt.Errorf("--smtp-password-file: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxPassword+1))
	if err != nil {
		return fmt.Errorf("--smtp-password-file: %w", err)
	}
	raw = bytes.TrimRight(raw, "\r\n")
	if len(raw) == 0 || len(raw) > maxPassword || bytes.ContainsAny(raw, "\r\n") {
		return errors.New("--smtp-password-file: must contain the password alone, on one line")
	}
	m.Password = Secret(raw)
	return nil
}

// check finds contradictions between the settings.
func (m *Mail) check() error {
	if m.Addr == "" {
		if m.From != "" || m.User != "" || m.Password != "" {
			return errors.New("--smtp: is required with --smtp-from, --smtp-user and a password for it")
		}
		if m.Head {
			return errors.New("--smtp: is required with --mail-head")
		}
		return nil
	}
	for name, why := range models.FieldsOf(m.SMTP().Check()) {
		return fmt.Errorf("--%s: %s", name, why)
	}
	if (m.User == "") != (m.Password == "") {
		return errors.New("--smtp-user: needs a password, and a password needs --smtp-user; the password goes into " +
			SMTPPasswordEnv + " or --smtp-password-file")
	}
	return nil
}

// SMTP is the server as the sender takes it.
func (m *Mail) SMTP() send.SMTP {
	return send.SMTP{Addr: m.Addr, From: m.From, User: m.User, Password: string(m.Password), TLS: m.TLS}
}

// LogValue is how it is logged.
func (m Mail) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("addr", m.Addr), slog.String("from", m.From), slog.String("user", m.User),
		slog.Bool("password", m.Password != ""), slog.String("tls", string(m.TLS)), slog.Bool("head", m.Head),
	)
}
