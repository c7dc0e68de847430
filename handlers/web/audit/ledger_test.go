package audit_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
)

func TestEverybodysAuditIsNarrowedAndPaged(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	for range 60 {
		w.Ask()
	}
	w.SignIn(webtest.OwnerEmail).Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Redirects(webtest.PageOf(a))
	admin := w.SignIn(webtest.AdminEmail)
	first := admin.Get("/audit/all").Is(http.StatusOK).Says("table", "person owner@example.com rejected", "Agent deployer asked", "rejected")
	rows := first.Doc.Find("tbody tr").Length()
	next := first.Doc.Find("a[rel=next]").AttrOr("href", "")
	second := admin.Get(next).Is(http.StatusOK)
	if rows != 50 || second.Doc.Find("tbody tr").Length() == 0 || second.Text("tbody th") == first.Text("tbody th") {
		t.Errorf("%d rows, then %q", rows, second.Text("tbody th"))
	}
	count := func(query url.Values) int {
		return admin.Get("/audit/all?" + query.Encode()).Is(http.StatusOK).Doc.Find("tbody tr").Length()
	}
	for _, c := range []struct {
		name  string
		query url.Values
		want  int
	}{
		{"action", url.Values{"action": {"approval.rejected"}}, 1},
		{"action and person", url.Values{"action": {"approval.rejected"}, "who": {webtest.OwnerEmail}}, 1},
		{"action and somebody else", url.Values{"action": {"approval.rejected"}, "who": {webtest.StrangerEmail}}, 0},
		{"id of the agent", url.Values{"action": {"approval.requested"}, "who": {w.Agent.ID}, "conversation": {string(a.ConversationID)}}, 50},
		{"no such action", url.Values{"action": {"<script>"}}, 0},
		{"until now", url.Values{"until": {w.Clock.Now().Format("2006-01-02 15:04")}}, 0},
		{"from tomorrow", url.Values{"from": {w.Clock.Now().Add(24 * time.Hour).Format(time.DateOnly)}}, 0},
		{"from today", url.Values{"from": {w.Clock.Now().Format(time.DateOnly)}}, 50},
	} {
		if got := count(c.query); got != c.want {
			t.Errorf("%s: %d entries, want %d", c.name, got, c.want)
		}
	}
	for field, bad := range map[string]string{"who": "nobody@example.com", "conversation": "x", "from": "soon", "until": "2026-13-01"} {
		got := admin.Get("/audit/all?" + url.Values{field: {bad}}.Encode()).Is(http.StatusUnprocessableEntity)
		kept := got.Value("#filter-" + field)
		if field == "who" {
			kept = got.Doc.Find("#filter-who option[selected]").AttrOr("value", "")
		}
		if got.Text("#filter-"+field+"-error") == "" || field != "conversation" && kept != bad {
			t.Errorf("%s: no error at the field, or what was filled in is lost", field)
		}
	}
}

func TestAnEntryReadableAndRaw(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask()
	admin := w.SignIn(webtest.AdminEmail)
	link := admin.Get("/audit/all").Doc.Find("tbody th dd a").First().AttrOr("href", "")
	got := admin.Get(link).Is(http.StatusOK).Says("main", "intact", "signed in").Says("#raw-entry", `"action": "session.opened"`, `"prev"`)
	if _, err := strconv.Atoi(strings.TrimPrefix(link, "/audit/entries/")); err != nil || got.Doc.Find("a[rel=prev]").Length() != 1 || got.Doc.Find("a[rel=next]").Length() != 0 {
		t.Errorf("the newest entry %s: %v", link, err)
	}
}

func TestTheChainIsCheckedOnRequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask()
	admin := w.SignIn(webtest.AdminEmail)
	admin.Get("/audit/all").Is(http.StatusOK).Says("#chain", "not checked").Says("#ledger-head", ":")
	admin.Post("/audit/chain", nil).Redirects("/audit/all")
	deadline := time.Now().Add(webtest.Patience)
	for {
		got := admin.Get("/audit/chain", webtest.HTMX).Is(http.StatusOK).IsFragment()
		if strings.Contains(got.Text("#chain"), "intact") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the check has no end: %s", got.Text("#chain"))
		}
	}
	admin.Get("/audit/all").Is(http.StatusOK).Says("#chain", "each linked to the one before", "just now")
	w.Pages.Stop()
	admin.Post("/audit/chain", nil).Redirects("/audit/all") // and begins nothing
	admin.Get("/audit/all").Says("#chain", "intact")
}
