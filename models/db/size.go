package db

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Sizes are how many bytes the database and its log take, and how many are free on their disk.
func (d *DB) Sizes() (database, log int64, free uint64, err error) {
	for end, size := range map[string]*int64{"": &database, "-wal": &log} {
		info, err := os.Stat(d.path + end)
		if err != nil {
			return 0, 0, 0, fmt.Errorf("look at the database: %w", err)
		}
		*size = info.Size()
	}
	var room unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(d.path), &room); err != nil {
		return 0, 0, 0, fmt.Errorf("look at the disk: %w", err)
	}
	return database, log, room.Bavail * uint64(room.Bsize), nil
}
