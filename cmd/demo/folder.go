package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/runs"
	"countersign/models/store"
)

// demoMarker is the file by which a demo knows its own folder: it sets a password there, which must not happen to real
// data.
const demoMarker = ".countersign-demo"

// demoPolicy makes the tour worth looking at: one call of each risk, of which the
// riskiest can be taken back for a moment.
const demoPolicy = `{
  "undo_seconds": {"high": 6},
  "rules": [
    {"name": "payments", "tools": ["/^payment\\./"], "effect": "require", "risk": "high", "timeout_minutes": 10,
     "reason": "Money leaves the account.",
     "reject_reasons": ["The amount is wrong", "Not this receiver", "Ask me again on Friday"]},
    {"name": "shell", "tools": ["/^shell\\./"], "effect": "require", "risk": "medium", "timeout_minutes": 5,
     "reason": "A command can do anything that the agent's account can."},
    {"name": "files", "tools": ["file.edit"], "effect": "require", "risk": "low", "timeout_minutes": 10,
     "reason": "The shop serves this file as soon as it is written."}
  ]
}`

// demoFolder is the data folder of a demo, held while it runs.
type demoFolder struct {
	marker *os.File
	fresh  bool
}

// openDemoFolder makes the folder, or takes one that a demo made; any other is
// refused, and so is one in which a demo runs.
func openDemoFolder(dir string) (*demoFolder, error) {
	path := filepath.Join(dir, demoMarker)
	fresh := false
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		fresh = true
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look at the demo's folder: %w", err)
		}
		if len(entries) > 0 {
			return nil, fmt.Errorf("%s was not made by a demo, and a demo would set a password in it: name another folder with --data, or start `countersign serve`", dir)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the demo's folder: %w", err)
		}
	}
	marker, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mark the demo's folder: %w", err)
	}
	if err := unix.Flock(int(marker.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("a demo is already running in %s: stop it, or name another folder with --data",
			dir), marker.Close())
	}
	return &demoFolder{marker: marker, fresh: fresh}, nil
}

// Close lets another demo have the folder.
func (f *demoFolder) Close() error { return f.marker.Close() }

// people gives the folder its admin, under a new password, and the agent a new
// token, and a fresh folder the demo's policy.
func (f *demoFolder) people(
	ctx context.Context, cfg config.Config, log *slog.Logger, password string,
) (token string, err error) {
	s, err := data.Open(ctx, cfg, log)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	actor := data.Operator()
	admin, err := s.People.UserByEmail(ctx, actor, demoEmail)
	switch {
	case err == nil:
		err = s.People.SetPassword(ctx, actor, admin.ID, password)
	case models.ErrorCode(err) == models.CodeNotFound:
		admin, err = addAdmin(ctx, s, password)
	}
	if err != nil {
		return "", err
	}
	if f.fresh {
		if _, err := s.ApplyPolicy(ctx, actor, []byte(demoPolicy), "What the demo shows.", 0); err != nil {
			return "", err
		}
		if err := beginTour(ctx, s, admin); err != nil {
			return "", err
		}
	}
	token, _, err = s.People.AddToken(ctx, actor,
		people.NewToken{Scope: models.ScopeAgent, Agent: demoAgent, UserID: admin.ID})
	return token, err
}

// addAdmin adds the demo's admin, to an empty database: PostgreSQL's may be anybody's.
func addAdmin(ctx context.Context, s *store.Store, password string) (*models.User, error) {
	if used, err := s.People.HasUsers(ctx); used || err != nil {
		return nil, cmp.Or(err, errors.New("the database was not made by a demo, and a demo would add an admin to it: "+
			"name an empty one with --database-url, or start `countersign serve`"))
	}
	return s.People.AddUser(ctx, data.Operator(),
		people.NewUser{Email: demoEmail, Name: "Demo admin", Role: models.RoleAdmin, Password: password})
}

// beginTour has the admin say something to the built-in agent, so that the page
// of conversations has one to open.
func beginTour(ctx context.Context, s *store.Store, admin *models.User) error {
	person := models.Actor{Kind: models.ActorUser, ID: string(admin.ID), Name: admin.Name, OwnerID: admin.ID}
	_, err := runs.New(s).Say(ctx, person, models.MessageInput{Content: "Hello! Show me what you can do."})
	return err
}
