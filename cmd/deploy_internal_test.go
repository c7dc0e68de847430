package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/cmd/config"
)

// documents are the files that tell others how to run this program.
var documents = []string{
	"../README.md", "../.deploy/README.md", "../.deploy/Dockerfile", "../.deploy/countersign.service", "../models/policy/guide.md",
	"../handlers/api/guide/approvals.md", "../handlers/api/guide/conversations.md", "../handlers/api/guide/run_events.md",
}

// Every setting of the server is in the table for those who run it.
func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../.deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.All() {
		if row := "| `--" + s.Flag + "` | `" + s.Env() + "` |"; !strings.Contains(string(raw), row) {
			t.Errorf("the table of settings has no row that begins %s", row)
		}
	}
}

// What people read before they begin is short: what it had beyond that is elsewhere.
func TestDocumentsAreShort(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]struct{ lines, bytes int }{
		"README.md":       {lines: 130, bytes: 12 << 10},
		"ARCHITECTURE.md": {lines: 275, bytes: 30 << 10},
		"DECISIONS.md":    {lines: 1000, bytes: 60_000},
		"bench/README.md": {lines: 250, bytes: 16 << 10},
	} {
		raw, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(raw), "\n"); lines > most.lines || len(raw) > most.bytes {
			t.Errorf("%s: %d lines and %d bytes, at most %d and %d", name, lines, len(raw), most.lines, most.bytes)
		}
	}
}

// A hint of the doctor that names a section of a document leads there.
func TestHintsOfTheDoctorLeadToASection(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Glob("doctor/*.go")
	if err != nil {
		t.Fatal(err)
	}
	hint := regexp.MustCompile(`([\w./]+\.md), “([^”]+)”`)
	seen := 0
	for _, source := range sources {
		code, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range hint.FindAllStringSubmatch(string(code), -1) {
			seen++
			doc, err := os.ReadFile("../" + named[1])
			if err != nil || !strings.Contains(string(doc), "\n## "+named[2]+"\n") {
				t.Errorf("%s: %s has no section %s (%v)", source, named[1], named[2], err)
			}
		}
	}
	if seen < 2 {
		t.Errorf("found %d hints: the doctor is not read", seen)
	}
}

// TestDocumentedSettingsExist reads every variable and every command with its
// flags out of the documents.
func TestDocumentedSettingsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"COUNTERSIGN_SERVER": true, "COUNTERSIGN_TOKEN": true, config.LLMKeyEnv: true, config.SMTPPasswordEnv: true, config.UpstreamKeyEnv: true}
	for _, s := range config.All() {
		known[s.Env()] = true
	}
	variable := regexp.MustCompile(`COUNTERSIGN_[A-Z_]+[A-Z]`)
	command := regexp.MustCompile("countersign ((?:[a-z][a-z-]* ?)+)([^`\n]*)")
	flag := regexp.MustCompile(`--([a-z-]+)`)
	root := newRoot()
	seen := 0
	for _, name := range documents {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variable.FindAllString(string(raw), -1) {
			if !known[v] {
				t.Errorf("%s: there is no setting %s", name, v)
			}
		}
		for _, line := range command.FindAllStringSubmatch(string(raw), -1) {
			c, _, err := root.Find(strings.Fields(line[1]))
			if err != nil || c == root {
				continue // prose
			}
			seen++
			for _, f := range flag.FindAllStringSubmatch(line[2], -1) {
				if c.Flags().Lookup(f[1]) == nil {
					t.Errorf("%s: %s has no flag --%s, in: %s", name, c.CommandPath(), f[1], line[0])
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found %d commands: the documents are not read", seen)
	}
}
