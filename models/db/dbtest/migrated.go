package dbtest

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"countersign/models"
	"countersign/models/db"
)

// Migrate puts an empty database with this program's schema into a folder that has
// none, so that it need not be migrated there: that is nearly all the time that
// opening a fresh one takes. Tests of migrations leave it out. On PostgreSQL it returns the address of the folder's
// database.
func Migrate(tb testing.TB, dir string) (url string) {
	tb.Helper()
	if OnPostgres() {
		return address(tb, dir)
	}
	file := filepath.Join(dir, models.DatabaseFile)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	empty, err := migrated()
	if err == nil {
		err = os.MkdirAll(dir, 0o700) // as db.Open does
	}
	if err == nil {
		err = os.WriteFile(file, empty, 0o600)
	}
	if err != nil {
		tb.Fatalf("make a migrated database: %v", err)
	}
	return ""
}

// Copy gives a data folder a copy of the database of another, and of its key. On PostgreSQL it returns the copy's
// address, and ends all connections to the original.
func Copy(tb testing.TB, from, to string) (url string) {
	tb.Helper()
	if OnPostgres() {
		url = made(tb, to, from)
	} else {
		file := filepath.Join(to, models.DatabaseFile)
		_, err := Beside(tb, filepath.Join(from, models.DatabaseFile)).ExecContext(tb.Context(), `VACUUM INTO ?`, file)
		must(tb, err)
		must(tb, os.Chmod(file, 0o600))
	}
	raw, err := os.ReadFile(filepath.Join(from, models.KeyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, models.KeyFile), raw, 0o600) //nolint:gosec // folders of tests
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatalf("copy a database: %v", err)
	}
	return url
}

// migrated is the file that Migrate puts there, made once.
var migrated = sync.OnceValues(func() (_ []byte, err error) {
	parent, err := os.MkdirTemp("", "migrated")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(parent)) }()
	dir := filepath.Join(parent, "data")
	d, err := db.Open(context.Background(), db.Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil { // closed, it is one file
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, models.DatabaseFile))
})
