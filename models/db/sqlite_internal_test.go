package db

import (
	"strconv"
	"testing"

	"github.com/mattn/go-sqlite3"
)

// What a reading connection was asked before it does not read again, also of a query that
// nobody has prepared; and it keeps few.
func TestReadingConnectionsKeepStatements(t *testing.T) {
	t.Parallel()
	d, _ := openTemp(t, Options{})
	conn, err := d.r.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := 0 // how often SQLite has asked, as it does while it reads a statement
	err = conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).RegisterAuthorizer(func(int, string, string, string) int {
			read++
			return sqlite3.SQLITE_OK
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	reads := func(query string) bool {
		t.Helper()
		before, got := read, 0
		if err := conn.QueryRowContext(t.Context(), query+` + ?`, 1).Scan(&got); err != nil || got != 4 {
			t.Fatalf("%s: %d, %v", query, got, err)
		}
		return read > before
	}
	if !reads(`SELECT 3`) || reads(`SELECT 3`) {
		t.Error("the second time it was read again, or the first time it was not seen")
	}
	for i := range keptStatements {
		reads(`SELECT ` + strconv.Itoa(i) + ` - ` + strconv.Itoa(i-3))
	}
	if !reads(`SELECT 3`) {
		t.Errorf("it is kept behind %d others", keptStatements)
	}
}
