package audit_test

import (
	"bufio"
	"encoding/csv"
	stdjson "encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

func historyRows(p *webtest.Page) []string {
	return p.Doc.Find(".history tbody tr").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
}

// TestHistoryListsWhatWasSettled and its form narrows it without script.
func TestHistoryListsWhatWasSettled(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/history").Is(http.StatusOK).Says(".empty-state", "No past requests yet")
	paid, refused := w.Ask(webtest.ToolCall("pay", `{"amount":5,"to":"ACME"}`)), w.Ask(webtest.ToolCall("Bash", `{"command":"rm -rf build/"}`))
	w.Ask() // still waits
	w.Decides(paid, true, "")
	w.Decides(refused, false, "not on Fridays")
	got := p.Get("/history").Is(http.StatusOK)
	rows := historyRows(got)
	if len(rows) != 2 || !strings.Contains(rows[0], "rejected") || !strings.Contains(rows[0], "person "+webtest.OwnerEmail) || !strings.Contains(rows[0], "not on Fridays") || !strings.Contains(rows[1], "ACME") {
		t.Fatalf("%q", rows)
	}
	if got.Doc.Find(`.history .list-what[href="`+webtest.PageOf(refused)+`"]`).Length() != 1 {
		t.Error("a row leads to its request")
	}
	if got.Doc.Find(`nav a[aria-current="page"]`).AttrOr("href", "") != "/history" {
		t.Error("the navigation does not lead here")
	}
	// What a browser sends of the form leads to an address without what is empty.
	form := got.Form("#filters", "")
	form.Set("status", "rejected")
	form.Set("q", "BUILD")
	narrowed := p.Get("/history?" + form.Encode())
	narrowed.Redirects("/history?status=rejected&q=BUILD")
	got = p.Get("/history?status=rejected&q=BUILD").Is(http.StatusOK)
	if rows := historyRows(got); len(rows) != 1 || got.Value("#filter-q") != "BUILD" || got.Doc.Find(`#filter-status option[selected]`).AttrOr("value", "") != "rejected" {
		t.Errorf("%q", rows)
	}
	for query, want := range map[string]int{
		"tool=pay": 1, "cause=reviewer": 2, "cause=timeout": 0, "by=" + w.Owner.ID: 2, "by=" + w.Admin.ID: 0, "risk=critical": 0, "whose=mine": 2, "whose=routed": 0,
		"from=2000-01-01": 2, "to=2000-01-01": 0, "agent=" + w.Agent.ID: 2, "conversation=" + string(paid.ConversationID): 2,
	} {
		if rows := historyRows(p.Get("/history?" + query).Is(http.StatusOK)); len(rows) != want {
			t.Errorf("%s: %d rows, want %d", query, len(rows), want)
		}
	}
	if rows := historyRows(w.SignIn(webtest.StrangerEmail).Get("/history")); len(rows) != 0 {
		t.Errorf("a stranger sees %q", rows)
	}
	if rows := historyRows(w.SignIn(storetest.AdminEmail).Get("/history")); len(rows) != 2 {
		t.Errorf("an admin sees %q", rows)
	}
}

// TestHistoryKeepsWhatWasTyped: a field that is wrong says so at its place, and
// nothing is lost.
func TestHistoryKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	got := p.Get("/history?from=last+week&to=2026-11-20&q=rm&tool=Bash").Is(http.StatusUnprocessableEntity)
	got.Says("#filter-from-error", "Write a day such as")
	for id, want := range map[string]string{"from": "last week", "to": "2026-11-20", "q": "rm", "tool": "Bash"} {
		if v := got.Value("#filter-" + id); v != want {
			t.Errorf("%s holds %q, want %q", id, v, want)
		}
	}
	p.Get("/history?from=2026-11-20&to=2026-11-19").Is(http.StatusUnprocessableEntity).Says("#filter-to-error", "not before the first")
	p.Get("/history?status=pending").Is(http.StatusUnprocessableEntity)
	p.Get("/history?agent=nobody").Is(http.StatusUnprocessableEntity).Says("#filter-agent-error", "id")
	p.Get("/history?after=x").Is(http.StatusNotFound)
	p.Get("/history/export?format=xml").Is(http.StatusUnprocessableEntity)
	p.Get("/history/export?format=csv&from=x").Is(http.StatusUnprocessableEntity)
}

