package inbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestAnEmptyInboxTeaches(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.StrangerEmail)
	page := p.Get("/").Is(http.StatusOK).Says("#teach-curl", w.URL+"/v1/approvals?wait=50s", "$TOKEN")
	if page.Doc.Find("form[action='/inbox/token']").Length() != 1 {
		t.Fatal("no button makes a token")
	}
	got := p.Post("/inbox/token", nil).Is(http.StatusOK)
	secret, ok := strings.CutPrefix(got.Text("#fresh-token"), "export TOKEN=")
	if actor, err := w.Store.People.AuthenticateToken(t.Context(), secret); !ok || err != nil || !actor.IsAgent() {
		t.Errorf("the token shown stands for %+v (%v)", actor, err)
	}
	if again := p.Get("/").Is(http.StatusOK); strings.Contains(again.Body, secret) {
		t.Error("the secret is shown a second time")
	}
	p.Get("/inbox/token").Redirects("/")
}

func TestInboxIsPagedAndFiltered(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for range 59 {
		w.Ask()
	}
	other := w.Ask(func(in *models.AskInput) { in.RunID = "another run" })
	first := p.Get("/").Is(http.StatusOK).Says("#inbox-tally", "60 waiting")
	if n := first.Doc.Find("#inbox .row").Length(); n != 50 {
		t.Errorf("%d rows on the first page", n)
	}
	second := p.Get(first.Doc.Find("#inbox a[rel=next]").AttrOr("href", "/nowhere")).Is(http.StatusOK)
	if n := second.Doc.Find("#inbox .row").Length(); n != 10 {
		t.Errorf("%d rows on the second page", n)
	}
	one := p.Get("/?conversation=" + string(other.ConversationID)).Is(http.StatusOK)
	if one.Doc.Find("#inbox .row").Length() != 1 || one.Text("#inbox-count .count") != "60 waiting" {
		t.Errorf("filtered: %s; count %q", one.Text("#inbox"), one.Text("#inbox-count"))
	}
	w.SignIn(webtest.StrangerEmail).Get("/?conversation="+string(other.ConversationID)).Is(http.StatusOK).SaysNot("#inbox", "Bash")
	if len(first.Body) > 200<<10 {
		t.Errorf("a page of 50 takes %d bytes", len(first.Body))
	}
	w.Clock.Step(5 * time.Minute)
	p.Get("/").Is(http.StatusOK).Says("#inbox-tally", "0 waiting")
}

// After work it says what was decided today, in the reader's zone, and teaches nothing.
func TestAnInboxInWhichAllIsDoneSaysWhatWasDecided(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, seconds := range []int{12, 4, 40} {
		a := w.Ask()
		w.Clock.Step(time.Duration(seconds) * time.Second)
		p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "reason": {"no"}, "digest": {a.Digest}})
	}
	day := w.Clock.Now().UTC().Format(time.DateOnly)
	page := p.Get("/").Is(http.StatusOK).Says("#inbox .empty-state", "All clear", "3 decided today (UTC), median 12 s", "Last: Run: rm -rf build/").SaysNot("#detail", "Try it")
	if got := page.Doc.Find(".today a").First().AttrOr("href", ""); got != "/history?by="+string(w.Owner.UserID())+"&from="+day {
		t.Errorf("the count leads to %q", got)
	}
	p.Get(page.Doc.Find(".today a").Last().AttrOr("href", "")).Is(http.StatusOK).Says("main", "rm -rf build/")
	p.Get("/", webtest.Header{"Cookie", "countersign-zone=../etc/passwd"}).Is(http.StatusOK).Says("#inbox .empty-state", "3 decided today (UTC)")
	// The day ends at the midnight of the browser's zone.
	w.Clock.Step(13 * time.Hour)
	p = w.SignIn(webtest.OwnerEmail)
	p.Get("/").Is(http.StatusOK).Says("#inbox .empty-state", "All clear").SaysNot("#inbox", "decided today").SaysNot("#detail", "Try it")
	page = p.Get("/", webtest.Header{"Cookie", "countersign-zone=America/New_York"}).Is(http.StatusOK).Says("#inbox .empty-state", "3 decided today, median")
	p.Get(page.Doc.Find(".today a").First().AttrOr("href", "")).Is(http.StatusOK).Says("main", "rm -rf build/")
	w.SignIn(webtest.StrangerEmail).Get("/").Is(http.StatusOK).Says("#detail", "Try it").SaysNot("#inbox", "All clear")
}

// TestAFloodIsOneLine above the list: what differs is named first, and its owner and admins may stop the agent.
func TestAFloodIsOneLine(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"flood_per_hour":10,"rules":[{"name":"r","tools":["Bash"],"effect":"require","reviewers":["` + webtest.StrangerEmail + `"]}]}`)
	odd := w.Ask(func(in *models.AskInput) { in.ToolName = "Bash"; in.Input = []byte(`{"command":"shutdown now"}`) })
	for i := range 12 {
		w.Ask(func(in *models.AskInput) { in.ToolName = "Bash"; in.Input = fmt.Appendf(nil, `{"file":"/srv/%d"}`, i) })
	}
	p := w.SignIn(webtest.OwnerEmail)
	page := p.Get("/").Is(http.StatusOK).Says("#inbox-tally", "13 waiting").
		Says(".aside-line", "deployer asks for more than people can look at: 13 requests wait", "1 differs from the rest:", "shutdown now", "12 look like many others.").
		Says("#inbox", "Nothing else is waiting for you")
	if n := page.Doc.Find("#inbox .row").Length(); n != 0 {
		t.Errorf("%d rows beside the line", n)
	}
	if href := page.Doc.Find(".aside-differ a").AttrOr("href", ""); !strings.Contains(href, string(odd.ID)) {
		t.Errorf("what differs is at %q", href)
	}
	all := p.Get(page.Doc.Find(".aside-acts a").First().AttrOr("href", "")).Is(http.StatusOK)
	if n := all.Doc.Find("#inbox .row").Length(); n != 13 || all.Doc.Find(".aside-line").Length() != 0 {
		t.Errorf("%d of 13 rows one by one", n)
	}
	stop, _, _ := strings.Cut(page.Doc.Find(".aside-acts a[data-variant=destructive]").AttrOr("href", ""), "#")
	form := p.Get(stop).Is(http.StatusOK).Doc.Find("form[action^='/agents/stops'] [name=note]")
	if form.Length() != 1 || form.AttrOr("id", "") != "stop-note-"+string(w.Agent.AgentID()) {
		t.Errorf("the button leads to no form that stops the agent: %s", stop)
	}
	w.SignIn(webtest.StrangerEmail).Get("/").Is(http.StatusOK).Says(".aside-line", "13 requests wait").SaysNot(".aside-line", "Stop")
}
