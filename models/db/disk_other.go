//go:build !linux

package db

import "os"

// allocate gives a file so many bytes of the disk.
func allocate(f *os.File, size int64) error { return fill(f, size) }
