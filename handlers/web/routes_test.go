package web_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/views"
	"countersign/views/gallery"
)

// TestTheTableIsAllThereIs: the router has every row of the table and nothing that is
// not in it, with the gallery and without.
func TestTheTableIsAllThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, site := range map[string]*web.Site{
		"as served": w.site,
		"with the gallery": func() *web.Site {
			s := web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.store.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}, w.store, web.Options{Gallery: gallery.Pages{}})
			t.Cleanup(s.Stop)
			return s
		}(),
	} {
		var rows, routes []string
		for _, row := range site.Table() {
			rows = append(rows, row.Method+" "+row.Path)
		}
		for _, r := range site.Routes() {
			routes = append(routes, r.Method+" "+r.Path)
		}
		slices.Sort(rows)
		slices.Sort(routes)
		if !slices.Equal(rows, routes) {
			t.Errorf("%s: the table has\n%s\nthe router has\n%s", name, strings.Join(rows, "\n"), strings.Join(routes, "\n"))
		}
		if len(slices.Compact(rows)) != len(site.Table()) {
			t.Errorf("%s: a row is in the table twice", name)
		}
		if gallery := slices.Contains(rows, "GET "+views.GalleryURL()); gallery != (name == "with the gallery") {
			t.Errorf("%s: the gallery is there: %t", name, gallery)
		}
	}
}

// TestEveryRowAsksForItsRight tries each row as nobody, as a person and as an admin.
func TestEveryRowAsksForItsRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, token := w.ask(), w.ownToken()
	for _, who := range []struct {
		name          string
		person, admin bool
		as            *person
	}{
		{"nobody", false, false, w.visitor()},
		{"a reviewer", true, false, w.signedIn(ownerEmail)},
		{"an admin", true, true, w.signedIn("admin@example.com")},
	} {
		for _, row := range w.site.Table() {
			if row.Path == "/static/*" || row.Path == "/events" || who.person && row.Path == "/signout" {
				continue // a folder; a stream that does not end; the end of the session
			}
			got := who.as.send(row.Method, w.filled(handlers.Route{Method: row.Method, Path: row.Path}, a, token), nil)
			sent := got.status == http.StatusSeeOther && strings.HasPrefix(got.header.Get("Location"), views.SignInURL(""))
			if want := row.Person && !who.person; sent != want {
				t.Errorf("%s %s as %s: %d to %q, sent to sign in: %t", row.Method, row.Path, who.name, got.status, got.header.Get("Location"), sent)
			}
			refused := got.status == http.StatusForbidden && strings.Contains(got.body, "Only an admin may do this.")
			if want := row.Admin && who.person && !who.admin; refused != want {
				t.Errorf("%s %s as %s: %d, refused: %t", row.Method, row.Path, who.name, got.status, refused)
			}
		}
	}
}
