package inbox_test

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// A page of fifty requests with inputs of 8 KiB, which cannot be packed well, and
// one of them in full stays small enough for a slow line.
func TestTheInboxIsSmallWhenPacked(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		raw := make([]byte, 5900)
		for i := range raw {
			raw[i] = byte(random.Uint32())
		}
		w.Ask(func(in *models.AskInput) {
			in.Input = fmt.Appendf(nil, `{"command":"deploy %s","cwd":"/srv"}`, base64.StdEncoding.EncodeToString(raw))
		})
	}
	got := w.SignIn(webtest.OwnerEmail).Get("/").Is(http.StatusOK)
	if n := got.Doc.Find(".row").Length(); n != 50 {
		t.Fatalf("%d rows", n)
	}
	var packed counter
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, got.Body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, packed %d", len(got.Body), packed)
	if packed > 60<<10 {
		t.Errorf("the page has %d bytes when packed, %d before", packed, len(got.Body))
	}
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
