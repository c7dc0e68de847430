package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"countersign/models"
)

// faultAgain is how often a fault that lasts is logged.
const faultAgain = time.Minute

// fault is why nothing can be written, whatever it is: the text is for people.
type fault struct {
	text string
	err  error
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.err }

// faults remembers the last one, until a commit succeeds.
type faults struct {
	mu      sync.Mutex
	last    *fault
	lastLog time.Time
}

// Failing is why the last commit failed; nil if it succeeded, or failed because of its own request.
func (d *DB) Failing() error {
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	if d.faults.last == nil {
		return nil
	}
	return d.faults.last
}

// answer is what a caller hears of an error: of a fault only that the server can't write
// now. The log has the cause, at once and each minute while it lasts.
func (d *DB) answer(ctx context.Context, err error) error {
	f := faultOf(err)
	if f == nil {
		return err
	}
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	now := d.opts.Now()
	if since := now.Sub(d.faults.lastLog); d.faults.last == nil || since < 0 || since >= faultAgain {
		d.faults.lastLog = now
		d.log.ErrorContext(ctx, "NOTHING CAN BE WRITTEN: all that would change anything is refused.",
			slog.String("why", f.text),
			slog.String("file", d.path), slog.String("error", fmt.Sprint(f.err)))
	}
	d.faults.last = f
	return models.Errorf(models.CodeUnavailable, "%s", f.text)
}

// committed forgets the fault: something was written.
func (f *faults) committed(log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != nil {
		f.last = nil
		log.Info("the database can be written again")
	}
}

// faultOf is the fault that an error is; nil: it is about the request.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return nil
	}
	switch e.Code {
	case sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrCorrupt, sqlite3.ErrNotADB,
		sqlite3.ErrPerm, sqlite3.ErrFull:
		return &fault{"The database cannot be written now; ask again later. The server's log says why.", err}
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return &fault{"Another process keeps the database from being written; ask again.", err}
	default:
		return nil
	}
}

// fileID tells one file from another of the same name.
type fileID struct{ device, inode uint64 }

func idOf(path string) (fileID, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return fileID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID{uint64(s.Dev), s.Ino}, nil //nolint:unconvert // the type differs between systems
}

const movedText = "The database file was moved or replaced under the running server: put it back, " +
	"or stop the server and restore a backup."

// checkFile refuses to go on where the database's name leads to another file than the one that is open: later writes
// would be lost.
func (d *DB) checkFile() error {
	if id, err := idOf(d.path); err != nil || id != d.file {
		return &fault{movedText, err}
	}
	return nil
}

// checkLog is checkFile of the write-ahead log. It is there as long as w is open.
func (d *DB) checkLog(w *writer) error {
	id, err := idOf(d.path + "-wal")
	if err == nil && w.log == (fileID{}) {
		w.log = id
	}
	if err != nil || id != w.log {
		return &fault{movedText, err}
	}
	return nil
}
