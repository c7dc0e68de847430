package web_test

import (
	"encoding/csv"
	stdjson "encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/storetest"
)

func trailRows(p *page) []string {
	return p.doc.Find(".trail tbody tr").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
}

// has reports whether a row contains all parts.
func has(row string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(row, part) {
			return false
		}
	}
	return true
}

// TestATrailTellsToolSummaryOutcomeReasonAndLink, for its owner and for an admin.
func TestATrailTellsToolSummaryOutcomeReasonAndLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	paid := w.ask(toolCall("pay", `{"amount":5,"to":"ACME\u202e"}`))
	asked := w.ask(question)
	w.decides(paid, false, "not on Fridays\nsee the calendar")
	own := w.signedIn(ownerEmail).get("/audit?what=requests").is(http.StatusOK)
	admin := w.signedIn(storetest.AdminEmail)
	theirs := admin.get("/people/"+w.owner.ID+"/audit?what=requests").is(http.StatusOK).says("h1", "Audit trail of").says("main", ownerEmail)
	for _, p := range []*page{own, theirs} {
		rows := trailRows(p)
		if len(rows) < 3 || !has(rows[0], "pay", "ACME⟨U+202E⟩", "approval rejected", "rejected, reviewer", "not on Fridays …", "deployer") || has(rows[0], "calendar") {
			t.Fatalf("%s: %q", p.asked, rows)
		}
		if !has(rows[1], "question", "Which region first?") {
			t.Errorf("%s: %q", p.asked, rows[1])
		}
		for _, a := range []*models.Approval{paid, asked} {
			if p.doc.Find(`.trail tbody a[href="`+pageOf(a)+`"]`).Length() == 0 {
				t.Errorf("%s: no link to %s", p.asked, a.ToolName)
			}
		}
	}
	link := admin.get("/people").doc.Find(`a[href="/people/` + w.owner.ID + `/audit"]`)
	if link.Length() != 1 {
		t.Error("the page of people does not lead to the trail")
	}
	for who, want := range map[string]int{ownerEmail: 1, w.owner.ID: 1, w.agent.ID: 0, "": 0} {
		path := "/audit/all"
		if who != "" {
			path += "?" + url.Values{"who": {who}}.Encode()
		}
		p := admin.get(path).is(http.StatusOK)
		if n := p.doc.Find(`main a[href="/people/` + w.owner.ID + `/audit"]`).Length(); n != want {
			t.Errorf("everybody's audit of %q leads to the trail %d times, want %d", who, n, want)
		}
	}
	w.signedIn(strangerEmail).get("/people/" + w.owner.ID + "/audit").is(http.StatusForbidden)
	if rows := trailRows(w.signedIn(strangerEmail).get("/audit?what=requests")); len(rows) != 0 {
		t.Errorf("a stranger sees %q", rows)
	}
}

// TestATrailIsNarrowedByItsAddress and its form keeps what was typed.
func TestATrailIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yes, no := w.ask(), w.ask()
	w.ask()
	w.decides(yes, true, "")
	w.decides(no, false, "no")
	p := w.signedIn(ownerEmail)
	today := w.clock.Now().UTC().Format(time.DateOnly)
	base := "/people/" + w.owner.ID + "/audit"
	admin := w.signedIn(storetest.AdminEmail)
	count := func(query string) int {
		t.Helper()
		own, theirs := len(trailRows(p.get("/audit?"+query).is(http.StatusOK))), len(trailRows(admin.get(base+"?"+query).is(http.StatusOK)))
		if own != theirs {
			t.Errorf("%s: the owner sees %d, an admin %d", query, own, theirs)
		}
		return own
	}
	for query, want := range map[string]int{
		"what=decisions": 2, "what=decisions&outcome=rejected": 1, "outcome=approved": 1, "outcome=expired": 0, "outcome=cancelled": 0, "outcome=resolved": 0, "outcome=let_through": 0,
		"what=requests": 5, "what=rules": 0, "what=requests&agent=" + w.agent.ID: 5, "what=decisions&agent=" + string(models.NewID[models.AgentID]()): 0,
		"what=requests&conversation=" + string(no.ConversationID): 5, "what=decisions&from=" + today: 2, "what=decisions&to=" + today: 2, "what=decisions&to=2000-01-01": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("%s: %d rows, want %d", query, got, want)
		}
	}
	p.get("/audit").doc.Find("#filter-what option, #filter-outcome option").Each(func(_ int, o *goquery.Selection) {
		name := o.Closest("select").AttrOr("name", "")
		if v := o.AttrOr("value", ""); v != "" {
			p.get("/audit?" + url.Values{name: {v}}.Encode()).is(http.StatusOK)
		}
	})
	for field, bad := range map[string]string{"from": "soon", "to": "2026-13-01", "agent": "x", "conversation": "y", "what": "<b>", "outcome": "pending"} {
		got := p.get("/audit?" + url.Values{field: {bad}}.Encode()).is(http.StatusUnprocessableEntity)
		if got.text("#filter-"+field+"-error") == "" {
			t.Errorf("%s: no error at the field", field)
		}
		for _, output := range []string{"/audit/print?", "/audit/export?format=csv&", "/audit/export?format=jsonl&"} {
			p.get(output + url.Values{field: {bad}}.Encode()).is(http.StatusUnprocessableEntity)
		}
	}
	p.get("/audit?before=x").is(http.StatusNotFound)
	p.get("/audit/print?from=x").is(http.StatusUnprocessableEntity)
	p.get("/audit/export?format=xml").is(http.StatusUnprocessableEntity)
	admin.get("/people/" + string(models.NewID[models.UserID]()) + "/audit").is(http.StatusNotFound)
	admin.get("/people/nonsense/audit").is(http.StatusNotFound)
	p.get("/audit?what=&outcome=rejected").redirects("/audit?outcome=rejected")
}

