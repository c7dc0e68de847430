package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

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
		w := newWorld(b)
		few, _ := storetest.AgentToken(b, w.store, storetest.Reviewer(b, w.store, "few@example.com"), "few")
		storetest.Seed(b, w.store, w.agent, size.rows)
		for range 10 {
			if _, err := w.store.Ask(b.Context(), few, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"make"}`), Explicit: true}); err != nil {
				b.Fatal(err)
			}
		}
		for _, email := range []string{storetest.AdminEmail, "few@example.com"} {
			reader := w.signedIn(email)
			row := reader.get("/").doc.Find(".row-link").First().AttrOr("href", "")
			for _, what := range []struct {
				name, path string
				headers    []header
			}{
				{"page", "/", nil},
				{"filtered", "/?risk=high", nil},
				{"list", "/", []header{htmx}},
				{"request", row, besideList},
			} {
				b.Run(fmt.Sprintf("rows=%s/as=%s/%s", size.name, email, what.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						b.SetBytes(reader.drain(what.path, what.headers...))
					}
				})
			}
		}
	}
}

// drain reads a page to its end and says how long it was.
func (p *person) drain(path string, headers ...header) int64 {
	p.w.tb.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, p.w.url+path, nil)
	if err != nil {
		p.w.tb.Fatal(err)
	}
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.w.tb.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.w.tb.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return n
}
