package web_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

const olderPages = "testdata/0024.txt"

// TestUpgradeShowsTheSamePages opens a database of schema 24, with all kinds of rows,
// and compares what each page says with what the program said that made it. A line is a
// page: who reads it, its path, and the text of its main part. Whoever words a page anew
// changes its lines, and nothing else in them.
func TestUpgradeShowsTheSamePages(t *testing.T) {
	t.Parallel()
	w := olderWorld(t)
	f, err := os.Open(olderPages)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	readers := map[string]*person{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	pages := 0
	for ; lines.Scan(); pages++ {
		who, rest, _ := strings.Cut(lines.Text(), " ")
		path, want, ok := strings.Cut(rest, " ")
		if !ok {
			t.Fatalf("line %d has no path or no text", pages+1)
		}
		if readers[who] == nil {
			readers[who] = w.signedIn(who)
		}
		if got := readers[who].get(path).is(200).text("main"); got != want {
			t.Errorf("%s reads on %s\n%s\nand read\n%s", who, path, got, want)
		}
	}
	if err := lines.Err(); err != nil || pages < 40 {
		t.Errorf("%d pages, %v", pages, err)
	}
}

// olderWorld is the pages over the database of an older version.
func olderWorld(t *testing.T) *world {
	t.Helper()
	dump, err := os.ReadFile("../../models/store/testdata/0024.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir := storetest.Dir(t)
	file := filepath.Join(dir, models.DatabaseFile)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	storetest.PlantFile(t, file, string(dump))
	w := emptyWorld(t, 0, storetest.WithDir(dir))
	w.clock.Step(2 * time.Hour) // after its last row
	return w
}