// TestATrailPagesByKey: all of it, each entry once, where it ended at a hundred.
func TestATrailPagesByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 130 {
		w.ask()
	}
	p := w.signedIn(ownerEmail)
	seen := map[string]bool{}
	for next := "/audit?what=requests"; next != ""; {
		got := p.get(next).is(http.StatusOK)
		got.doc.Find(".trail tbody th").Each(func(_ int, s *goquery.Selection) {
			if seen[s.Text()] {
				t.Errorf("entry %s is on two pages", s.Text())
			}
			seen[s.Text()] = true
		})
		next = got.doc.Find(`.pager a[rel="next"]`).AttrOr("href", "")
	}
	if len(seen) != 130 {
		t.Errorf("%d entries, want 130", len(seen))
	}
	printed := p.get("/audit/print?what=requests").is(http.StatusOK)
	if rows := trailRows(printed); len(rows) != 130 {
		t.Errorf("%d entries are printed", len(rows))
	}
	lines := strings.Count(p.get("/audit/export?format=jsonl&what=requests").is(http.StatusOK).body, "\n")
	if lines != 130 {
		t.Errorf("%d entries are exported", lines)
	}
}

// TestWhatOnePersonDecidedLastWeek is one click from their trail and one page to
// print.
func TestWhatOnePersonDecidedLastWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.decides(w.ask(), false, "two weeks ago")
	monday := w.clock.Now().UTC().Truncate(24 * time.Hour)
	monday = monday.AddDate(0, 0, 7-(int(monday.Weekday())+6)%7)
	w.clock.Step(monday.Sub(w.clock.Now()))
	w.decides(w.ask(), false, "on Monday")
	w.clock.Step(7*24*time.Hour - time.Minute)
	w.decides(w.ask(toolCall("pay", `{"amount":5,"to":"ACME"}`)), true, "on Sunday")
	w.clock.Step(time.Minute)
	w.decides(w.ask(), false, "this week")
	admin := w.signedIn(storetest.AdminEmail)
	all := admin.get("/people/" + w.owner.ID + "/audit").is(http.StatusOK)
	week := admin.get(all.doc.Find(`.trail-presets a:contains("last week")`).AttrOr("href", "")).is(http.StatusOK)
	paper := admin.get(week.doc.Find(`.head-end a:contains("Printable")`).AttrOr("href", "")).is(http.StatusOK)
	for _, p := range []*page{week, paper} {
		if rows := trailRows(p); len(rows) != 2 || !has(rows[0], `"pay": amount 5, to ACME`, "approved", "on Sunday") || !has(rows[1], "rejected", "on Monday") {
			t.Errorf("%s: %q", p.asked, rows)
		}
	}
	head, err := w.store.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	paper.says("h1", "Audit trail of").says(".facts", ownerEmail, "decisions", monday.Format(time.DateOnly)+" to "+monday.AddDate(0, 0, 6).Format(time.DateOnly), "2", head.String())
	if paper.doc.Find("main form, main details").Length() != 0 {
		t.Error("what is printed has something that only a click shows")
	}
}

