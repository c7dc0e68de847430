package store

import (
	"os"
	"path/filepath"
	"testing"

	"countersign/models"
)

func openTemp(t *testing.T, opts Options) *Store {
	t.Helper()
	opts.Dir = filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestACleanStopLeavesOneFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != models.DatabaseFile {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
