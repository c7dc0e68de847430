package web_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // to read the file beside the store
)

// dump is all that is stored, but for bookkeeping: when a session was last seen.
func (w *world) dump() string {
	w.tb.Helper()
	db, err := sql.Open("sqlite3", "file:"+w.store.Path()+"?mode=ro")
	if err != nil {
		w.tb.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	for _, table := range w.column(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
		columns := w.column(db, fmt.Sprintf("SELECT name FROM pragma_table_info('%s')", table))
		columns = slices.DeleteFunc(columns, func(c string) bool { return strings.HasPrefix(c, "last_") })
		if len(columns) == 0 {
			continue
		}
		rows := w.column(db, fmt.Sprintf("SELECT quote(%s) FROM %q ORDER BY 1", strings.Join(columns, ") || ' ' || quote("), table))
		fmt.Fprintf(&out, "%s\n%s\n", table, strings.Join(rows, "\n"))
	}
	return out.String()
}

func (w *world) column(db *sql.DB, query string) []string {
	w.tb.Helper()
	rows, err := db.QueryContext(w.tb.Context(), query)
	if err != nil {
		w.tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			w.tb.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		w.tb.Fatal(err)
	}
	return out
}

// TestI15ReadingChangesNothing gets every address there is, also with a verdict
// in the query, and finds the database as it was.
func TestI15ReadingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, q, token := w.ask(), w.ask(question), w.ownToken()
	people := []*person{w.visitor(), w.signedIn(ownerEmail), w.signedIn("admin@example.com")}
	before := w.dump()
	if !strings.Contains(before, string(a.ID)) || !strings.Contains(before, "ledger\n") {
		t.Fatalf("the dump lacks what was asked: %.300s", before)
	}
	var paths []string
	for _, route := range w.site.Routes() {
		if route.Method != http.MethodGet && route.Method != http.MethodPost || route.Path == "/events" || strings.Contains(route.Path, "*") {
			continue
		}
		path := w.filled(route, a, token)
		paths = append(paths, path, path+"?verdict=approve&digest="+a.Digest+"&scope=agent&agent=x&step=save&base_version=1"+
			"&email="+ownerEmail+"&password=x&option=eu&_method=POST")
	}
	paths = append(paths, pageOf(q), "/?conversation="+string(a.ConversationID))
	for _, path := range paths {
		for _, p := range people {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				p.send(method, path, nil, header{"X-HTTP-Method-Override", "POST"})
				p.send(method, path, nil, htmx)
			}
		}
	}
	if after := w.dump(); after != before {
		t.Errorf("reading changed what is stored:\n%s\n---\n%s", before, after)
	}
}
