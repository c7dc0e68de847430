package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"countersign/models"
	"countersign/models/db"
)

// Backup writes all that is committed now, as one moment saw it, into a new
// file of mode 0600, beside a running server and without holding it up. The
// file is verified before it gets its name, and never replaces another. The
// head is that of the copied ledger.
func Backup(ctx context.Context, dir, file string) (head models.Head, err error) {
	source, err := databaseIn(dir)
	if err != nil {
		return models.Head{}, err
	}
	// The name is taken first: of two backups to one name, one is refused.
	if err := reserve(file); err != nil {
		return models.Head{}, err
	}
	part, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*") // mode 0600
	if err != nil {
		return models.Head{}, errors.Join(fmt.Errorf("write backup: %w", err), os.Remove(file))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()), os.Remove(file))
		}
	}()
	if err := errors.Join(part.Close(), db.CopyInto(ctx, source, part.Name())); err != nil {
		return models.Head{}, fmt.Errorf("write backup: %w", err)
	}
	found, err := VerifyFile(ctx, part.Name())
	if err != nil {
		return models.Head{}, fmt.Errorf("the copy is damaged, and was not kept: %w", err)
	}
	if err := settle(part.Name(), file); err != nil {
		return models.Head{}, fmt.Errorf("write backup: %w", err)
	}
	noteBackup(dir)
	return found.Head, nil
}

// noteBackup keeps when a backup was made, for who watches the server. It is no harm if that
// can't be kept, as on a read-only volume.
func noteBackup(dir string) {
	if f, err := os.CreateTemp(dir, "."+models.BackupFile+"-*"); err == nil {
		if err := errors.Join(db.OwnAsFolder(f), f.Close(),
			os.Rename(f.Name(), filepath.Join(dir, models.BackupFile))); err != nil {
			_ = os.Remove(f.Name())
		}
	}
}

// HasData tells, by an error that says what to do, that a folder holds no database.
// It makes nothing.
func HasData(dir string) error {
	_, err := databaseIn(dir)
	return err
}

// databaseIn is the database file of a data folder, which must be there: what
// only reads does not make an empty one.
func databaseIn(dir string) (string, error) {
	path := filepath.Join(dir, models.DatabaseFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return "", fmt.Errorf("no Countersign data in %s; use --data", dir)
	}
	if err != nil {
		return "", fmt.Errorf("look for the database: %w", err)
	}
	return path, nil
}

// reserve makes an empty file that was not there before.
func reserve(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: name a new file", file)
	}
	if err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return f.Close()
}

// settle gives a finished file its name, on the disk when it returns.
func settle(part, file string) error {
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, file); err != nil {
		return err
	}
	return syncFile(filepath.Dir(file))
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
