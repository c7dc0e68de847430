package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// temporary is where SQLite keeps its temporary files, for the whole process: the first
// data folder that it opens.
var temporary struct {
	mu  sync.Mutex
	dir string
}

// TempIn has SQLite keep its temporary files in a data folder. Sorting for an index, a migration and VACUUM need such
// files, and a container has no other folder for them. They hold rows as the database does, so they belong where others
// can't read. A folder that can't be written stays unchanged: a reader needs no such file.
func TempIn(ctx context.Context, dir string) (err error) {
	temporary.mu.Lock()
	defer temporary.mu.Unlock()
	if temporary.dir != "" {
		return nil
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		if errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	quote := "'" + strings.ReplaceAll(dir, "'", "''") + "'"
	if _, err := pool.ExecContext(ctx, `PRAGMA temp_store_directory = `+quote); err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	temporary.dir = dir
	return nil
}
