package terminal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WritePrivate replaces a file by one that only its owner may read, in one step.
func WritePrivate(path, content string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// ReadFile reads a file, or standard input for "-", and a byte more than most at most.
func ReadFile(stdin io.Reader, path string, most int64) ([]byte, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, most+1))
}
