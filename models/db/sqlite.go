package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"strconv"
	"time"

	"github.com/mattn/go-sqlite3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

const (
	driverName = "countersign-sqlite"
	readers    = 4
	// keptStatements is how many each of the readers keeps, besides those of Prepared: enough
	// for two pages.
	keptStatements = 64

	// BusyTimeout is how long a connection waits for another process, in ms.
	BusyTimeout = "10000"
)

func init() {
	sql.Register(driverName, &sqlite3.SQLiteDriver{ConnectHook: assertDurable})
}

// assertDurable refuses every connection on which a commit would not wait for
// the disk, also one that was opened again after an error.
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

// DSN names a database file as all of ours open it, with more parameters.
func DSN(path string, extra url.Values) string {
	q := url.Values{
		"_journal_mode":  {"WAL"},
		"_synchronous":   {"FULL"},
		"_busy_timeout":  {BusyTimeout},
		"_foreign_keys":  {"on"},
		"_cache_size":    {"-32000"},
		"_secure_delete": {"on"}, // removed contents are overwritten in the file
		"_mutex":         {"no"}, // database/sql gives a connection to one caller at a time
	}
	maps.Copy(q, extra)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// writeDSN begins every transaction as IMMEDIATE: a transaction that reads first
// and writes later would otherwise fail with "database is locked" at once.
func writeDSN(path string) string {
	return DSN(path, url.Values{"_txlock": {"immediate"}})
}

// readDSN keeps the statements that a connection has read: a page asks some thirty queries,
// and where they find few rows SQLite takes longer to read what they say.
func readDSN(path string) string {
	return DSN(path, url.Values{"_query_only": {"on"}, "_stmt_cache_size": {strconv.Itoa(keptStatements)}})
}

// OpenFile opens the database that a DSN names and sees that it is there.
func OpenFile(dsn string) (*sql.DB, error) {
	pool, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := pool.PingContext(context.Background()); err != nil {
		if isBusy(err) {
			err = fmt.Errorf("another process, such as `countersign move`, has it for itself: wait until that has ended (%w)", err)
		}
		return nil, errors.Join(fmt.Errorf("open database: %w", err), pool.Close())
	}
	return pool, nil
}

// isBusy reports whether another process has the file.
func isBusy(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrBusy
}

// openGORM wraps an open handle. Statements are logged without their values:
// GORM's default would print inputs and hashes.
func openGORM(dialector gorm.Dialector, log *slog.Logger) (*gorm.DB, error) {
	quiet := logger.NewSlogLogger(log, logger.Config{
		SlowThreshold: time.Second, LogLevel: logger.Warn, IgnoreRecordNotFoundError: true, ParameterizedQueries: true,
	})
	g, err := gorm.Open(dialector,
		&gorm.Config{SkipDefaultTransaction: true, NamingStrategy: Names, Logger: quiet})
	if err != nil {
		return nil, fmt.Errorf("open gorm: %w", err)
	}
	return g, nil
}