func TestHistoryPagesByKey(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Seed(t, w.Store, w.Agent, storetest.Rows{Settled: 120})
	p := w.SignIn(webtest.OwnerEmail)
	seen, pages := map[string]bool{}, 0
	for next := "/history?tool=Bash"; next != ""; pages++ {
		got := p.Get(next).Is(http.StatusOK)
		for _, id := range got.Doc.Find(".history tbody tr").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("id", "") }) {
			if seen[id] {
				t.Errorf("%s stands on two pages", id)
			}
			seen[id] = true
		}
		if back := got.Doc.Find(`.pager a:not([rel])`).AttrOr("href", ""); pages > 0 && back != "/history?tool=Bash" {
			t.Errorf("back leads to %q", back)
		}
		next = got.Doc.Find(`.pager a[rel="next"]`).AttrOr("href", "")
	}
	if len(seen) != 120 || pages != 3 {
		t.Errorf("%d requests on %d pages", len(seen), pages)
	}
}

// TestAnExportOfTheHistory has all that the filters choose, exactly for programs
// and harmless to a spreadsheet.
func TestAnExportOfTheHistory(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	hostile := "=HYPERLINK(\"http://evil\")\u202Etxt"
	a := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "pay", []byte("{\n  \"sum\": 9007199254740993,\n  \"to\": \"A\u202EB\"\n}"), hostile
	})
	w.Decides(a, false, "+1 is no reason")
	for range 2 {
		w.Decides(w.Ask(webtest.ToolCall("other", `{}`)), true, "")
	}
	links := p.Get("/history?tool=pay").Is(http.StatusOK).Doc.Find(".head-end a").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	if len(links) != 2 || links[0] != "/history/export?format=csv&tool=pay" || links[1] != "/history/export?format=jsonl&tool=pay" {
		t.Fatalf("%q", links)
	}
	got := p.Get(links[1]).Is(http.StatusOK)
	if name := got.Header.Get("Content-Disposition"); !strings.HasPrefix(name, `attachment; filename="countersign-history-`) || !strings.HasSuffix(name, `.jsonl"`) {
		t.Errorf("it is kept as %s", name)
	}
	if strings.Contains(got.Body, "\u202E") || strings.Count(got.Body, "\n") != 1 {
		t.Errorf("%q", got.Body)
	}
	var line struct {
		ID                            models.ResponseID
		Status, Cause, ByName, Reason string
		Tool, Digest, Description     string
		SettledAt                     time.Time
		Input                         stdjson.RawMessage
	}
	if err := stdjson.Unmarshal([]byte(got.Body), &line); err != nil {
		t.Fatal(err)
	}
	canonical, err := models.Canonical(models.KindToolCall, line.Tool, line.Input)
	if err != nil || models.Digest(canonical) != a.Digest || line.Digest != a.Digest {
		t.Errorf("the input gives another digest: %s, %v", line.Input, err)
	}
	if line.ID != a.ID || line.Status != "rejected" || line.Cause != "reviewer" || line.ByName != webtest.OwnerEmail || line.Reason != "+1 is no reason" || line.Description != hostile || line.SettledAt.IsZero() {
		t.Errorf("%+v", line)
	}
	got = p.Get(links[0]).Is(http.StatusOK)
	cells, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d rows, %v", len(cells), err)
	}
	seen := 0
	for i, cell := range cells[1] {
		if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
			t.Errorf("a cell of %s begins as a formula: %q", cells[0][i], cell)
		}
		if cell == "'+1 is no reason" || cell == `'=HYPERLINK("http://evil")⟨U+202E⟩txt` {
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%q", cells[1])
	}
	if got := w.SignIn(webtest.StrangerEmail).Get(links[1]).Is(http.StatusOK); got.Body != "" {
		t.Errorf("a stranger gets %q", got.Body)
	}
}

// TestABrokenExportIsNoWholeFile: when it fails half-way (more than the sockets hold), the connection is
// cut, and no client takes what came for all.
func TestABrokenExportIsNoWholeFile(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Seed(t, w.Store, w.Agent, storetest.Rows{Settled: 20_000})
	p := w.SignIn(webtest.OwnerEmail)
	resp, err := p.HTTP.Get(w.URL + "/history/export?format=jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for range 10 {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	// Whoever asked for it may not have it any more.
	p.Post("/signout", url.Values{}).Is(http.StatusSeeOther)
	n, err := io.Copy(io.Discard, lines)
	if err == nil {
		t.Errorf("after %d more bytes it ended as if it were whole", n)
	}
}
