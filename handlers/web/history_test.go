package web_test

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

	"countersign/models"
	"countersign/models/storetest"
)

func toolCall(tool, input string) func(*models.AskInput) {
	return func(in *models.AskInput) { in.ToolName, in.Input = tool, []byte(input) }
}

// decides has the owner decide.
func (w *world) decides(a *models.Approval, approve bool, reason string) {
	w.tb.Helper()
	if _, err := w.store.Decide(w.tb.Context(), w.owner, a.ID, models.DecisionInput{Approved: &approve, Reason: reason, Digest: a.Digest, Page: models.NoPage}); err != nil {
		w.tb.Fatal(err)
	}
}

func historyRows(p *page) []string {
	return p.doc.Find(".history tbody tr").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
}

// TestHistoryListsWhatWasSettled and its form narrows it without script.
func TestHistoryListsWhatWasSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	p.get("/history").is(http.StatusOK).says(".empty-state", "No past requests yet")
	paid, refused := w.ask(toolCall("pay", `{"amount":5,"to":"ACME"}`)), w.ask(toolCall("Bash", `{"command":"rm -rf build/"}`))
	w.ask() // still waits
	w.decides(paid, true, "")
	w.decides(refused, false, "not on Fridays")
	got := p.get("/history").is(http.StatusOK)
	rows := historyRows(got)
	if len(rows) != 2 || !strings.Contains(rows[0], "rejected") || !strings.Contains(rows[0], "by "+ownerEmail) || !strings.Contains(rows[0], "not on Fridays") || !strings.Contains(rows[1], "ACME") {
		t.Fatalf("%q", rows)
	}
	if got.doc.Find(`.history .list-what[href="`+pageOf(refused)+`"]`).Length() != 1 {
		t.Error("a row leads to its request")
	}
	if got.doc.Find(`nav a[aria-current="page"]`).AttrOr("href", "") != "/history" {
		t.Error("the navigation does not lead here")
	}
	// What a browser sends of the form leads to an address without what is empty.
	form := got.form("#filters", "")
	form.Set("status", "rejected")
	form.Set("q", "BUILD")
	narrowed := p.get("/history?" + form.Encode())
	narrowed.redirects("/history?status=rejected&q=BUILD")
	got = p.get("/history?status=rejected&q=BUILD").is(http.StatusOK)
	if rows := historyRows(got); len(rows) != 1 || got.value("#filter-q") != "BUILD" || got.doc.Find(`#filter-status option[selected]`).AttrOr("value", "") != "rejected" {
		t.Errorf("%q", rows)
	}
	for query, want := range map[string]int{
		"tool=pay": 1, "cause=reviewer": 2, "cause=timeout": 0, "by=" + w.owner.ID: 2, "by=" + w.admin.ID: 0, "risk=critical": 0, "whose=mine": 2, "whose=routed": 0,
		"from=2000-01-01": 2, "to=2000-01-01": 0, "agent=" + w.agent.ID: 2, "conversation=" + string(paid.ConversationID): 2,
	} {
		if rows := historyRows(p.get("/history?" + query).is(http.StatusOK)); len(rows) != want {
			t.Errorf("%s: %d rows, want %d", query, len(rows), want)
		}
	}
	if rows := historyRows(w.signedIn(strangerEmail).get("/history")); len(rows) != 0 {
		t.Errorf("a stranger sees %q", rows)
	}
	if rows := historyRows(w.signedIn(storetest.AdminEmail).get("/history")); len(rows) != 2 {
		t.Errorf("an admin sees %q", rows)
	}
}

// TestHistoryKeepsWhatWasTyped: a field that is wrong says so at its place, and
// nothing is lost.
func TestHistoryKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	got := p.get("/history?from=last+week&to=2026-11-20&q=rm&tool=Bash").is(http.StatusUnprocessableEntity)
	got.says("#filter-from-error", "Write a day such as")
	for id, want := range map[string]string{"from": "last week", "to": "2026-11-20", "q": "rm", "tool": "Bash"} {
		if v := got.value("#filter-" + id); v != want {
			t.Errorf("%s holds %q, want %q", id, v, want)
		}
	}
	p.get("/history?from=2026-11-20&to=2026-11-19").is(http.StatusUnprocessableEntity).says("#filter-to-error", "not before the first")
	p.get("/history?status=pending").is(http.StatusUnprocessableEntity)
	p.get("/history?agent=nobody").is(http.StatusUnprocessableEntity).says("#filter-agent-error", "id")
	p.get("/history?after=x").is(http.StatusNotFound)
	p.get("/history/export?format=xml").is(http.StatusUnprocessableEntity)
	p.get("/history/export?format=csv&from=x").is(http.StatusUnprocessableEntity)
}

func TestHistoryPagesByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Seed(t, w.store, w.agent, storetest.Rows{Settled: 120})
	p := w.signedIn(ownerEmail)
	seen, pages := map[string]bool{}, 0
	for next := "/history?tool=Bash"; next != ""; pages++ {
		got := p.get(next).is(http.StatusOK)
		for _, id := range got.doc.Find(".history tbody tr").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("id", "") }) {
			if seen[id] {
				t.Errorf("%s stands on two pages", id)
			}
			seen[id] = true
		}
		if back := got.doc.Find(`.pager a:not([rel])`).AttrOr("href", ""); pages > 0 && back != "/history?tool=Bash" {
			t.Errorf("back leads to %q", back)
		}
		next = got.doc.Find(`.pager a[rel="next"]`).AttrOr("href", "")
	}
	if len(seen) != 120 || pages != 3 {
		t.Errorf("%d requests on %d pages", len(seen), pages)
	}
}

// TestAnExportOfTheHistory has all that the filters choose, exactly for programs
// and harmless to a spreadsheet.
func TestAnExportOfTheHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	hostile := "=HYPERLINK(\"http://evil\")\u202Etxt"
	a := w.ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Description = "pay", []byte("{\n  \"sum\": 9007199254740993,\n  \"to\": \"A\u202EB\"\n}"), hostile
	})
	w.decides(a, false, "+1 is no reason")
	for range 2 {
		w.decides(w.ask(toolCall("other", `{}`)), true, "")
	}
	links := p.get("/history?tool=pay").is(http.StatusOK).doc.Find(".head-end a").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	if len(links) != 2 || links[0] != "/history/export?format=csv&tool=pay" || links[1] != "/history/export?format=jsonl&tool=pay" {
		t.Fatalf("%q", links)
	}
	got := p.get(links[1]).is(http.StatusOK)
	if name := got.header.Get("Content-Disposition"); !strings.HasPrefix(name, `attachment; filename="countersign-history-`) || !strings.HasSuffix(name, `.jsonl"`) {
		t.Errorf("it is kept as %s", name)
	}
	if strings.Contains(got.body, "\u202E") || strings.Count(got.body, "\n") != 1 {
		t.Errorf("%q", got.body)
	}
	var line struct {
		ID                            models.ResponseID
		Status, Cause, ByName, Reason string
		Tool, Digest, Description     string
		SettledAt                     time.Time
		Input                         stdjson.RawMessage
	}
	if err := stdjson.Unmarshal([]byte(got.body), &line); err != nil {
		t.Fatal(err)
	}
	canonical, err := models.Canonical(models.KindToolCall, line.Tool, line.Input)
	if err != nil || models.Digest(canonical) != a.Digest || line.Digest != a.Digest {
		t.Errorf("the input gives another digest: %s, %v", line.Input, err)
	}
	if line.ID != a.ID || line.Status != "rejected" || line.Cause != "reviewer" || line.ByName != ownerEmail || line.Reason != "+1 is no reason" || line.Description != hostile || line.SettledAt.IsZero() {
		t.Errorf("%+v", line)
	}
	got = p.get(links[0]).is(http.StatusOK)
	cells, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
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
	if got := w.signedIn(strangerEmail).get(links[1]).is(http.StatusOK); got.body != "" {
		t.Errorf("a stranger gets %q", got.body)
	}
}

// TestABrokenExportIsNoWholeFile: when it fails half-way (more than the sockets hold), the connection is
// cut, and no client takes what came for all.
func TestABrokenExportIsNoWholeFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Seed(t, w.store, w.agent, storetest.Rows{Settled: 20_000})
	p := w.signedIn(ownerEmail)
	resp, err := p.http.Get(w.url + "/history/export?format=jsonl")
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
	p.post("/signout", url.Values{}).is(http.StatusSeeOther)
	n, err := io.Copy(io.Discard, lines)
	if err == nil {
		t.Errorf("after %d more bytes it ended as if it were whole", n)
	}
}
