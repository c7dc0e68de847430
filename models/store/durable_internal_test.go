package store

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
)

// openTemp opens a store that is closed with the test, in a folder of its own if opts
// names none.
func openTemp(tb testing.TB, opts Options) *Store {
	tb.Helper()
	opts.Dir = cmp.Or(opts.Dir, filepath.Join(tb.TempDir(), "data"))
	opts.URL = dbtest.Migrate(tb, opts.Dir)
	s, err := Open(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func TestACleanStopLeavesOneFile(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its file")
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
	files = slices.DeleteFunc(files, func(e os.DirEntry) bool { return e.Name() == models.DatabaseFile+models.HeadEnd })
	if err != nil || len(files) != 1 || files[0].Name() != models.DatabaseFile {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
