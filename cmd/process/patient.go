package process

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// DoctorChecks are all checks, in the order in which they are told.
var DoctorChecks = []string{
	"database", "permissions", "migrations", "ledger", "rows", "energy", "grants", "insights", "clock", "public URL", "disk space",
	"policy lint", "retention", "who can decide", "break glass", "unseen", "upstreams", "channels", "webhooks", "servers",
}

// Diagnosis is what one check of the doctor says.
type Diagnosis struct {
	Check, Result, Text, Remedy string
}

// Examine runs the doctor on a folder and returns what it found, by check.
func Examine(t *testing.T, dir string, args ...string) (found map[string]Diagnosis, code int) {
	t.Helper()
	out, said, code := Run(t, "", append([]string{"doctor", "--json", "--data", dir}, args...)...)
	var report struct {
		OK     bool
		Checks []Diagnosis
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, said)
	}
	found = map[string]Diagnosis{}
	var order []string
	for _, d := range report.Checks {
		found[d.Check], order = d, append(order, d.Check)
		if (d.Result == "fail" || d.Result == "warn") && d.Remedy == "" {
			t.Errorf("%s: no remedy for: %s", d.Check, d.Text)
		}
	}
	if !slices.Equal(order, DoctorChecks) {
		t.Errorf("checks %v, want %v", order, DoctorChecks)
	}
	if report.OK != (code == 0) {
		t.Errorf("ok is %v, exit %d", report.OK, code)
	}
	return found, code
}

// Patient is a data folder with an admin, a reviewer with an agent, and one
// request that waits.
func Patient(t *testing.T, opts ...storetest.Option) (dir string) {
	t.Helper()
	dir = storetest.Dir(t)
	s := storetest.New(t, append([]storetest.Option{storetest.WithDir(dir)}, opts...)...)
	storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, storetest.Reviewer(t, s, "owner@example.com"), "bot")
	if _, err := s.Ask(t.Context(), agent,
		models.AskInput{ToolName: "deploy", ToolUseID: "call", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Infect changes a database behind its program's back.
func Infect(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, models.DatabaseFile)+"?mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Chmod changes the mode of a file.
func Chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// FileNames are the names of the files in a folder.
func FileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// UpstreamKey appears only in requests to its upstream.
const UpstreamKey = "sk-upstream-4711"

// AddUpstream adds the upstream "orders" of a person of patient's.
func AddUpstream(t *testing.T, dir string) {
	t.Helper()
	Must(t, UpstreamKey+"\n", "upstream", "add", "orders", "--url", "http://127.0.0.1:1/v1", "--dialect", "plain",
		"--owner", "owner@example.com", "--data", dir)
}
