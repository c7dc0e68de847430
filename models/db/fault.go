package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

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
	f := d.faultOf(err)
	if f == nil {
		return err
	}
	d.faults.mu.Lock()
	defer d.faults.mu.Unlock()
	now := d.clock.Now()
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

const unwritableText = "The database cannot be written now; ask again later. The server's log says why."

// faultOf is the fault that an error is; nil: it is about the request.
func (d *DB) faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	return d.engine.fault(err)
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

// samePlace refuses to go on where a name leads to another file than the one that is open.
func samePlace(path string, open fileID) error {
	if id, err := idOf(path); err != nil || id != open {
		return &fault{movedText, err}
	}
	return nil
}
