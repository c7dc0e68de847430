package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"countersign/models"
)

const (
	reserveSize = 8 << 20
	// reserveSlack must be free beside the reserve before all goes on, or the disk
	// would be full again at once.
	reserveSlack = 4 << 20
)

// disk knows whether there is space. While there is none, only what must go on is
// written: see WriteAnyway.
type disk struct {
	full atomic.Bool

	mu      sync.Mutex // of the reserve
	path    string
	reserve bool // this process keeps one
}

// Full reports whether the disk is full: only WriteAnyway goes on.
func (d *DB) Full() bool { return d.disk.full.Load() }

// DiskFull is what callers hear while it is.
func DiskFull() error {
	return models.Errorf(models.CodeDiskFull,
		"Disk full: nothing new is accepted until there is space. Signing in, rejecting and cancelling still work.")
}

// noSpace gives the reserve back, once.
func (d *DB) noSpace(cause error) {
	if d.disk.full.Swap(true) {
		return
	}
	d.log.Error("disk full: only sign-ins, rejections and what ends requests are stored",
		slog.String("error", cause.Error()))
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if !d.disk.reserve {
		return
	}
	if err := os.Remove(d.disk.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Error("the reserve could not be given back", slog.String("error", err.Error()))
	}
}

// KeepReserve makes the reserve if it is not there, and has all go on once there
// is space for it. The server calls it at its start and now and then.
func (d *DB) KeepReserve(ctx context.Context) error {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	d.disk.reserve = true
	if info, err := os.Stat(d.disk.path); err == nil && info.Size() == reserveSize && !d.disk.full.Load() {
		return nil
	}
	if err := makeReserve(d.disk.path); err != nil {
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
			return err
		}
		if !d.disk.full.Swap(true) {
			d.log.ErrorContext(ctx, "disk full: there is no space for the reserve")
		}
		return nil
	}
	if d.disk.full.Swap(false) {
		d.log.InfoContext(ctx, "there is space on the disk again")
	}
	return nil
}

// makeReserve makes the file, or nothing: syscall.ENOSPC.
func makeReserve(path string) (err error) {
	var room unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &room); err != nil {
		return fmt.Errorf("look at the disk: %w", err)
	}
	if info, err := os.Stat(path); (err != nil || info.Size() != reserveSize) &&
		room.Bavail*uint64(room.Bsize) < reserveSize+reserveSlack {
		return fmt.Errorf("make the reserve: %w", syscall.ENOSPC)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the reserve: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if _, err = f.WriteAt(make([]byte, reserveSize), 0); err != nil {
		return fmt.Errorf("make the reserve: %w", err)
	}
	return nil
}
