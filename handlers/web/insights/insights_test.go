package insights_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// cells are the rows of the table under a heading, as text.
func cells(p *webtest.Page, id string) (rows []string) {
	return p.Doc.Find(`section[aria-labelledby="` + id + `"] tbody tr`).Map(func(_ int, row *goquery.Selection) string {
		return strings.Join(row.Find("th, td").Map(func(_ int, cell *goquery.Selection) string { return strings.Join(strings.Fields(cell.Text()), " ") }), "|")
	})
}

func has(t *testing.T, p *webtest.Page, id string, want ...string) {
	t.Helper()
	got := cells(p, id)
	for _, row := range want {
		if !slices.Contains(got, row) {
			t.Errorf("%s: %s lacks %q: %q", p.Asked, id, row, got)
		}
	}
}

// busy is a world in which two agents asked, and people decided after some minutes.
func busy(t *testing.T) (w *webtest.World, p *webtest.Person) {
	t.Helper()
	w = webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Reading","tools":["read"],"effect":"allow"},{"name":"Payments","tools":["pay"],"effect":"require"}]}`)
	call := func(tool string) *models.Approval {
		return w.Ask(func(in *models.AskInput) { in.ToolName, in.Explicit = tool, tool != "read" })
	}
	first, second, third := call("pay"), call("pay"), call("deploy")
	call("read")
	w.Clock.Step(90 * time.Second)
	w.Decides(first, true, "")
	w.Decides(second, false, "=Too much\nfor one day")
	w.Decides(third, true, "")
	return w, w.SignIn(storetest.AdminEmail)
}

// The page says what became of requests, of all and of one part, and its file says the same.
func TestThePageSaysWhatBecameOfRequests(t *testing.T) {
	t.Parallel()
	w, admin := busy(t)
	p := admin.Get("/insights").Is(http.StatusOK).Says("h1", "Insights").Says(".insight-facts", "Requests that ended4", "1 ran without a person", "67%", "2 of 3 decisions", "1 min 30 s")
	has(t, p, "causes", "Approved, by a person|2|50%", "Rejected, by a person|1|25%", "Ran, by the policy|1|25%")
	has(t, p, "tools", "pay|2|1|1|0|50%", "deploy|1|1|0|0|100%", "read|1|0|0|1|–")
	has(t, p, "rules", "Payments|2|1|1|0|50%", "Reading|1|0|0|1|–", "explicit ask|1|1|0|0|100%")
	has(t, p, "reasons", "=Too much|1")
	has(t, p, "people", webtest.OwnerEmail+"|3|2|1|0|67%")
	has(t, p, "times", "5 min|3|3")
	if p.Doc.Find("#outcomes ~ figure svg[role=img] rect").Length() != 3 {
		t.Error("the chart has not a part for each kind of end")
	}
	link := p.Doc.Find(`section[aria-labelledby="tools"] a`).First().AttrOr("href", "")
	p = admin.Get(link).Is(http.StatusOK).Says(".insight-facts", "Requests that ended2").Says(".filter-chip", "Tool pay")
	has(t, p, "tools", "pay|2|1|1|0|50%")
	if chosen := p.Doc.Find("#filter-about option[selected]").AttrOr("value", ""); chosen != "tool:pay" || p.Doc.Find(`#filter-about option[value="rule:Reading"]`).Length() != 1 {
		t.Errorf("chosen %q", chosen)
	}
	storetest.Must(t, w.Store.People.AddGroup(t.Context(), w.Admin, "finance", ""))
	admin.Get("/insights?about=group:finance").Is(http.StatusOK).Says(".empty-state", "Nothing in these days")
	storetest.Must(t, w.Store.People.JoinGroup(t.Context(), w.Admin, "finance", webtest.OwnerEmail))
	admin.Get("/insights?about=group:finance").Is(http.StatusOK).Says(".insight-facts", "Requests that ended3")
	admin.Get("/insights?from=2000-01-01&to=2000-02-01").Is(http.StatusOK).Says(".empty-state", "Nothing in these days")

	file := admin.Get("/insights/export?about=tool:pay").Is(http.StatusOK)
	lines, err := csv.NewReader(strings.NewReader(file.Body)).ReadAll()
	storetest.Must(t, err)
	for _, want := range [][]string{{"table", "name", "figure", "value"}, {"By tool", "pay", "Approved", "1"}, {"By tool", "pay", "Approval rate", "0.5000"}, {"Reasons to reject", "'=Too much", "Rejections", "1"}} {
		if !slices.ContainsFunc(lines, func(line []string) bool { return slices.Equal(line, want) }) {
			t.Errorf("the file lacks %q:\n%s", want, file.Body)
		}
	}
}

