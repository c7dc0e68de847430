package db

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"countersign/models"
)

// holderPrefix begins the name of a process of which a lock tells whether it lives.
const holderPrefix = "lock-"

// holder is this process's lock on one byte of a file, which the system gives back when it ends.
type holder struct {
	mu   sync.Mutex
	file *os.File
	name string
}

// Holder names this process among those on the database, as holder of leases: a lock says as
// long as it lives that it does.
func (d *DB) Holder() (string, error) {
	d.holder.mu.Lock()
	defer d.holder.mu.Unlock()
	if d.holder.name == "" && d.opts.URL != "" {
		d.holder.name = models.NewID[string]() // other machines don't see this one's locks: its leases end by their time
	}
	if d.holder.name != "" {
		return d.holder.name, nil
	}
	f, err := os.OpenFile(d.holders(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("name this process: %w", err)
	}
	at := rand.Int64N(1 << 62) //nolint:gosec // it tells processes apart and guards nothing
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		return "", errors.Join(fmt.Errorf("name this process: %w", err), f.Close())
	}
	d.holder.file, d.holder.name = f, holderPrefix+strconv.FormatInt(at, 16)
	return d.holder.name, nil
}

// HolderGone reports whether the process of that name has ended. It is false for a name that
// no lock belongs to, as that of an older program.
func (d *DB) HolderGone(name string) bool {
	digits, ok := strings.CutPrefix(name, holderPrefix)
	at, err := strconv.ParseInt(digits, 16, 64)
	if !ok || err != nil {
		return false
	}
	f, err := os.OpenFile(d.holders(), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type == unix.F_UNLCK
}

func (d *DB) holders() string { return filepath.Join(d.opts.Dir, models.HoldersFile) }

// close gives the lock back.
func (h *holder) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		return nil
	}
	err := h.file.Close()
	h.file, h.name = nil, ""
	return err
}
