//go:build !linux

package store

import "os"

// allocate gives a file so many bytes of the disk.
func allocate(f *os.File, size int64) error { return fill(f, size) }
