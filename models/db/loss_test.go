package db_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
)

// cutOff is a database behind a proxy, and a write that counts how often it runs.
type cutOff struct {
	*db.DB

	proxy *dbtest.Proxy
	runs  int
}

func newCutOff(t *testing.T, patience time.Duration) *cutOff {
	t.Helper()
	if !dbtest.OnPostgres() {
		t.Skip("only PostgreSQL has a connection that can be lost")
	}
	dir := filepath.Join(t.TempDir(), "data")
	c := &cutOff{proxy: dbtest.NewProxy(t, dbtest.URL(t, dir))}
	var err error
	if c.DB, err = db.Open(t.Context(), db.Options{Dir: dir, URL: c.proxy.URL(), Patience: patience}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// take stores a row of the name.
func (c *cutOff) take(t *testing.T, name string) error {
	t.Helper()
	c.runs = 0
	return c.Write(t.Context(), func(tx *db.Tx) error {
		c.runs++
		_, err := tx.ExecContext(t.Context(), `INSERT INTO leases (name, number, holder, until) VALUES (?, 1, 'h', ?)`, name, tx.Now)
		return err
	})
}

func (c *cutOff) rows(t *testing.T, name string) (n int) {
	t.Helper()
	if err := c.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM leases WHERE name = ?`, name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A batch is stored once, wherever the connection is lost.
func TestALostConnectionIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	c := newCutOff(t, 0)
	for name, cut := range map[string]struct {
		at   dbtest.Cut
		runs int
	}{
		"first":             {dbtest.Nowhere, 1},
		"before the COMMIT": {dbtest.BeforeCommit, 2},
		"after the COMMIT":  {dbtest.AfterCommit, 1},
	} {
		c.proxy.Cut(cut.at)
		if err := c.take(t, name); err != nil || c.runs != cut.runs {
			t.Errorf("%s: %v, after %d runs; want %d", name, err, c.runs, cut.runs)
		}
		if n := c.rows(t, name); n != 1 {
			t.Errorf("%s: there are %d rows", name, n)
		}
	}
	c.proxy.Down(true)
	c.proxy.Down(false)
	if err := c.take(t, "after a restart"); err != nil || c.rows(t, "after a restart") != 1 {
		t.Errorf("after a restart: %v", err)
	}
}

// Where the server does not come back, callers hear that they may ask again, and whether what they asked for may have
// been stored; afterwards nobody waits until it is back.
func TestAServerThatIsGoneIsSaid(t *testing.T) {
	t.Parallel()
	c := newCutOff(t, time.Nanosecond)
	if err := c.take(t, "first"); err != nil {
		t.Fatal(err)
	}
	c.proxy.Cut(dbtest.AfterCommit)
	said := c.take(t, "unknown")
	if models.ErrorCode(said) != models.CodeUnavailable || !strings.Contains(said.Error(), "not known whether") {
		t.Errorf("a COMMIT without an answer: %v", said)
	}
	c.proxy.Down(true)
	said = c.take(t, "gone")
	if models.ErrorCode(said) != models.CodeUnavailable || c.runs != 0 {
		t.Errorf("without a server: %v, after %d runs", said, c.runs)
	}
	var n int
	if err := c.Reads().QueryRowContext(t.Context(), `SELECT count(*) FROM leases`).Scan(&n); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("a reader, without a server: %v", err)
	}
	c.proxy.Down(false)
	if err := c.take(t, "back"); err != nil {
		t.Errorf("with the server back: %v", err)
	}
	for name, want := range map[string]int{"unknown": 1, "gone": 0, "back": 1} {
		if n := c.rows(t, name); n != want {
			t.Errorf("%s: %d rows, want %d", name, n, want)
		}
	}
}

// A reader whose rows break off is not told that these were all, and may ask again.
func TestAConnectionLostBetweenTwoRowsIsSaid(t *testing.T) {
	t.Parallel()
	c := newCutOff(t, 0)
	rows, err := c.Reads().QueryContext(t.Context(), `SELECT n FROM generate_series(1, 10000000) AS of(n)`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	c.proxy.Down(true)
	for rows.Next() {
	}
	if err := rows.Err(); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("rows that break off: %v", err)
	}
}
