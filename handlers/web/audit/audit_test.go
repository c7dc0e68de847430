package audit_test

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

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

func trailRows(p *webtest.Page) []string {
	return p.Doc.Find(".trail tbody tr").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
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
	w := webtest.New(t)
	paid := w.Ask(webtest.ToolCall("pay", `{"amount":5,"to":"ACME\u202e"}`))
	asked := w.Ask(webtest.Question)
	w.Decides(paid, false, "not on Fridays\nsee the calendar")
	own := w.SignIn(webtest.OwnerEmail).Get("/audit?what=requests").Is(http.StatusOK)
	admin := w.SignIn(storetest.AdminEmail)
	theirs := admin.Get("/people/"+w.Owner.ID+"/audit?what=requests").Is(http.StatusOK).Says("h1", "Audit trail of").Says("main", webtest.OwnerEmail)
	for _, p := range []*webtest.Page{own, theirs} {
		rows := trailRows(p)
		if len(rows) < 3 || !has(rows[0], "pay", "ACME⟨U+202E⟩", "person owner@example.com rejected", "statusrejected", "not on Fridays …", "deployer") || has(rows[0], "calendar") {
			t.Fatalf("%s: %q", p.Asked, rows)
		}
		if !has(rows[1], "question", "Which region first?") {
			t.Errorf("%s: %q", p.Asked, rows[1])
		}
		for _, a := range []*models.Approval{paid, asked} {
			if p.Doc.Find(`.trail tbody a[href="`+webtest.PageOf(a)+`"]`).Length() == 0 {
				t.Errorf("%s: no link to %s", p.Asked, a.ToolName)
			}
		}
	}
	link := admin.Get("/people").Doc.Find(`a[href="/people/` + w.Owner.ID + `/audit"]`)
	if link.Length() != 1 {
		t.Error("the page of people does not lead to the trail")
	}
	for who, want := range map[string]int{webtest.OwnerEmail: 1, w.Owner.ID: 1, w.Agent.ID: 0, "": 0} {
		path := "/audit/all"
		if who != "" {
			path += "?" + url.Values{"who": {who}}.Encode()
		}
		p := admin.Get(path).Is(http.StatusOK)
		if n := p.Doc.Find(`main a[href="/people/` + w.Owner.ID + `/audit"]`).Length(); n != want {
			t.Errorf("everybody's audit of %q leads to the trail %d times, want %d", who, n, want)
		}
	}
	w.SignIn(webtest.StrangerEmail).Get("/people/" + w.Owner.ID + "/audit").Is(http.StatusForbidden)
	if rows := trailRows(w.SignIn(webtest.StrangerEmail).Get("/audit?what=requests")); len(rows) != 0 {
		t.Errorf("a stranger sees %q", rows)
	}
}

// TestATrailIsNarrowedByItsAddress and its form keeps what was typed.
func TestATrailIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	yes, no := w.Ask(), w.Ask()
	w.Ask()
	w.Decides(yes, true, "")
	w.Decides(no, false, "no")
	p := w.SignIn(webtest.OwnerEmail)
	today := w.Clock.Now().UTC().Format(time.DateOnly)
	base := "/people/" + w.Owner.ID + "/audit"
	admin := w.SignIn(storetest.AdminEmail)
	count := func(query string) int {
		t.Helper()
		own, theirs := len(trailRows(p.Get("/audit?"+query).Is(http.StatusOK))), len(trailRows(admin.Get(base+"?"+query).Is(http.StatusOK)))
		if own != theirs {
			t.Errorf("%s: the owner sees %d, an admin %d", query, own, theirs)
		}
		return own
	}
	for query, want := range map[string]int{
		"what=decisions": 2, "what=decisions&outcome=rejected": 1, "outcome=approved": 1, "outcome=expired": 0, "outcome=cancelled": 0, "outcome=resolved": 0, "outcome=let_through": 0,
		"what=requests": 5, "what=rules": 0, "what=requests&agent=" + w.Agent.ID: 5, "what=decisions&agent=" + string(models.NewID[models.AgentID]()): 0,
		"what=requests&conversation=" + string(no.ConversationID): 5, "what=decisions&from=" + today: 2, "what=decisions&to=" + today: 2, "what=decisions&to=2000-01-01": 0,
	} {
		if got := count(query); got != want {
			t.Errorf("%s: %d rows, want %d", query, got, want)
		}
	}
	p.Get("/audit").Doc.Find("#filter-what option, #filter-outcome option").Each(func(_ int, o *goquery.Selection) {
		name := o.Closest("select").AttrOr("name", "")
		if v := o.AttrOr("value", ""); v != "" {
			p.Get("/audit?" + url.Values{name: {v}}.Encode()).Is(http.StatusOK)
		}
	})
	for field, bad := range map[string]string{"from": "soon", "to": "2026-13-01", "agent": "x", "conversation": "y", "what": "<b>", "outcome": "pending"} {
		got := p.Get("/audit?" + url.Values{field: {bad}}.Encode()).Is(http.StatusUnprocessableEntity)
		if got.Text("#filter-"+field+"-error") == "" {
			t.Errorf("%s: no error at the field", field)
		}
		for _, output := range []string{"/audit/print?", "/audit/export?format=csv&", "/audit/export?format=jsonl&"} {
			p.Get(output + url.Values{field: {bad}}.Encode()).Is(http.StatusUnprocessableEntity)
		}
	}
	p.Get("/audit?before=x").Is(http.StatusNotFound)
	p.Get("/audit/print?from=x").Is(http.StatusUnprocessableEntity)
	p.Get("/audit/export?format=xml").Is(http.StatusUnprocessableEntity)
	admin.Get("/people/" + string(models.NewID[models.UserID]()) + "/audit").Is(http.StatusNotFound)
	admin.Get("/people/nonsense/audit").Is(http.StatusNotFound)
	p.Get("/audit?what=&outcome=rejected").Redirects("/audit?outcome=rejected")
}

