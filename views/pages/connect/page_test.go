package connect_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/connect"
)

// Each way has its lines, with the address and the token and no placeholder left.
func TestSnippetsAreFilledIn(t *testing.T) {
	t.Parallel()
	for _, way := range connect.Ways() {
		var all string
		ids := map[string]bool{}
		for _, s := range connect.Snippets(way, "https://sign.example", "cs_agent_x") {
			if all += s.Text; s.Text == "" || s.Label == "" || ids[s.ID] {
				t.Errorf("%s: %+v", way, s)
			}
			ids[s.ID] = true
		}
		if !strings.Contains(all, "https://sign.example") || strings.Count(all, "cs_agent_x") != 1 || strings.Contains(all, "@SERVER@") || strings.Contains(all, "@TOKEN@") {
			t.Errorf("%s:\n%s", way, all)
		}
	}
	if connect.Snippets("nonsense", "", "") != nil || connect.KnowsWay("nonsense") || !connect.KnowsWay("") {
		t.Error("a way that there is not is known")
	}
}

// Each file is shown by a way, so that none is kept that nobody is shown.
func TestEveryFileOfConnectIsShown(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("snippets/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	var shown []string
	for _, way := range connect.Ways() {
		for _, s := range connect.Snippets(way, "@SERVER@", "@TOKEN@") {
			shown = append(shown, strings.ReplaceAll(s.Text, "%40SERVER%40", "@SERVER@")+"\n")
		}
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || !slices.Contains(shown, strings.ReplaceAll(string(raw), "@SERVER@", "%40SERVER%40")) && !slices.Contains(shown, string(raw)) {
			t.Errorf("%s is not shown (%v)", file, err)
		}
	}
}

// What the scripts of real clients install, what they were last seen to pass with, and what the
// page and CONTRIBUTING say was tested are the same versions.
func TestPinsOfClientsAreWhatWasLastRun(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const folder = "../../../.ci/clients/"
	ran, latest := map[string]bool{}, ""
	for line := range strings.Lines(read(folder + "last-run")) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			t.Fatalf("last-run: %q", line)
		}
		ran[fields[0]+"@"+fields[1]] = true
		latest = max(latest, fields[2])
	}
	pinned := map[string]bool{}
	pin := regexp.MustCompile(`(?:@[a-z-]+/)?[a-z][a-z-]*@\d+\.\d+\.\d+`)
	for _, script := range []string{"connect.sh", "humanlayer.sh", "mcp.sh"} {
		for _, one := range pin.FindAllString(read(folder+script), -1) {
			pinned[one] = true
		}
	}
	versions := regexp.MustCompile(`VERSIONS:-([\d. ]+)\}`).FindStringSubmatch(read(folder + "claude-code-hook"))
	for version := range strings.FieldsSeq(versions[1]) {
		pinned["@anthropic-ai/claude-code@"+version] = true
	}
	if !maps.Equal(pinned, ran) {
		t.Errorf("installed: %v\nlast run: %v", slices.Sorted(maps.Keys(pinned)), slices.Sorted(maps.Keys(ran)))
	}
	var known []string
	for one := range ran {
		known = append(known, one[strings.LastIndex(one, "@")+1:])
	}
	told := regexp.MustCompile(`\b\d+\.\d+\.\d+\b`)
	named := 0
	for _, way := range connect.Ways() {
		text := connect.New(connect.Input{Way: way}, time.Time{}).Way.TestedOn
		for _, version := range told.FindAllString(text, -1) {
			named++
			if !slices.Contains(known, version) {
				t.Errorf("version %s was not last run: %s", version, text)
			}
		}
	}
	if named == 0 {
		t.Error("no way names a version that it was tested with")
	}
	_, paragraph, _ := strings.Cut(read("../../../CONTRIBUTING.md"), "The last results (")
	paragraph, _, _ = strings.Cut(paragraph, "\n")
	date, _, _ := strings.Cut(paragraph, ")")
	if !strings.HasPrefix(date, latest) {
		t.Errorf("CONTRIBUTING names %s, the last run was on %s", date, latest)
	}
	for one := range ran {
		if version := one[strings.LastIndex(one, "@")+1:]; !strings.HasPrefix(one, "@langchain/core@") && !strings.Contains(paragraph, version) {
			t.Errorf("CONTRIBUTING does not name %s", one)
		}
	}
	for _, version := range told.FindAllString(paragraph, -1) {
		if !slices.Contains(known, version) {
			t.Errorf("CONTRIBUTING names %s, which was not last run", version)
		}
	}
}

// An address can't end the quotes in which it is: no shell, JSON, Go or JavaScript reads
// more than text in it.
func TestTheAddressStaysText(t *testing.T) {
	t.Parallel()
	const address = "https://x\"'`$(id)\\\n;&|<>{} é/"
	for _, way := range connect.Ways() {
		for _, s := range connect.Snippets(way, address, "cs_agent_x") {
			if i := strings.Index(s.Text, "https://x"); i >= 0 && !strings.HasPrefix(s.Text[i:], "https://x%22%27%60%24%28id%29%5C%0A%3B%26%7C%3C%3E%7B%7D%20%C3%A9/") {
				t.Errorf("%s: %s", way, s.Text[i:min(len(s.Text), i+90)])
			}
		}
	}
	for _, plain := range []string{"http://127.0.0.1:8080", "https://[::1]:8443", "https://sign-1.example_x.com"} {
		if got := connect.Snippets("curl", plain, "")[0].Text; !strings.Contains(got, `"`+plain+`"`) {
			t.Errorf("%s became\n%s", plain, got)
		}
	}
}

// A request from before the token was made is not the first one of this connection.
func TestReceivedCountsFromTheToken(t *testing.T) {
	t.Parallel()
	now := gallery.Now
	agent := models.Agent{ID: gallery.AgentID, Name: "bot"}
	token := models.Token{AgentID: &agent.ID, Scope: models.ScopeAgent, CreatedAt: now.Add(-time.Minute)}
	ask := gallery.Shell()
	for _, c := range []struct {
		name  string
		asked time.Duration // before now; 0: never
		used  bool
		end   bool
		state string
	}{
		{"nothing", 0, false, false, "waiting"},
		{"the token was used", 0, true, false, "connected"},
		{"before the token", 2 * time.Minute, false, false, "waiting"},
		{"since", time.Second, true, false, "received"},
		{"revoked", time.Second, true, true, "no token"},
	} {
		in := connect.Input{Way: "curl", Agent: &agent, Tokens: []models.Token{token}}
		if c.asked > 0 {
			last := ask
			last.CreatedAt = now.Add(-c.asked)
			in.Last = &last
		}
		if c.used {
			in.Tokens[0].LastUsedAt = &now
		}
		if c.end {
			in.Tokens[0].RevokedAt = &now
		}
		if got := connect.NewReceived(in, now); got.State.Text != c.state || (got.URL != "") != (c.state == "received") {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The name that is proposed is free, so that no agent loses its token.
func TestTheProposedNameIsFree(t *testing.T) {
	t.Parallel()
	in := connect.Input{Way: "claude-code", Agents: []models.Agent{{Name: "claude-code"}, {Name: "claude-code-2"}, {Name: "built-in", System: true}, {Name: "x\u202ey"}}}
	v := connect.New(in, gallery.Now)
	if v.Agent.Value != "claude-code-3" || !slices.Equal(v.Agent.List, []string{"claude-code", "claude-code-2"}) {
		t.Errorf("%q, of %v", v.Agent.Value, v.Agent.List)
	}
}
