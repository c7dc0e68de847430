package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mailConfig reads the settings of the mail server.
func mailConfig(args []string, env map[string]string) (Config, error) {
	flags := new(cobra.Command).Flags()
	Add(flags, mailSettings...)
	if err := flags.Parse(args); err != nil {
		return Config{}, err
	}
	return Read(flags, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
}

// What is wrong with the mail server's settings is said by the flag.
func TestMailSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(lines, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := "--smtp mail.example.com:587 --smtp-from countersign@example.com"
	for _, tt := range []struct{ args, env, want string }{
		{"", "", ""},
		{good, "", ""},
		{good + " --smtp-user ann", "secret", ""},
		{good + " --smtp-user ann --smtp-password-file " + file, "", ""},
		{"--smtp 127.0.0.1:25 --smtp-from a@example.com --smtp-tls none", "", ""},
		{good + " --smtp-user ann", "", "--smtp-user: needs a password"},
		{good, "secret", "--smtp-user: needs a password"},
		{good + " --smtp-user ann --smtp-password-file " + file, "secret", "give only one of them"},
		{good + " --smtp-user ann --smtp-password-file " + lines, "", "--smtp-password-file: must contain the password alone"},
		{good + " --smtp-user ann --smtp-password-file /nowhere", "", "--smtp-password-file: open /nowhere"},
		{"--smtp mail.example.com --smtp-from a@example.com", "", "--smtp: must be HOST:PORT"},
		{"--smtp mail.example.com:25", "", "--smtp-from: must be an e-mail address"},
		{"--smtp-from a@example.com", "", "--smtp: is required"},
		{good + " --mail-head", "", ""},
		{"--mail-head", "", "--smtp: is required with --mail-head"},
		{good + " --mail-head=daily", "", "--mail-head: must be true or false"},
		{good + " --smtp-tls never", "", "--smtp-tls: must be starttls, tls or none"},
		{good + " --smtp-tls none", "", "--smtp-tls: may be none only where the mail server is on this machine"},
	} {
		_, err := mailConfig(strings.Fields(tt.args), map[string]string{SMTPPasswordEnv: tt.env})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "horse") {
			t.Error("the password is in the error")
		}
	}
	cfg, err := mailConfig(strings.Fields(good+" --smtp-user ann --smtp-password-file "+file), nil)
	if err != nil || cfg.Mail.SMTP().Password != "correct horse" {
		t.Errorf("%v %q", err, cfg.Mail.SMTP().Password)
	}
	if logged := fmt.Sprint(cfg, cfg.LogValue()); strings.Contains(logged, "horse") {
		t.Errorf("logged %s", logged)
	}
}
