package browser_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/static"
)

// otherOrigin is a page of another origin, and the server that it may use: pages and API.
func otherOrigin(w *webtest.World, named bool) (page, server string, cut func()) {
	w.TB.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><title>Elsewhere</title><p>Elsewhere</p>`))
	}))
	w.TB.Cleanup(front.Close)
	back := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: back.Listener.Addr().String()}
	surface, err := api.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: public, Streams: w.Streams}, w.Store, "test")
	if err != nil {
		w.TB.Fatal(err)
	}
	list := "https://other.example.com"
	if named {
		list = front.URL
	}
	origins, err := handlers.ParseOrigins(list)
	if err != nil {
		w.TB.Fatal(err)
	}
	back.Config.Handler = origins.Wrap(public, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, static.Prefix) {
			w.Pages.ServeHTTP(rw, r)
			return
		}
		surface.ServeHTTP(rw, r)
	}))
	back.Start()
	w.TB.Cleanup(func() { w.Streams.Stop(); w.Store.EndWaits(); back.CloseClientConnections(); back.Close() })
	return front.URL, back.URL, back.CloseClientConnections
}

// A page of another origin asks, waits, follows and decides by the module that the server has
// for it, and goes on where a stream was cut; of an origin that is not named it hears nothing.
func TestInABrowserAPageElsewhereAsksAndDecides(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	page, server, cut := otherOrigin(w, true)
	_, reviewer := storetest.ReviewerToken(t, w.Store, w.Owner)
	p := openTab(w)
	p.do("open the page", chromedp.Navigate(page+"/"))
	p.value(fmt.Sprintf(`(async () => {
		const { Countersign } = await import("%[1]s/static/client.js");
		Object.assign(window, { Countersign, told: [], agent: new Countersign("%[1]s", "%[2]s"), person: new Countersign("%[1]s/", "%[3]s"), stop: new AbortController() });
		window.streaming = person.subscribe((e) => told.push(e), { signal: stop.signal, from: "0" });
		window.asked = agent.ask({ toolName: "deploy", input: { version: "1.4" } }, { onPending: (a) => { window.waits = a; } });
		asked.then((a) => { window.outcome = a; });
	})().catch((e) => { window.failed = String(e); })`, server, w.Token, reviewer))
	p.becomes(`window.failed !== undefined || told.some((e) => e.type === "new_approval")`)
	p.value(`(async () => {
		const id = told.find((e) => e.type === "new_approval").data.approvals[0].id;
		window.decided = await person.respond(id, { approved: true, input: { version: "1.5" } });
	})().catch((e) => { window.failed = String(e); })`)
	p.becomes(`window.failed !== undefined || window.outcome !== undefined && told.some((e) => e.type === "approval_resolved")`)
	for expression, want := range map[string]string{
		`window.failed`:  "undefined",
		`outcome.status`: "approved",
		`outcome.decision.input.version + Countersign.mayRun(outcome)`: "1.5true",
		`decided.status`: "approved",
		`told.filter((e) => e.type === "new_approval").length`:                                                                       "1",
		`told.filter((e) => e.type === "approval_resolved").length`:                                                                  "1",
		`Countersign.mayRun({ status: "resolved", decision: { approved: true } }) || Countersign.mayRun({}) || Countersign.mayRun()`: "false",
	} {
		if got := p.value(expression); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}

	// A stream that is cut goes on where it was, and one that begins after an event tells only
	// what comes after.
	p.expected = append(p.expected, "ERR_")
	cut()
	a := w.Ask(func(in *models.AskInput) { in.ToolName = "later" })
	p.becomes(`told.filter((e) => e.type === "new_approval").length === 2`)
	p.value(`(stop.abort(), streaming.then(() => { window.ended = true; }), 0)`)
	p.becomes(`window.ended`)
	p.value(`(async () => {
		const from = told.findLast((e) => e.type === "new_approval" && e.data.approvals[0].tool_name === "deploy").id;
		window.again = [];
		person.subscribe((e) => again.push(e), { from });
	})()`)
	p.becomes(`again.some((e) => e.type === "new_approval")`)
	if got := p.value(`again.filter((e) => e.type === "new_approval").map((e) => e.data.approvals[0].id)`); got != string(a.ID) {
		t.Errorf("after the place: %s, want %s", got, a.ID)
	}

	// A refused token ends what waits, with what the server said.
	p.expected = append(p.expected, "401", "403", "409")
	p.value(`new Countersign("` + server + `", "csa_none").wait("` + string(a.ID) + `").catch((e) => { window.refused = e.status + " " + e.code; })`)
	p.becomes(`window.refused !== undefined`)
	if got := p.value(`refused`); got != "401 unauthenticated" {
		t.Errorf("a wrong token: %s", got)
	}
	p.value(`agent.respond("` + string(a.ID) + `", { approved: true }).catch((e) => { window.never = e.status + " " + e.code; })`)
	p.becomes(`window.never !== undefined`)
	if got := p.value(`never`); got != "403 forbidden" {
		t.Errorf("an agent decides: %s", got)
	}
}

func TestInABrowserAPageThatIsNotNamedHearsNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	page, server, _ := otherOrigin(w, false)
	p := openTab(w)
	p.expected = append(p.expected, "CORS", "ERR_FAILED", "Failed to load", "net::")
	p.do("open the page", chromedp.Navigate(page+"/"))
	p.value(`fetch("` + server + `/v1/approvals", { headers: { Authorization: "Bearer ` + w.Token + `" } }).then((a) => { window.got = "answered " + a.status; }, (e) => { window.got = e.name; })`)
	p.becomes(`window.got !== undefined`)
	if got := p.value(`got`); got != "TypeError" {
		t.Errorf("it got %s", got)
	}
}
