package web_test

import (
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/web/webtest"
	"countersign/views/pages/docs"
)

// The page is made from the document that the API serves, for whoever asks, and
// loads nothing from elsewhere.
func TestDocsDescribeTheWholeAPI(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	kit := handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.Clock.Now}
	surface, err := api.New(kit, w.Store, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	w.Pages.ServeDocs(surface.Document)
	status, header, html := fetch(t, w, "/docs")
	if status != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Fatalf("%d, %s", status, header)
	}
	document, err := surface.Document()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := docs.New(document)
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, g := range docs.Groups {
		for _, op := range g.Operations {
			described = append(described, op.Method+" "+op.Path)
			if !strings.Contains(html, `id="`+op.ID+`"`) || len(op.Examples) == 0 || len(op.Answers) == 0 || len(op.Problems) == 0 || op.Token == "" {
				t.Errorf("%s %s is not described in full: %+v", op.Method, op.Path, op)
			}
		}
	}
	for _, route := range surface.Routes() {
		path := regexp.MustCompile(`:(\w+)`).ReplaceAllString(route.Path, "{$1}")
		if path != "/openapi.json" && !slices.Contains(described, route.Method+" "+path) {
			t.Errorf("%s %s is not on the page", route.Method, path)
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(html, `id="`+link[1]+`"`) {
			t.Errorf("a link leads to #%s, which is not there", link[1])
		}
	}
	if laid := strings.Count(html, `<div class="markdown natural"`); laid != len(docs.Groups)+1 {
		t.Errorf("%d texts are laid out, want that of the API and of each of its %d groups: is one too long, or built to take long?", laid, len(docs.Groups))
	}
	for _, at := range regexp.MustCompile(`(?:src|href)="(https?:|//)[^"]*"`).FindAllString(html, -1) {
		t.Errorf("leads elsewhere: %s", at)
	}
	if strings.Contains(html, "<style") || strings.Contains(html, " style=") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(html) {
		t.Error("style or script stands in the page")
	}
}

// fetch reads a page without signing in.
func fetch(t *testing.T, w *webtest.World, path string) (status int, header http.Header, html string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, b.String()
}