// A form that is wrong comes back as it was, and one that leaves fields empty leads to the plain address.
func TestAWrongFormComesBack(t *testing.T) {
	t.Parallel()
	_, admin := busy(t)
	for query, want := range map[string]struct{ field, text string }{
		"from=soon":                      {"from", "Write a day"},
		"from=2026-03-05&to=2026-03-01":  {"to", "not before the first"},
		"from=2001-01-01&to=2026-03-01":  {"to", "at most"},
		"about=tool:&from=2026-03-01":    {"about", "Choose one of the list"},
		"about=planet:mars":              {"about", "Choose one of the list"},
		"to=0001-01-01":                  {"to", "Write a day"},
		"from=9999-12-31&about=tool:pay": {"from", "Write a day"},
	} {
		p := admin.Get("/insights?"+query).Is(http.StatusUnprocessableEntity).Says("#filter-"+want.field+"-error", want.text)
		sent, err := url.ParseQuery(query)
		storetest.Must(t, err)
		for _, field := range []string{"from", "to"} {
			if got := p.Value("#filter-" + field); got != sent.Get(field) {
				t.Errorf("%s: %s comes back as %q", query, field, got)
			}
		}
		if got := p.Doc.Find("#filter-about option[selected]").AttrOr("value", ""); got != sent.Get("about") {
			t.Errorf("%s: about comes back as %q", query, got)
		}
		admin.Get("/insights/export?" + query).Is(http.StatusUnprocessableEntity)
	}
	form := admin.Get("/insights").Form("#filters", "")
	form.Set("about", "tool:pay")
	admin.Get("/insights?" + form.Encode()).Redirects("/insights?about=tool%3Apay")
}

// Whoever oversees nothing looks back on their own agents and on what they decided; an auditor on all.
func TestPeopleLookBackOnTheirOwn(t *testing.T) {
	t.Parallel()
	w, _ := busy(t)
	owner, stranger := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.StrangerEmail)
	p := owner.Get("/insights").Is(http.StatusOK).Says(".insight-facts", "Requests that ended4").SaysNot("main", "Who decided")
	if got := p.Doc.Find("#filter-about option").Map(func(_ int, s *goquery.Selection) string { return s.Text() }); !slices.Equal(got, []string{"Requests of my agents", "What I decided", "Agent " + w.Agent.Name}) {
		t.Errorf("to choose: %q", got)
	}
	owner.Get("/insights?about=person:"+w.Owner.ID).Is(http.StatusOK).Says(".insight-facts", "Requests that ended3")
	stranger.Get("/insights").Is(http.StatusOK).Says(".empty-state", "Nothing in these days")
	for _, about := range []string{"agent:" + w.Agent.ID, "tool:pay", "rule:Payments", "person:" + w.Owner.ID, "group:finance"} {
		stranger.Get("/insights?about=" + about).Is(http.StatusForbidden)
		stranger.Get("/insights/export?about=" + about).Is(http.StatusForbidden)
	}
	w.Visitor().Get("/insights").Redirects("/signin?next=%2Finsights")
}

// TestPeopleAreShownHowTheyRead, if the policy says so: each their own, and those who oversee all anyone's.
func TestPeopleAreShownHowTheyRead(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	long := strings.Repeat("x", 600)
	for range 5 {
		a := w.Ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"` + long + `"}`) })
		w.Clock.Step(2 * time.Second)
		w.Decides(a, true, "")
	}
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(storetest.AdminEmail)
	theirs := "/insights?about=" + url.QueryEscape("person:"+string(w.Owner.UserID()))
	if n := admin.Get(theirs).Is(http.StatusOK).Doc.Find("#attention").Length(); n != 0 {
		t.Error("it is shown without being asked for")
	}
	w.ApplyPolicy(`{"attention_signals":true}`)
	const says = "5 of the last 5 approvals took under 3 s each; each had at least 614 characters, which take 41 s to read."
	owner.Get("/insights").Is(http.StatusOK).Says(".attention", "How I read", says)
	admin.Get(theirs).Is(http.StatusOK).Says(".attention", "How they read", says)
	admin.Get("/insights").Is(http.StatusOK).Says(".attention", "How I read", "Nothing unusual.")
	if n := owner.Get("/insights?about=agent:" + string(w.Agent.AgentID())).Is(http.StatusOK).Doc.Find("#attention").Length(); n != 0 {
		t.Error("it stands on a page about an agent")
	}
	stranger := w.SignIn(webtest.StrangerEmail)
	stranger.Get(theirs).Is(http.StatusForbidden)
}
