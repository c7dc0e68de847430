package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestEverybodysAuditIsNarrowedAndPaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	for range 60 {
		w.ask()
	}
	w.signedIn(ownerEmail).post(decideOf(a), url.Values{"verdict": {"reject"}}).redirects(pageOf(a))
	admin := w.signedIn(adminEmail)
	first := admin.get("/audit/all").is(http.StatusOK).says("table", "approval rejected", "rejected, reviewer", "deployer")
	rows := first.doc.Find("tbody tr").Length()
	next := first.doc.Find("a[rel=next]").AttrOr("href", "")
	second := admin.get(next).is(http.StatusOK)
	if rows != 50 || second.doc.Find("tbody tr").Length() == 0 || second.text("tbody th") == first.text("tbody th") {
		t.Errorf("%d rows, then %q", rows, second.text("tbody th"))
	}
	count := func(query url.Values) int {
		return admin.get("/audit/all?" + query.Encode()).is(http.StatusOK).doc.Find("tbody tr").Length()
	}
	for _, c := range []struct {
		name  string
		query url.Values
		want  int
	}{
		{"action", url.Values{"action": {"approval.rejected"}}, 1},
		{"action and person", url.Values{"action": {"approval.rejected"}, "who": {ownerEmail}}, 1},
		{"action and somebody else", url.Values{"action": {"approval.rejected"}, "who": {strangerEmail}}, 0},
		{"id of the agent", url.Values{"action": {"approval.requested"}, "who": {w.agent.ID}, "conversation": {string(a.ConversationID)}}, 50},
		{"no such action", url.Values{"action": {"<script>"}}, 0},
		{"until now", url.Values{"until": {w.clock.Now().Format("2006-01-02 15:04")}}, 0},
		{"from tomorrow", url.Values{"from": {w.clock.Now().Add(24 * time.Hour).Format(time.DateOnly)}}, 0},
		{"from today", url.Values{"from": {w.clock.Now().Format(time.DateOnly)}}, 50},
	} {
		if got := count(c.query); got != c.want {
			t.Errorf("%s: %d entries, want %d", c.name, got, c.want)
		}
	}
	for field, bad := range map[string]string{"who": "nobody@example.com", "conversation": "x", "from": "soon", "until": "2026-13-01"} {
		got := admin.get("/audit/all?" + url.Values{field: {bad}}.Encode()).is(http.StatusUnprocessableEntity)
		kept := got.value("#filter-" + field)
		if field == "who" {
			kept = got.doc.Find("#filter-who option[selected]").AttrOr("value", "")
		}
		if got.text("#filter-"+field+"-error") == "" || field != "conversation" && kept != bad {
			t.Errorf("%s: no error at the field, or what was filled in is lost", field)
		}
	}
}

func TestAnEntryReadableAndRaw(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask()
	admin := w.signedIn(adminEmail)
	link := admin.get("/audit/all").doc.Find("tbody th a").First().AttrOr("href", "")
	got := admin.get(link).is(http.StatusOK).says("main", "intact", "session opened").says("#raw-entry", `"action": "session.opened"`, `"prev"`)
	if _, err := strconv.Atoi(strings.TrimPrefix(link, "/audit/entries/")); err != nil || got.doc.Find("a[rel=prev]").Length() != 1 || got.doc.Find("a[rel=next]").Length() != 0 {
		t.Errorf("the newest entry %s: %v", link, err)
	}
}

func TestTheChainIsCheckedOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask()
	admin := w.signedIn(adminEmail)
	admin.get("/audit/all").is(http.StatusOK).says("#chain", "not checked").says("#ledger-head", ":")
	admin.post("/audit/chain", nil).redirects("/audit/all")
	deadline := time.Now().Add(patience)
	for {
		got := admin.get("/audit/chain", htmx).is(http.StatusOK).isFragment()
		if strings.Contains(got.text("#chain"), "intact") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the check has no end: %s", got.text("#chain"))
		}
	}
	admin.get("/audit/all").is(http.StatusOK).says("#chain", "each linked to the one before", "just now")
	w.site.Stop()
	admin.post("/audit/chain", nil).redirects("/audit/all") // and begins nothing
	admin.get("/audit/all").says("#chain", "intact")
}

func TestTheSystemPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	admin := w.signedIn(adminEmail)
	admin.get("/system").is(http.StatusOK).says("main", "Database", "ok", "Write-ahead log", "SQLite", "deployer").saysNot("#stranded-title + .empty-state", "more")
	if href := admin.get("/system").doc.Find("table a").First().AttrOr("href", ""); href != pageOf(a) {
		t.Errorf("the oldest leads to %q", href)
	}
	admin.post(personPath(w.owner, "disable"), nil).redirects("/people")
	got := admin.get("/system").is(http.StatusOK).says("main", "enable somebody again")
	if got.doc.Find("#stranded-title ~ .table-wrap a").AttrOr("href", "") != pageOf(a) {
		t.Error("a request whose owner is disabled is not listed")
	}
	w.applyPolicy(`{"approval_enabled":false}`)
	admin.get("/system").is(http.StatusOK).says(".checks", "not ok", "Gate")
}
