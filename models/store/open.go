package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"
	"golang.org/x/sys/unix"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"countersign/migrations"
)

// FileName is the database inside the data folder.
const FileName = "countersign.db"

// SetupLinkFile holds the one-time setup link where there is no terminal.
const SetupLinkFile = "setup-link"

const (
	driverName  = "countersign-sqlite"
	readers     = 4
	busyTimeout = "10000" // ms
)

func init() {
	sql.Register(driverName, &sqlite3.SQLiteDriver{ConnectHook: assertDurable})
}

// assertDurable refuses every connection on which a commit would not wait for
// the disk, also one that was opened anew after an error.
func assertDurable(c *sqlite3.SQLiteConn) error {
	// Statements with triggers keep an undo journal of their own; in memory it
	// costs no file.
	if _, err := c.Exec("PRAGMA temp_store = MEMORY", nil); err != nil {
		return fmt.Errorf("set temp_store: %w", err)
	}
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1"} {
		got, err := pragmaOf(c, pragma)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("connection has %s = %s, want %s", pragma, got, want)
		}
	}
	return nil
}

func pragmaOf(c *sqlite3.SQLiteConn, name string) (string, error) {
	rows, err := c.Query("PRAGMA "+name, nil)
	if err != nil {
		return "", fmt.Errorf("read pragma %s: %w", name, err)
	}
	dest := make([]driver.Value, 1)
	err = rows.Next(dest)
	if err = errors.Join(err, rows.Close()); err != nil {
		return "", fmt.Errorf("read pragma %s: %w", name, err)
	}
	return fmt.Sprint(dest[0]), nil
}

func dsn(path string, extra url.Values) string {
	q := url.Values{
		"_journal_mode":  {"WAL"},
		"_synchronous":   {"FULL"},
		"_busy_timeout":  {busyTimeout},
		"_foreign_keys":  {"on"},
		"_cache_size":    {"-32000"},
		"_secure_delete": {"on"}, // what is removed is overwritten in the file
		"_mutex":         {"no"}, // database/sql gives a connection to one caller at a time
	}
	maps.Copy(q, extra)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// writeDSN begins every transaction as IMMEDIATE: a transaction that reads first
// and writes later would otherwise fail with "database is locked" at once.
func writeDSN(path string) string { return dsn(path, url.Values{"_txlock": {"immediate"}}) }

func readDSN(path string) string { return dsn(path, url.Values{"_query_only": {"on"}}) }

func openDatabase(dsn string) (*sql.DB, error) {
	db, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := db.PingContext(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), db.Close())
	}
	return db, nil
}

// openGORM wraps an open handle. Statements are logged without their values:
// GORM's default would print inputs and hashes.
func openGORM(db *sql.DB, log *slog.Logger) (*gorm.DB, error) {
	quiet := logger.NewSlogLogger(log, logger.Config{
		SlowThreshold: time.Second, LogLevel: logger.Warn, IgnoreRecordNotFoundError: true, ParameterizedQueries: true,
	})
	g, err := gorm.Open(sqlite.New(sqlite.Config{Conn: db}), &gorm.Config{SkipDefaultTransaction: true, NamingStrategy: naming, Logger: quiet})
	if err != nil {
		return nil, fmt.Errorf("open gorm: %w", err)
	}
	return g, nil
}

// migrate brings the schema up to date. SQLite has no lock for that in goose, so
// a lock on the data folder keeps two processes apart.
func migrate(ctx context.Context, path string) (err error) {
	lock, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("lock for migration: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock for migration: %w", err)
	}
	db, err := openDatabase(writeDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	files, err := fs.Sub(migrations.SQLite, "sqlite")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	// What a newer program wrote may mean something else than this one thinks.
	has, knows, err := schemaOf(ctx, db)
	if err == nil && has > knows {
		err = fmt.Errorf("the database has schema %d, and this program knows %d: run the newer one that wrote it", has, knows)
	}
	return err
}

// checkModes refuses a data folder or database that others may read; files that
// are not ours are left alone.
func checkModes(dir string) (string, error) {
	if err := folderMode(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, FileName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	return path, fileModes(dir)
}

func folderMode(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at data folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data folder %s is not a folder", dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("data folder %s may be read by others (mode %04o): run chmod 700 on it", dir, mode)
	}
	return nil
}

func fileModes(dir string) error {
	for _, name := range []string{FileName, FileName + "-wal", FileName + "-shm", SetupLinkFile, KeyFile, ReserveFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			return fmt.Errorf("%s in the data folder may be read by others (mode %04o): run chmod 600 on it", name, mode)
		}
	}
	return nil
}
