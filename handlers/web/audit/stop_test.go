package audit_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestAStopIsOneLineOfTheAudit, with the requests that it cancelled below it; exports and paper have each entry.
func TestAStopIsOneLineOfTheAudit(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for range 12 {
		w.Ask()
	}
	if _, n, err := w.Store.Stop(t.Context(), w.Owner, models.AgentID(w.Agent.ID), "It deletes things."); err != nil || n != 12 {
		t.Fatal(n, err)
	}
	own, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(storetest.AdminEmail)
	for _, p := range []*webtest.Page{own.Get("/audit"), admin.Get("/audit/all"), admin.Get("/people/" + w.Owner.ID + "/audit")} {
		lines := p.Doc.Find(`.past-who > details > summary:contains("stopped agent")`)
		if text := strings.Join(strings.Fields(lines.Text()), " "); lines.Length() != 1 || text != "person owner@example.com stopped agent deployer – 12 requests cancelled" {
			t.Errorf("%s: %q", p.Asked, text)
		}
		fold := p.Doc.Find(".past-group")
		if fold.Length() != 1 || fold.Find("tbody > tr").Length() != 12 || fold.Find("tbody a.list-what").Length() != 12 {
			t.Errorf("%s: %d folds with %d requests", p.Asked, fold.Length(), fold.Find("tbody > tr").Length())
		}
		cancelled := p.Doc.Find(`.past-outcome:contains("cancelled")`).FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Closest(".past-group").Length() == 0 })
		if cancelled.Length() != 0 {
			t.Errorf("%s: %d cancelled requests outside of the fold", p.Asked, cancelled.Length())
		}
	}
	if n := strings.Count(own.Get("/audit/export?format=jsonl&outcome=cancelled").Is(http.StatusOK).Body, "\n"); n != 12 {
		t.Errorf("%d entries are exported", n)
	}
	if paper := own.Get("/audit/print?outcome=cancelled").Is(http.StatusOK); paper.Doc.Find("tbody tr").Length() != 12 {
		t.Errorf("%d entries are printed", paper.Doc.Find("tbody tr").Length())
	}
	// Without its own entry, which the filter leaves out, they are one line as well.
	if rows := own.Get("/audit?outcome=cancelled").Doc.Find(`.past-who summary:contains("cancelled 12 requests by stopping agents")`); rows.Length() != 1 {
		t.Errorf("%d lines without the stop's entry", rows.Length())
	}
}

// TestTheAuditIsSearchedByText: in who, what, the end of an id, and the request as far as the reader sees it.
func TestTheAuditIsSearchedByText(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	paid, other := w.Ask(webtest.ToolCall("pay", `{"amount":5,"to":"ACME"}`)), w.Ask(webtest.ToolCall("Bash", `{"command":"make release"}`))
	w.Decides(paid, false, "Not on Fridays")
	own, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(storetest.AdminEmail)
	count := func(p *webtest.Person, path, text string) int {
		t.Helper()
		got := p.Get(path + "?" + url.Values{"q": {text}}.Encode()).Is(http.StatusOK)
		if got.Value("#filter-q") != text || got.Doc.Find(`#filter-q[form="filters"]`).Length() != 1 {
			t.Errorf("%s: the field says %q", got.Asked, got.Value("#filter-q"))
		}
		return got.Doc.Find(".past tbody tr").Length()
	}
	id := string(other.ID)
	for text, want := range map[string]int{
		"aCmE": 2, "to acme": 2, "PAY": 2, "fridays": 2, "make release": 1, "approval.rejected": 1, "approval rejected": 1,
		id[len(id)-8:]: 1, "…" + id[len(id)-8:]: 1, "lead": 0, "no such text": 0, "%": 0,
	} {
		if n := count(own, "/audit", text); n != want {
			t.Errorf("own, %q: %d rows, want %d", text, n, want)
		}
		if n := count(admin, "/audit/all", text); n != want {
			t.Errorf("all, %q: %d rows, want %d", text, n, want)
		}
	}
	if n := strings.Count(own.Get("/audit/export?format=jsonl&q=acme").Is(http.StatusOK).Body, "\n"); n != 2 {
		t.Errorf("%d entries are exported", n)
	}
	for _, p := range []*webtest.Page{own.Get("/audit?q=" + strings.Repeat("x", 201)), admin.Get("/audit/all?q=" + strings.Repeat("x", 201)), own.Get("/history?q=" + strings.Repeat("x", 201))} {
		if p.Is(http.StatusUnprocessableEntity).Text("#filter-q-error") == "" {
			t.Errorf("%s: no error at the field", p.Asked)
		}
	}
}
