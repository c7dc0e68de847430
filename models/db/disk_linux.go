package db

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a file so many bytes of the disk.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fill(f, size)
	}
	return err
}
