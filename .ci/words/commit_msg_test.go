package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The hook of make hooks lets a subject in the imperative pass, and says what is wrong with any other.
func TestCommitMessages(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Discard buffered frames on close\n":                                         "",
		"Pass the actor to each write\n\nIt was read from the context before.\n":     "",
		"Bring the gallery to 45 files\n# Changes to be committed:\n#	new file: a\n": "",
		"Fix " + strings.Repeat("é", 68) + "\n":                                      "",
		"fixup! Discard buffered frames\n":                                           "",
		"Merge branch 'main'\n":                                                      "",

		"discard buffered frames\n":                         "begin with a verb",
		"Discard\n":                                         "name its object",
		"\n":                                                "begin with a verb",
		"123 frames\n":                                      "begin with a verb",
		"Discarded buffered frames\n":                       "no imperative",
		"Discarding buffered frames\n":                      "no imperative",
		"Discards buffered frames\n":                        "no imperative",
		"The frames of a close\n":                           "no verb",
		"Discard buffered frames on close.\n":               "full stop",
		"Discard " + strings.Repeat("x", 65) + "\n":         "73 letters",
		"Discard buffered frames\nNobody reads them.\n":     "empty line",
		"# a comment\nDiscarded frames\n":                   "no imperative",
		"Discard frames\n# a comment\nNobody reads them.\n": "empty line",
	} {
		file := filepath.Join(t.TempDir(), "message")
		if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "../commit-msg", file).CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, %s, want %q", message, err, out, want)
		}
	}
}