// TestATrailPagesByKey: all of it, each entry once, where it ended at a hundred.
func TestATrailPagesByKey(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for range 130 {
		w.Ask()
	}
	p := w.SignIn(webtest.OwnerEmail)
	seen := map[string]bool{}
	for next := "/audit?what=requests"; next != ""; {
		got := p.Get(next).Is(http.StatusOK)
		got.Doc.Find(".trail tbody dl.facts > dd:first-of-type").Each(func(_ int, s *goquery.Selection) {
			if seen[s.Text()] {
				t.Errorf("entry %s is on two pages", s.Text())
			}
			seen[s.Text()] = true
		})
		next = got.Doc.Find(`.pager a[rel="next"]`).AttrOr("href", "")
	}
	if len(seen) != 130 {
		t.Errorf("%d entries, want 130", len(seen))
	}
	printed := p.Get("/audit/print?what=requests").Is(http.StatusOK)
	if rows := trailRows(printed); len(rows) != 130 {
		t.Errorf("%d entries are printed", len(rows))
	}
	lines := strings.Count(p.Get("/audit/export?format=jsonl&what=requests").Is(http.StatusOK).Body, "\n")
	if lines != 130 {
		t.Errorf("%d entries are exported", lines)
	}
}

// TestWhatOnePersonDecidedLastWeek is one click from their trail and one page to
// print.
func TestWhatOnePersonDecidedLastWeek(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Decides(w.Ask(), false, "two weeks ago")
	monday := w.Clock.Now().UTC().Truncate(24 * time.Hour)
	monday = monday.AddDate(0, 0, 7-(int(monday.Weekday())+6)%7)
	w.Clock.Step(monday.Sub(w.Clock.Now()))
	w.Decides(w.Ask(), false, "on Monday")
	w.Clock.Step(7*24*time.Hour - time.Minute)
	w.Decides(w.Ask(webtest.ToolCall("pay", `{"amount":5,"to":"ACME"}`)), true, "on Sunday")
	w.Clock.Step(time.Minute)
	w.Decides(w.Ask(), false, "this week")
	admin := w.SignIn(storetest.AdminEmail)
	all := admin.Get("/people/" + w.Owner.ID + "/audit").Is(http.StatusOK)
	week := admin.Get(all.Doc.Find(`.shortcuts a:contains("Last week")`).AttrOr("href", "") + "&what=decisions").Is(http.StatusOK)
	paper := admin.Get(week.Doc.Find(`.head-end a:contains("Printable")`).AttrOr("href", "")).Is(http.StatusOK)
	for _, p := range []*webtest.Page{week, paper} {
		if rows := trailRows(p); len(rows) != 2 || !has(rows[0], `"pay": amount 5, to ACME`, "approved", "on Sunday") || !has(rows[1], "rejected", "on Monday") {
			t.Errorf("%s: %q", p.Asked, rows)
		}
	}
	head, err := w.Store.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	paper.Says("h1", "Audit trail of").Says(".facts", webtest.OwnerEmail, "decisions", monday.Format(time.DateOnly)+" to "+monday.AddDate(0, 0, 6).Format(time.DateOnly), "2", head.String())
	if paper.Doc.Find("main form, main details").Length() != 0 {
		t.Error("what is printed has something that only a click shows")
	}
}

