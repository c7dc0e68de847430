package system_test

import (
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

func TestTheSystemPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	admin := w.SignIn(webtest.AdminEmail)
	engine := []string{"SQLite", "write-ahead log"}
	if storetest.OnPostgres() {
		engine = []string{"PostgreSQL"}
	}
	admin.Get("/system").Is(http.StatusOK).Says("main", append(engine, "Database", "ok", "deployer")...).SaysNot("#stranded-title + .empty-state", "more")
	if href := admin.Get("/system").Doc.Find("table a").First().AttrOr("href", ""); href != webtest.PageOf(a) {
		t.Errorf("the oldest leads to %q", href)
	}
	admin.Post(webtest.PersonPath(w.Owner, "disable"), nil).Redirects("/people")
	got := admin.Get("/system").Is(http.StatusOK).Says("main", "enable somebody again")
	if got.Doc.Find("#stranded-title ~ .table-wrap a").AttrOr("href", "") != webtest.PageOf(a) {
		t.Error("a request whose owner is disabled is not listed")
	}
	w.ApplyPolicy(`{"approval_enabled":false}`)
	admin.Get("/system").Is(http.StatusOK).Says(".checks", "not ok", "Gate")
}
