package cmd

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents are the files that tell others how to run this program.
var documents = []string{"../README.md", "../.deploy/Dockerfile", "../.deploy/countersign.service"}

// TestDocumentedSettingsExist reads every variable and every command with its
// flags out of the documents.
func TestDocumentedSettingsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"COUNTERSIGN_SERVER": true, "COUNTERSIGN_TOKEN": true, dataSetting.env(): true, llmKeyEnv: true, upstreamKeyEnv: true}
	for _, s := range slices.Concat(serveSettings, upstreamSettings, llmSettings) {
		known[s.env()] = true
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
