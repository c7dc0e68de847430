package db

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// SQLite's locks on a database file: each process that has it open holds some of the shared bytes.
const (
	sharedFirst = 0x40000002
	sharedSize  = 510
)

// ErrFileInUse is that another process has the database file open.
var ErrFileInUse = errors.New("the database is in use")

// LockFile keeps other processes off a database file until it is closed; nil
// where there is none, or an empty one. It asks the operating system and not SQLite,
// for the file may be damaged: that is when backups are needed.
func LockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the existing database: %w", err)
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
		return nil, errors.Join(ErrFileInUse, f.Close())
	}
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
