package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

func TestUpstreamsAreAddedAndChangedByCommand(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	data := "--data=" + dir
	said := &strings.Builder{}
	do := func(env []string, stdin string, args ...string) {
		t.Helper()
		out, stderr, code := process.RunWith(t, env, stdin, append(append([]string{"upstream"}, args...), data)...)
		said.WriteString(out + stderr)
		if code != 0 {
			t.Fatalf("%v: exit %d\n%s%s", args, code, out, stderr)
		}
	}
	do(nil, process.UpstreamKey+"\n", "add", "orders\u202e", "--url", "https://approvals.example.com/v1/", "--dialect", "cloud", "--owner", "owner@example.com")
	do([]string{"COUNTERSIGN_UPSTREAM_KEY=" + process.UpstreamKey + "-env"}, "", "add", "tickets", "--url", "http://10.0.0.7:8080", "--owner", "owner@example.com")
	do(nil, "", "add", "open", "--url", "http://[::1]:9", "--no-key", "--owner", "owner@example.com")
	do(nil, process.UpstreamKey+"-new", "set-key", "tickets")
	do(nil, "", "disable", "open")
	do(nil, "", "disable", "tickets")
	do(nil, "", "enable", "tickets")
	do(nil, "", "list")
	if !strings.Contains(said.String(), `orders\u{202E}`) && strings.Contains(said.String(), "\u202e") {
		t.Errorf("the name is shown as it is: %s", said)
	}
	var list []struct {
		Name, URL, Dialect, Owner string
		DisabledAt                *string
	}
	out := process.Must(t, "", "upstream", "list", "--json", data)
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	if u := list[0]; u.Name != "open" || u.DisabledAt == nil || u.Owner != "owner@example.com" || u.Dialect != "plain" {
		t.Errorf("%+v", u)
	}
	if u := list[1]; u.Name != "orders\u202e" || u.Dialect != "cloud" || u.URL != "https://approvals.example.com/v1/" || u.DisabledAt != nil {
		t.Errorf("%+v", u)
	}
	if u := list[2]; u.Name != "tickets" || u.DisabledAt != nil {
		t.Errorf("%+v", u)
	}
	said.WriteString(out)
	said.WriteString(process.Must(t, "", "audit", "export", data))
	said.WriteString(process.Must(t, "", "doctor", data))
	nowhere(t, dir, said.String())
	opensAs(t, dir, map[string]string{"open": "", "orders\u202e": process.UpstreamKey, "tickets": process.UpstreamKey + "-new"})
	for _, action := range []string{"upstream.added", "upstream.key_changed", "upstream.disabled", "upstream.enabled"} {
		if !strings.Contains(said.String(), action) {
			t.Errorf("%s is not in the ledger", action)
		}
	}
}

// nowhere fails if a key stands in what was said or in a file of the folder.
func nowhere(t *testing.T, dir, said string) {
	t.Helper()
	if strings.Contains(said, process.UpstreamKey) {
		t.Errorf("a key is shown:\n%s", said)
	}
	for _, name := range process.FileNames(t, dir) {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(process.UpstreamKey)) {
			t.Errorf("a key stands in %s", name)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, models.KeyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v; want mode 0600", info, err)
	}
}

// opensAs compares the keys that a folder's upstreams have, by name.
func opensAs(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	s := storetest.New(t, storetest.WithDir(dir))
	due, _, err := outside.New(s).DueUpstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range due {
		key, err := outside.New(s).UpstreamKey(&due[i])
		if err != nil || key != want[due[i].Name] {
			t.Errorf("%q: %q, %v", due[i].Name, key, err)
		}
	}
	if len(due) == 0 {
		t.Error("none is due")
	}
}

func TestUpstreamCommandsRefuse(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	process.AddUpstream(t, dir)
	before := process.Must(t, "", "upstream", "list", "--json", "--data", dir)
	add := func(more ...string) []string {
		return append([]string{"add", "new", "--owner", "owner@example.com", "--url", "https://a.example"}, more...)
	}
	for _, tt := range []struct {
		stdin string
		args  []string
		says  string
	}{
		{process.UpstreamKey, []string{"add", "new", "--url", "https://a.example"}, "--owner"},
		{process.UpstreamKey, []string{"add", "new", "--owner", "owner@example.com"}, "--url"},
		{process.UpstreamKey, []string{"add", "orders", "--owner", "owner@example.com", "--url", "https://a.example"}, "name"},
		{process.UpstreamKey, []string{"add", "bot", "--owner", "owner@example.com", "--url", "https://a.example"}, "agent with this name"},
		{process.UpstreamKey, []string{"add", "built-in", "--owner", "owner@example.com", "--url", "https://a.example"}, "name"},
		{process.UpstreamKey, add("--owner", "nobody@example.com"), "user"},
		{process.UpstreamKey, add("--url", "https://me:"+process.UpstreamKey+"@a.example"), "--url"},
		{process.UpstreamKey, add("--url", "https://a.example/?key="+process.UpstreamKey), "--url"},
		{process.UpstreamKey, add("--url", "file:///etc/passwd"), "--url"},
		{process.UpstreamKey, add("--url", "http://169.254.169.254/latest"), "link-local"},
		{process.UpstreamKey, add("--url", "http://[fd12:3456::7]:8080"), "--upstream-allow fd12:3456::7"},
		{process.UpstreamKey, add("--url", "http://100.100.100.200/"), "--url: is an address at which clouds tell machines their credentials"},
		{process.UpstreamKey, add("--url", "http://metadata.google.internal/"), "--upstream-allow metadata.google.internal"},
		{process.UpstreamKey, add("--url", "http://[fd12::7]", "--upstream-allow", "fd12::8"), "unique-local"},
		{process.UpstreamKey, add("--upstream-allow", "http://fd12::8"), "--upstream-allow: must be hosts"},
		{process.UpstreamKey, add("--dialect", "klingon"), "--dialect"},
		{process.UpstreamKey + " x", add(), "the key"},
		{process.UpstreamKey + "\x00", add(), "the key"},
		{strings.Repeat(process.UpstreamKey, 300), add(), "too long"},
		{"", add(), "the key must not be empty"},
		{"  \n" + process.UpstreamKey, add(), "the key must not be empty"},
		{process.UpstreamKey, add("--key", process.UpstreamKey), "unknown flag"},
		{process.UpstreamKey, []string{"set-key", "nothing"}, "upstream list"},
		{"", []string{"set-key", "orders"}, "the key must not be empty"},
		{"", []string{"enable", "nothing"}, "upstream list"},
		{"", []string{"disable"}, "arg"},
	} {
		out, stderr, code := process.Run(t, tt.stdin, append(append([]string{"upstream"}, tt.args...), "--data", dir)...)
		if code != 1 || !strings.Contains(stderr, tt.says) || strings.Contains(out+stderr, process.UpstreamKey) {
			t.Errorf("%v: exit %d, want 1 and a word of %q:\n%s%s", tt.args, code, tt.says, out, stderr)
		}
	}
	if after := process.Must(t, "", "upstream", "list", "--json", "--data", dir); after != before {
		t.Errorf("something was changed: %s", after)
	}
}

