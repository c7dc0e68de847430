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
	"countersign/handlers/web/site"
	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/views"
	"countersign/views/gallery"
)

// TestTheTableIsAllThereIs: the router has every row of the table and nothing that is
// not in it, with the gallery and without.
func TestTheTableIsAllThereIs(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for name, pages := range map[string]*web.Pages{
		"as served": w.Pages,
		"with the gallery": func() *web.Pages {
			s := web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}, w.Store, web.Options{Gallery: gallery.Pages{}})
			t.Cleanup(s.Stop)
			return s
		}(),
	} {
		var rows, routes []string
		for _, row := range pages.Table() {
			rows = append(rows, row.Method+" "+row.Path)
		}
		for _, r := range pages.Routes() {
			routes = append(routes, r.Method+" "+r.Path)
		}
		slices.Sort(rows)
		slices.Sort(routes)
		if !slices.Equal(rows, routes) {
			t.Errorf("%s: the table has\n%s\nthe router has\n%s", name, strings.Join(rows, "\n"), strings.Join(routes, "\n"))
		}
		if len(slices.Compact(rows)) != len(pages.Table()) {
			t.Errorf("%s: a row is in the table twice", name)
		}
		if gallery := slices.Contains(rows, "GET "+views.GalleryURL()); gallery != (name == "with the gallery") {
			t.Errorf("%s: the gallery is there: %t", name, gallery)
		}
	}
}

// TestEveryRowAsksForItsRight tries each row as nobody and in every role.
func TestEveryRowAsksForItsRight(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, token := w.Ask(), w.OwnToken()
	for email, role := range map[string]models.Role{webtest.AuditorEmail: models.RoleAuditor, webtest.EditorEmail: models.RolePolicyEditor} {
		storetest.User(t, w.Store, email, role)
	}
	signedIn := []site.Right{site.Anyone, site.Person, site.Own}
	for _, who := range []struct {
		name string
		as   *webtest.Person
		may  []site.Right
	}{
		{"nobody", w.Visitor(), []site.Right{site.Anyone}},
		{"a reviewer", w.SignIn(webtest.OwnerEmail), append(signedIn, site.Acting)},
		{"an auditor", w.SignIn(webtest.AuditorEmail), append(signedIn, site.Overseer, site.PolicyReader)},
		{"a policy editor", w.SignIn(webtest.EditorEmail), append(signedIn, site.Acting, site.PolicyReader, site.Drafter)},
		{"an admin", w.SignIn(webtest.AdminEmail), append(signedIn, site.Acting, site.Overseer, site.PolicyReader, site.Drafter, site.Admin)},
	} {
		for _, row := range w.Pages.Table() {
			if row.Path == "/static/*" || row.Path == "/events" || who.name != "nobody" && row.Path == "/signout" {
				continue // a folder; a stream that does not end; the end of the session
			}
			if row.Method == http.MethodPost && (row.Right == site.Person || row.Right == site.PolicyReader) {
				t.Errorf("%s %s: which of those who read may change something?", row.Method, row.Path)
			}
			got := who.as.Send(row.Method, w.Filled(handlers.Route{Method: row.Method, Path: row.Path}, a, token), nil)
			sent := got.Status == http.StatusSeeOther && strings.HasPrefix(got.Header.Get("Location"), views.SignInURL(""))
			if want := row.Right != site.Anyone && who.name == "nobody"; sent != want {
				t.Errorf("%s %s as %s: %d to %q, sent to sign in: %t", row.Method, row.Path, who.name, got.Status, got.Header.Get("Location"), sent)
			}
			refused := got.Status == http.StatusForbidden && (strings.Contains(got.Body, "Only an admin") || strings.Contains(got.Body, "An auditor sees everything and changes nothing."))
			if want := !slices.Contains(who.may, row.Right) && who.name != "nobody"; refused != want {
				t.Errorf("%s %s as %s: %d, refused: %t", row.Method, row.Path, who.name, got.Status, refused)
			}
		}
	}
}
