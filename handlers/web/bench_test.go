package web_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// BenchmarkInbox is the inbox page over HTTP, signed in, over tables that grow:
// for an admin, who may decide all that waits, and for a reviewer who may decide
// ten of it. The time must not follow the size of the tables.
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
			b.Run(fmt.Sprintf("rows=%s/as=%s", size.name, email), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					resp, err := reader.http.Get(w.url + "/") //nolint:noctx // a benchmark
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.Copy(io.Discard, resp.Body)
					if err != nil || resp.StatusCode != http.StatusOK {
						b.Fatalf("status %d, %v", resp.StatusCode, err)
					}
					b.SetBytes(n)
					resp.Body.Close()
				}
			})
		}
	}
}
