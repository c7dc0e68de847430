package highlight_test

import (
	"strings"
	"testing"

	"countersign/views/highlight"
)

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"src/pay.go": "Go", `C:\x\A.PY`: "Python", "Dockerfile": "Docker", "a/Makefile": "Makefile", "x.tar.gz": "", "go": "Go", "README": "", "": "",
		"page.html": "HTML", ".env": "TOML", strings.Repeat("a", 300) + ".go": "",
	} {
		if got := highlight.LanguageOf(file); got != want {
			t.Errorf("%q is %q, want %q", file, got, want)
		}
	}
}
