package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"countersign/models"
	"countersign/models/store"
	"countersign/views"
)

func newSetupLink() *cobra.Command {
	c := &cobra.Command{
		Use:   "setup-link",
		Short: "Print a new one-time link that creates the first user; older ones stop working",
		Args:  cobra.NoArgs,
	}
	for _, s := range serveSettings {
		if s.flag == "addr" || s.flag == "public-url" {
			addSettings(c.Flags(), s)
		}
	}
	return firstCommand(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		cfg, err := configOf(c)
		if err != nil {
			return err
		}
		secret, err := s.People.NewSetupLink(c.Context(), operator())
		if err != nil {
			return err
		}
		// A link that the server left in a file has just stopped working.
		if err := removeSetupFile(cfg.Data); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), setupLink(serverAddress(c, cfg), secret))
		return nil
	})
}

func setupLink(public *url.URL, secret string) string {
	return public.String() + views.SetupURL(secret)
}

// publicURL is the configured address of a server, or else where it listens. An
// address that stands for all of the machine's is written as localhost.
func publicURL(cfg Config, listens string) *url.URL {
	if cfg.PublicURL != nil {
		return cfg.PublicURL
	}
	return &url.URL{Scheme: "http", Host: dialable(listens)}
}

// serverAddress is where a server is reached: as it is set here, else as the one that runs on the data
// folder says.
func serverAddress(c *cobra.Command, cfg Config) *url.URL {
	if cfg.PublicURL == nil && !c.Flags().Changed("addr") && os.Getenv("COUNTERSIGN_ADDR") == "" {
		if text, err := os.ReadFile(filepath.Join(cfg.Data, models.AddressFile)); err == nil {
			if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil && u.Host != "" {
				return u
			}
		}
	}
	return publicURL(cfg, cfg.Addr)
}

// inviteFirstUser hands out the setup link while nobody can sign in: on the
// terminal, or where there is none in a file of the data folder whose name, and
// not its content, is logged.
func inviteFirstUser(ctx context.Context, s *store.Store, cfg Config, public *url.URL, log *slog.Logger, terminal io.Writer) error {
	has, err := s.People.HasUsers(ctx)
	if err != nil {
		return err
	}
	if has {
		return removeSetupFile(cfg.Data)
	}
	secret, err := s.People.NewSetupLink(ctx, models.System("server"))
	if models.ErrorCode(err) == models.CodeConflict {
		return nil // somebody was added just now
	}
	if err != nil {
		return err
	}
	link := setupLink(public, secret)
	if terminal != nil {
		fmt.Fprintf(terminal, "\nNobody can sign in yet. Open this link once to create the first user:\n\n    %s\n\n", link)
		return removeSetupFile(cfg.Data)
	}
	path := filepath.Join(cfg.Data, models.SetupLinkFile)
	if err := writePrivate(path, link+"\n"); err != nil {
		return fmt.Errorf("write the setup link: %w", err)
	}
	log.WarnContext(ctx, "nobody can sign in yet: open the link in this file once to create the first user", slog.String("file", path))
	return nil
}

// setupLook is how often to look whether setup is done.
const setupLook = 2 * time.Second

// removeUsedSetupFile waits until there is a user and removes the file with the
// link that made them.
func removeUsedSetupFile(ctx context.Context, s *store.Store, dir string, log *slog.Logger) {
	look := time.NewTicker(setupLook)
	defer look.Stop()
	for last := false; ; {
		has, err := s.People.HasUsers(context.WithoutCancel(ctx))
		if err == nil && has {
			err = removeSetupFile(dir)
		}
		if err != nil {
			log.WarnContext(ctx, "the setup link's file is still there", slog.String("error", err.Error()))
		}
		if has || last {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			last = true
		}
	}
}

func removeSetupFile(dir string) error {
	err := os.Remove(filepath.Join(dir, models.SetupLinkFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the setup link's file: %w", err)
	}
	return nil
}

// terminalOf is where a person reads what the process says, or nil.
func terminalOf() io.Writer {
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

// writePrivate replaces a file by one that only its owner may read, in one step.
func writePrivate(path, content string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
