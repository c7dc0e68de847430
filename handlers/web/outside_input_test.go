package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// One line of a request, wherever it stands, is of what another system runs and
// not of what the agent reported, also where that is long.
func TestTheLineIsOfWhatAnotherSystemRuns(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.run(models.RunInput{RunID: "r"}, queued("u1", "Bash", `{"command":"ls -la"}`))
	o.take(models.OutsideItem{CallID: "c1", RunID: "r", Name: "Bash", Arguments: []byte(`{"command":"rm -rf /","why":"` + strings.Repeat("x", 9000) + `"}`)})
	a := o.waits()
	p := o.signedIn(ownerEmail)
	says := func(where, path, selector string) {
		t.Helper()
		found := p.get(path).is(http.StatusOK).doc.Find(selector).Text()
		if !strings.Contains(found, "rm -rf /") || strings.Contains(found, "ls -la") {
			t.Errorf("%s: %q", where, found)
		}
	}
	says("inbox", "/", "#inbox .row-summary")
	p.post(decideOf(&a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).redirects(pageOf(&a))
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	says("history", "/history", ".history tbody tr")
	for format, want := range map[string]string{"csv": `,"{""command"":""rm -rf /"",`, "jsonl": `"input":{"command":"rm -rf /",`} {
		if got := p.get("/history/export?format=" + format).is(http.StatusOK).body; !strings.Contains(got, want) {
			t.Errorf("history as %s: %s", format, got)
		}
	}
	says("trail", "/audit?what=decisions", "td[data-label=Request]")
	for _, format := range []string{"csv", "jsonl"} {
		says := p.get("/audit/export?what=decisions&format=" + format).is(http.StatusOK).body
		if !strings.Contains(says, "rm -rf /") || strings.Contains(says, "ls -la") {
			t.Errorf("%s: %s", format, says)
		}
	}
}