// TestAnExportOfATrail has what the page has, exactly for programs and harmless to a
// spreadsheet, and nothing for who may not read it.
func TestAnExportOfATrail(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.ToolCall("pay", "{\"amount\":5,\"to\":\"A\u202EB\"}"))
	w.Decides(a, false, "=1+1\nsecond line")
	p := w.SignIn(webtest.OwnerEmail)
	lines := p.Get("/audit/export?format=jsonl&what=decisions").Is(http.StatusOK)
	var got struct {
		Seq                                                                int64
		At, Who, Action, Outcome, Reason, Tool, Summary, Agent, Page, Hash string
		RequestID                                                          string `json:"requestId"`
		Data                                                               map[string]any
	}
	if err := stdjson.Unmarshal([]byte(lines.Body), &got); err != nil {
		t.Fatalf("%s: %v", lines.Body, err)
	}
	if got.Tool != "pay" || !strings.Contains(got.Summary, "A\u202EB") || got.Reason != "=1+1\nsecond line" || got.Outcome != "rejected, reviewer" || got.Page != webtest.PageOf(a) ||
		got.RequestID != string(a.ID) || got.Agent != "deployer" || got.Data["digest"] != a.Digest || len(got.Hash) != 64 || strings.Contains(lines.Body, "\u202E") {
		t.Errorf("%+v", got)
	}
	if name := lines.Header.Get("Content-Disposition"); !strings.Contains(name, "countersign-audit-") || !strings.Contains(name, ".jsonl") {
		t.Errorf("named %q", name)
	}
	admin := w.SignIn(storetest.AdminEmail)
	read := csv.NewReader(strings.NewReader(admin.Get("/people/" + w.Owner.ID + "/audit/export?format=csv&what=decisions").Is(http.StatusOK).Body))
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
	w.SignIn(webtest.StrangerEmail).Get("/people/" + w.Owner.ID + "/audit/export?format=csv").Is(http.StatusForbidden)
	w.SignIn(webtest.StrangerEmail).Get("/people/" + w.Owner.ID + "/audit/print").Is(http.StatusForbidden)
}

// TestATrailShowsNothingOfWhatOneMayNoLongerSee: who was an admin keeps their own
// decisions, and loses the requests.
func TestATrailShowsNothingOfWhatOneMayNoLongerSee(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	second, err := w.Store.People.UserByEmail(t.Context(), w.Admin, webtest.StrangerEmail)
	if err != nil {
		t.Fatal(err)
	}
	role := func(r models.Role) {
		t.Helper()
		if err := w.Store.People.SetRole(t.Context(), w.Admin, second.ID, r); err != nil {
			t.Fatal(err)
		}
	}
	role(models.RoleAdmin)
	a := w.Ask(webtest.ToolCall("pay", `{"amount":5,"to":"ACME"}`))
	no := false
	as := models.Actor{Kind: models.ActorUser, ID: string(second.ID), Name: second.Name, Admin: true}
	if _, err := w.Store.Decide(t.Context(), as, a.ID, models.DecisionInput{Approved: &no, Reason: "the secret reason"}); err != nil {
		t.Fatal(err)
	}
	if rows := trailRows(w.SignIn(webtest.StrangerEmail).Get("/audit?what=decisions")); len(rows) != 1 || !has(rows[0], "pay", "ACME", "secret") {
		t.Fatalf("%q", rows)
	}
	role(models.RoleReviewer)
	p := w.SignIn(webtest.StrangerEmail)
	for _, path := range []string{"/audit?what=decisions", "/audit/print?what=decisions"} {
		got := p.Get(path).Is(http.StatusOK)
		rows := trailRows(got)
		if len(rows) != 1 || !has(rows[0], "rejected", "You can no longer see this request") || has(rows[0], "ACME") || strings.Contains(got.Body, webtest.PageOf(a)) || strings.Contains(got.Body, "secret reason") {
			t.Errorf("%s: %q", path, rows)
		}
	}
	for _, format := range []string{"csv", "jsonl"} {
		if got := p.Get("/audit/export?what=decisions&format=" + format).Is(http.StatusOK); strings.Contains(got.Body, "ACME") || strings.Contains(got.Body, "secret reason") || !strings.Contains(got.Body, "rejected") {
			t.Errorf("%s: %s", format, got.Body)
		}
	}
}