// TestAnExportOfATrail has what the page has, exactly for programs and harmless to a
// spreadsheet, and nothing for who may not read it.
func TestAnExportOfATrail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(toolCall("pay", "{\"amount\":5,\"to\":\"A\u202EB\"}"))
	w.decides(a, false, "=1+1\nsecond line")
	p := w.signedIn(ownerEmail)
	lines := p.get("/audit/export?format=jsonl&what=decisions").is(http.StatusOK)
	var got struct {
		Seq                                                                int64
		At, Who, Action, Outcome, Reason, Tool, Summary, Agent, Page, Hash string
		RequestID                                                          string `json:"requestId"`
		Data                                                               map[string]any
	}
	if err := stdjson.Unmarshal([]byte(lines.body), &got); err != nil {
		t.Fatalf("%s: %v", lines.body, err)
	}
	if got.Tool != "pay" || !strings.Contains(got.Summary, "A\u202EB") || got.Reason != "=1+1\nsecond line" || got.Outcome != "rejected, reviewer" || got.Page != pageOf(a) ||
		got.RequestID != string(a.ID) || got.Agent != "deployer" || got.Data["digest"] != a.Digest || len(got.Hash) != 64 || strings.Contains(lines.body, "\u202E") {
		t.Errorf("%+v", got)
	}
	if name := lines.header.Get("Content-Disposition"); !strings.Contains(name, "countersign-audit-") || !strings.Contains(name, ".jsonl") {
		t.Errorf("named %q", name)
	}
	admin := w.signedIn(storetest.AdminEmail)
	read := csv.NewReader(strings.NewReader(admin.get("/people/" + w.owner.ID + "/audit/export?format=csv&what=decisions").is(http.StatusOK).body))
	head, err := read.Read()
	if err != nil {
		t.Fatal(err)
	}
	first, err := read.Read()
	if err != nil {
		t.Fatal(err)
	}
	row := map[string]string{}
	for i, name := range head {
		row[name] = first[i]
	}
	if row["tool"] != "pay" || !strings.HasPrefix(row["reason"], "'=1+1") || row["seq"] != strconv.FormatInt(got.Seq, 10) || strings.Contains(row["summary"], "\u202E") {
		t.Errorf("%q", row)
	}
	if row["hash"] != got.Hash {
		t.Errorf("hash %q", row["hash"])
	}
	w.signedIn(strangerEmail).get("/people/" + w.owner.ID + "/audit/export?format=csv").is(http.StatusForbidden)
	w.signedIn(strangerEmail).get("/people/" + w.owner.ID + "/audit/print").is(http.StatusForbidden)
}

// TestATrailShowsNothingOfWhatOneMayNoLongerSee: who was an admin keeps their own
// decisions, and loses the requests.
func TestATrailShowsNothingOfWhatOneMayNoLongerSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second, err := w.store.People.UserByEmail(t.Context(), w.admin, strangerEmail)
	if err != nil {
		t.Fatal(err)
	}
	role := func(r models.Role) {
		t.Helper()
		if err := w.store.People.SetRole(t.Context(), w.admin, second.ID, r); err != nil {
			t.Fatal(err)
		}
	}
	role(models.RoleAdmin)
	a := w.ask(toolCall("pay", `{"amount":5,"to":"ACME"}`))
	no := false
	as := models.Actor{Kind: models.ActorUser, ID: string(second.ID), Name: second.Name, Admin: true}
	if _, err := w.store.Decide(t.Context(), as, a.ID, models.DecisionInput{Approved: &no, Reason: "the secret reason"}); err != nil {
		t.Fatal(err)
	}
	if rows := trailRows(w.signedIn(strangerEmail).get("/audit?what=decisions")); len(rows) != 1 || !has(rows[0], "pay", "ACME", "secret") {
		t.Fatalf("%q", rows)
	}
	role(models.RoleReviewer)
	p := w.signedIn(strangerEmail)
	for _, path := range []string{"/audit?what=decisions", "/audit/print?what=decisions"} {
		got := p.get(path).is(http.StatusOK)
		rows := trailRows(got)
		if len(rows) != 1 || !has(rows[0], "rejected", "You can no longer see this request") || has(rows[0], "ACME") || strings.Contains(got.body, pageOf(a)) || strings.Contains(got.body, "secret reason") {
			t.Errorf("%s: %q", path, rows)
		}
	}
	for _, format := range []string{"csv", "jsonl"} {
		if got := p.get("/audit/export?what=decisions&format=" + format).is(http.StatusOK); strings.Contains(got.body, "ACME") || strings.Contains(got.body, "secret reason") || !strings.Contains(got.body, "rejected") {
			t.Errorf("%s: %s", format, got.body)
		}
	}
}
