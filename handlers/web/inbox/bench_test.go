package inbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// BenchmarkInbox is the inbox page over HTTP, signed in, over tables that grow:
// for an admin, who may decide all that waits, and for a reviewer who may decide
// ten of it: the whole page with one request beside the list, the list as it
// refetches itself, and a request as a click on its row brings it. The time must
// not follow the size of the tables.
func BenchmarkInbox(b *testing.B) {
	for _, size := range []struct {
		name string
		rows storetest.Rows
	}{
		{"1k", storetest.Rows{Settled: 900, Pending: 100}},
		{"100k", storetest.Rows{Settled: 90_000, Pending: 10_000}},
		{"1M", storetest.Rows{Settled: 900_000, Pending: 100_000}},
	} {
		if testing.Short() && size.name == "1M" {
			continue
		}
		w := webtest.New(b)
		few, _ := storetest.AgentToken(b, w.Store, storetest.Reviewer(b, w.Store, "few@example.com"), "few")
		storetest.Seed(b, w.Store, w.Agent, size.rows)
		for range 10 {
			if _, err := w.Store.Ask(b.Context(), few, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"make"}`), Explicit: true}); err != nil {
				b.Fatal(err)
			}
		}
		for _, email := range []string{storetest.AdminEmail, "few@example.com"} {
			reader := w.SignIn(email)
			row := reader.Get("/").Doc.Find(".row-link").First().AttrOr("href", "")
			for _, what := range []struct {
				name, path string
				headers    []webtest.Header
			}{
				{"page", "/", nil},
				{"filtered", "/?risk=high", nil},
				{"list", "/", []webtest.Header{webtest.HTMX}},
				{"request", row, besideList},
			} {
				b.Run(fmt.Sprintf("rows=%s/as=%s/%s", size.name, email, what.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						b.SetBytes(drain(reader, what.path, what.headers...))
					}
				})
			}
		}
	}
}

// drain reads a page to its end and says how long it was.
func drain(p *webtest.Person, path string, headers ...webtest.Header) int64 {
	p.World.TB.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.World.URL+path, nil)
	if err != nil {
		p.World.TB.Fatal(err)
	}
	for _, h := range headers {
		req.Header.Set(h[0], h[1])
	}
	resp, err := p.HTTP.Do(req)
	if err != nil {
		p.World.TB.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.World.TB.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return n
}
