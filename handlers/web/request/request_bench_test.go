package request_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// BenchmarkRequest is the page of one request over HTTP, with an input of 8 KiB and
// all that stands around it, over 100,000 that wait and a million that are settled.
// gz-KB is what the page takes compressed.
func BenchmarkRequest(b *testing.B) {
	rows := storetest.Rows{Settled: 1_000_000, Pending: 100_000}
	if testing.Short() {
		rows = storetest.Rows{Settled: 90_000, Pending: 10_000}
	}
	w := webtest.New(b)
	storetest.Seed(b, w.Store, w.Agent, rows)
	input := func(mark string) func(*models.AskInput) {
		return func(in *models.AskInput) {
			lines := strings.Repeat(`curl -fsS https://example.com/step?mark=`+mark+` | tee -a build.log\n`, 8<<10/66)
			in.Input = []byte(`{"command":"` + lines + `","timeout":120000}`)
		}
	}
	for i, verdict := range []bool{true, false} {
		a := w.Ask(input(string(rune('a' + i))))
		if _, err := w.Store.Decide(b.Context(), w.Owner, a.ID, models.DecisionInput{Approved: &verdict, Digest: a.Digest, Page: models.NoPage}); err != nil {
			b.Fatal(err)
		}
	}
	a := w.Ask(input("z"))
	for _, email := range []string{storetest.AdminEmail, webtest.OwnerEmail} {
		reader := w.SignIn(email)
		b.Run("as="+email, func(b *testing.B) {
			b.ReportAllocs()
			var body []byte
			for b.Loop() {
				resp, err := reader.HTTP.Get(w.URL + webtest.PageOf(a))
				if err != nil {
					b.Fatal(err)
				}
				body, err = io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Fatalf("status %d, %v", resp.StatusCode, err)
				}
				resp.Body.Close()
			}
			b.SetBytes(int64(len(body)))
			b.ReportMetric(float64(packed(b, body))/1024, "gz-KB")
		})
	}
}

// packed is how many bytes a page has compressed.
func packed(b *testing.B, body []byte) int {
	b.Helper()
	var out strings.Builder
	z := gzip.NewWriter(&out)
	if _, err := z.Write(body); err != nil {
		b.Fatal(err)
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	return out.Len()
}
