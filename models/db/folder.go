package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"countersign/models"
)

// prepareDir makes the data folder, and the database file if it is to have one, with narrow modes, or
// refuses a folder that others may read.
func prepareDir(dir string, file bool) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder given")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make data folder: %w", err)
	}
	if !file {
		return filepath.Join(dir, models.DatabaseFile), errors.Join(FolderMode(dir), FileModes(dir))
	}
	return checkModes(dir)
}

// checkModes refuses a data folder or database that others may read.
func checkModes(dir string) (string, error) {
	if err := FolderMode(dir); err != nil {
		return "", err
	}
	path := filepath.Join(dir, models.DatabaseFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	return path, FileModes(dir)
}

// FolderMode refuses a data folder that others may read.
func FolderMode(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at data folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data folder %s is not a folder", dir)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("data folder %s may be read by others (mode %04o): run chmod 700 on it", dir, mode)
	}
	return nil
}

// FileModes refuses files of the data folder that others may read; files that are not
// ours are left alone.
func FileModes(dir string) error {
	for _, name := range []string{
		models.DatabaseFile, models.DatabaseFile + "-wal", models.DatabaseFile + "-shm", models.DatabaseFile + models.HeadEnd,
		models.SetupLinkFile, models.AddressFile, models.KeyFile, models.PushKeyFile, models.ReserveFile,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			return fmt.Errorf("%s in the data folder may be read by others (mode %04o): run chmod 600 on it", name, mode)
		}
	}
	return nil
}

// OwnAsFolder gives a new file the owner of its folder. That takes root, who would otherwise leave
// files that the server can't open.
func OwnAsFolder(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return f.Chown(int(st.Uid), int(st.Gid))
	}
	return nil
}
