package server

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
	"time"

	"countersign/cmd/config"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/store"
	"countersign/views"
)

// SetupLink is the address at which the first user is created.
func SetupLink(public *url.URL, secret string) string {
	return public.String() + views.SetupURL(secret)
}

// inviteFirstUser hands out the setup link while there is no user: on the terminal, or where there is none in a file of
// the data folder whose name, and not its content, is logged.
func inviteFirstUser(
	ctx context.Context, s *store.Store, cfg config.Config, public *url.URL, log *slog.Logger, screen io.Writer,
) error {
	has, err := s.People.HasUsers(ctx)
	if err != nil {
		return err
	}
	if has {
		return RemoveSetupFile(cfg.Data)
	}
	secret, err := s.People.NewSetupLink(ctx, models.System("server"))
	if models.ErrorCode(err) == models.CodeConflict {
		return nil // somebody was added just now
	}
	if err != nil {
		return err
	}
	link := SetupLink(public, secret)
	if screen != nil {
		fmt.Fprintf(screen, "\nNobody can sign in yet. Open this link once to create the first user:\n\n    %s\n\n", link)
		return RemoveSetupFile(cfg.Data)
	}
	path := filepath.Join(cfg.Data, models.SetupLinkFile)
	if err := terminal.WritePrivate(path, link+"\n"); err != nil {
		return fmt.Errorf("write the setup link: %w", err)
	}
	log.WarnContext(ctx, "nobody can sign in yet: open the link in this file once to create the first user",
		slog.String("file", path))
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
			err = RemoveSetupFile(dir)
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

// RemoveSetupFile removes the file with the setup link, if there is one.
func RemoveSetupFile(dir string) error {
	err := os.Remove(filepath.Join(dir, models.SetupLinkFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the setup link's file: %w", err)
	}
	return nil
}
