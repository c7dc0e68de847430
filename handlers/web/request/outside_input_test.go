package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// One line of a request, wherever it stands, is of what another system runs and
// not of what the agent reported, also where that is long.
func TestTheLineIsOfWhatAnotherSystemRuns(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Run(models.RunInput{RunID: "r"}, webtest.Queued("u1", "Bash", `{"command":"ls -la"}`))
	o.Take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"rm -rf /","why":"` + strings.Repeat("x", 9000) + `"}`)})
	a := o.Waits()
	p := o.SignIn(webtest.OwnerEmail)
	says := func(where, path, selector string) {
		t.Helper()
		found := p.Get(path).Is(http.StatusOK).Doc.Find(selector).Text()
		if !strings.Contains(found, "rm -rf /") || strings.Contains(found, "ls -la") {
			t.Errorf("%s: %q", where, found)
		}
	}
	says("inbox", "/", "#inbox .row-summary")
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Redirects(webtest.PageOf(&a))
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	says("history", "/history", ".history tbody tr")
	for format, want := range map[string]string{"csv": `,"{""command"":""rm -rf /"",`, "jsonl": `"input":{"command":"rm -rf /",`} {
		if got := p.Get("/history/export?format=" + format).Is(http.StatusOK).Body; !strings.Contains(got, want) {
			t.Errorf("history as %s: %s", format, got)
		}
	}
	says("trail", "/audit?what=decisions", ".past-what")
	for _, format := range []string{"csv", "jsonl"} {
		says := p.Get("/audit/export?what=decisions&format=" + format).Is(http.StatusOK).Body
		if !strings.Contains(says, "rm -rf /") || strings.Contains(says, "ls -la") {
			t.Errorf("%s: %s", format, says)
		}
	}
}
