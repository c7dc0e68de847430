package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// RestoreResult says what Restore did.
type RestoreResult struct {
	Verified
	Aside string // where the previous database was moved; empty if there was none
}

// Restore puts a verified copy of a backup into a data folder, as its database. It
// refuses to replace a database, or with force moves it aside; no process may use it.
// If the copy cannot be finished, the previous database stays.
func Restore(ctx context.Context, file, dir string, force bool, now time.Time) (done RestoreResult, err error) {
	if done.Verified, err = VerifyFile(ctx, file); err != nil {
		return done, fmt.Errorf("%s cannot be restored: %w", file, err)
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path := filepath.Join(dir, models.DatabaseFile)
	lock, err := lockDatabase(path)
	if err != nil {
		return done, err
	}
	if lock != nil {
		defer lock.Close()
		if !force {
			return done, fmt.Errorf("%s contains a database: give --force to move it aside, or name an empty folder", dir)
		}
	}
	part, err := copyInto(file, dir)
	if err != nil {
		return done, fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	again, err := VerifyFile(ctx, part)
	if err != nil {
		return done, fmt.Errorf("the copy is damaged: %w", err)
	}
	if again.Head.String() != done.Head.String() {
		return done, errors.New("the backup changed while it was read: try again")
	}
	if lock != nil {
		if done.Aside, err = moveAside(path, now); err != nil {
			return done, fmt.Errorf("move the database aside: %w", err)
		}
	}
	if err := settle(part, path); err != nil {
		return done, errors.Join(fmt.Errorf("restore: %w", err), moveBack(done.Aside, path))
	}
	return done, ledger.WriteKept(path, models.KeptHead{Head: done.Head, At: now})
}

// lockFolder makes the folder and keeps servers from opening its database, as a
// migration does.
func lockFolder(dir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	if err := db.FolderMode(dir); err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(inUse(dir), lock.Close())
	}
	return lock.Close, nil
}

// lockDatabase keeps other processes off a database file until it is closed; nil
// where there is none, or an empty one.
func lockDatabase(path string) (*os.File, error) {
	f, err := db.LockFile(path)
	if errors.Is(err, db.ErrInUse) {
		return nil, inUse(filepath.Dir(path))
	}
	return f, err
}

func inUse(dir string) error {
	return fmt.Errorf("a server or another command is using %s: stop it first", dir)
}

// copyInto copies a backup into the folder under a name of its own.
func copyInto(file, dir string) (part string, err error) {
	from, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(dir, ".restore-*") // mode 0600
	if err != nil {
		return "", err
	}
	if err = db.OwnAsFolder(to); err == nil {
		_, err = io.Copy(to, from)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return "", errors.Join(err, os.Remove(to.Name()))
	}
	return to.Name(), nil
}

// beside are the files that belong to a database: the last is always there, the others where
// it was not closed cleanly.
var beside = [...]string{"", "-wal", "-shm", models.HeadEnd}

// moveAside renames a database with what belongs to it, under a name that says
// when, and that was not in use.
func moveAside(path string, now time.Time) (string, error) {
	aside := path + ".before-" + now.UTC().Format("20060102T150405.000000Z")
	if _, err := os.Lstat(aside); err == nil {
		return "", fmt.Errorf("%s already exists", aside)
	}
	return aside, moveAll(path, aside)
}

func moveBack(aside, path string) error {
	if aside == "" {
		return nil
	}
	return moveAll(aside, path)
}

func moveAll(from, to string) error {
	for _, end := range beside {
		if err := os.Rename(from+end, to+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