// A backup does not open upstreams' keys; the folder's key file does.
func TestARestoreTellsOfKeysThatItCannotOpen(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	process.AddUpstream(t, dir)
	file := filepath.Join(t.TempDir(), "copy.db")
	process.Must(t, "", "backup", file, "--data", dir)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(dir, models.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, key) || bytes.Contains(raw, []byte(process.UpstreamKey)) {
		t.Error("the backup holds a key")
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if out, said, code := process.Run(t, "", "restore", file, "--data", elsewhere); code != 0 || !strings.Contains(said, "orders") || !strings.Contains(said, "set-key") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	process.Must(t, process.UpstreamKey+"-2", "upstream", "set-key", "orders", "--data", elsewhere)
	opensAs(t, elsewhere, map[string]string{"orders": process.UpstreamKey + "-2"})

	withKey := storetest.Dir(t)
	if err := os.WriteFile(filepath.Join(withKey, models.KeyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := process.Run(t, "", "restore", file, "--data", withKey); code != 0 || strings.Contains(said, "orders") {
		t.Errorf("exit %d: %s", code, said)
	}
	opensAs(t, withKey, map[string]string{"orders": process.UpstreamKey})

	// A server does not start on a key file that others may read.
	process.Chmod(t, filepath.Join(withKey, models.KeyFile), 0o644)
	if _, said, code := process.Run(t, "", "serve", "--data", withKey, "--addr", "127.0.0.1:0"); code != 1 || !strings.Contains(said, "chmod 600") {
		t.Errorf("exit %d: %s", code, said)
	}
}

// An upstream from before local addresses were refused is named until its host is
// allowed.
func TestDoctorNamesOlderUpstreamsAtLocalAddresses(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	process.AddUpstream(t, dir)
	if found, _ := process.Examine(t, dir); found["upstreams"].Result != "ok" {
		t.Errorf("%+v", found["upstreams"])
	}
	for _, host := range []string{"[fd12:3456::7]:8080", "metadata.google.internal", "100.100.100.200"} {
		process.Infect(t, dir, `UPDATE upstreams SET checked_address = FALSE, base_url = 'http://`+host+`/v1'`)
		d, _ := process.Examine(t, dir)
		if u := d["upstreams"]; u.Result != "warn" || !strings.Contains(u.Text, "orders: http://"+host) || !strings.Contains(u.Remedy, "--upstream-allow") {
			t.Errorf("%s: %+v", host, u)
		}
	}
	if d, _ := process.Examine(t, dir, "--upstream-allow", "hub.internal,100.100.100.200"); d["upstreams"].Result != "ok" {
		t.Errorf("allowed: %+v", d["upstreams"])
	}
	process.Must(t, process.UpstreamKey+"-2\n", "upstream", "set-key", "orders", "--data", dir) // it goes on working
}

func TestAnUpstreamAtALocalAddressIsAddedIfItsHostIsAllowed(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	add := []string{"upstream", "add", "hub", "--url", "http://[fd12:3456::7]:8080", "--owner", "owner@example.com", "--data", dir}
	if _, said, code := process.Run(t, process.UpstreamKey, add...); code != 1 || !strings.Contains(said, "--url: is a unique-local address") {
		t.Errorf("exit %d: %s", code, said)
	}
	if out, said, code := process.RunWith(t, []string{"COUNTERSIGN_UPSTREAM_ALLOW=fd12:3456::7"}, process.UpstreamKey, add...); code != 0 {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	process.Must(t, "", "audit", "verify", "--rows", "--data", dir)
	process.Infect(t, dir, `UPDATE upstreams SET checked_address = FALSE`)
	if out, _, code := process.Run(t, "", "audit", "verify", "--rows", "--data", dir); code != 1 || !strings.Contains(out, "upstreams ") || !strings.Contains(out, "differs from what was recorded") {
		t.Errorf("exit %d: %s", code, out)
	}
}
