package web

import "time"

// In tests no stream looks by chance whether anything has changed.
func init() { keepAliveEvery = time.Hour }

// TableRow is one row of the table of routes, for the tests.
type TableRow struct {
	Method, Path  string
	Person, Admin bool // what it asks for
}

// Table is the table of routes.
func (s *Site) Table() []TableRow {
	var out []TableRow
	for _, r := range s.table() {
		out = append(out, TableRow{Method: r.method, Path: r.path, Person: r.right != anyone, Admin: r.right == admin})
	}
	return out
}
