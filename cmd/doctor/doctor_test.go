package doctor_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// expiredNow is a request that has just expired, beside those of the patient.
const expiredNow = `INSERT INTO responses (id, conversation_id, sequence, owner_id, agent_id, kind, created_at, digest, risk, requires_approval, approval_status, approval_timestamp, cause, policy_rule)
 SELECT hex(randomblob(8)), id, 1000 + abs(random() % 100000), owner_id, agent_id, 'tool_call', '2026-01-01', 'd', 'low', TRUE, 'expired', strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'), 'timeout', 'made up' FROM conversations LIMIT 1`

// channelOf is a channel that works, unless it has failed since a time; without a person, of
// whoever owns an agent.
func channelOf(user, failing string) string {
	owner := "'" + user + "'"
	if user == "" {
		owner = "(SELECT owner_id FROM agents LIMIT 1)"
	}
	return `INSERT INTO channels (id, user_id, group_id, kind, label, created_at, verified_at, address_digest, failing_since) SELECT hex(randomblob(8)), ` + owner + `, '', 'ntfy', 'x', '2026-01-01', '2026-01-01', 'd', ` + failing
}

func TestDoctorFindsNothingWrong(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	before := process.FileNames(t, dir)
	found, code := process.Examine(t, dir)
	for check, d := range found {
		if d.Result != "ok" {
			t.Errorf("%s: %+v", check, d)
		}
	}
	if code != 0 || !slices.Equal(before, process.FileNames(t, dir)) {
		t.Errorf("exit %d, and the folder holds %v", code, process.FileNames(t, dir))
	}
	if out := process.Must(t, "", "doctor", "--data", dir); strings.Count(out, "\n") != len(process.DoctorChecks) || strings.Contains(out, "->") {
		t.Errorf("for people:\n%s", out)
	}
}

func TestDoctorFindsEachFault(t *testing.T) {
	t.Parallel()
	const policyRow = `UPDATE policies SET document = `
	tests := []struct {
		name          string
		fault         func(t *testing.T, dir string)
		args          []string
		check, result string
		says          string
	}{
		{"no database", func(t *testing.T, dir string) { t.Helper(); remove(t, dir) }, nil, "database", "fail", "no Countersign data"},
		{"another file", func(t *testing.T, dir string) { t.Helper(); scribble(t, dir, 0) }, nil, "database", "fail", "not a database"},
		{"a broken page", func(t *testing.T, dir string) { t.Helper(); scribble(t, dir, 40<<10) }, nil, "database", "fail", ""},
		{"a row without its owner", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO agents (id, owner_id, name, created_at) VALUES ('a', 'nobody', 'x', '2026-01-01')`)
		}, nil, "database", "fail", "agents -> users"},
		{"an open folder", func(t *testing.T, dir string) { t.Helper(); process.Chmod(t, dir, 0o755) }, nil, "permissions", "fail", "chmod 700"},
		{"an open file", func(t *testing.T, dir string) {
			t.Helper()
			process.Chmod(t, filepath.Join(dir, models.DatabaseFile), 0o644)
		}, nil, "permissions", "fail", "chmod 600"},
		{"an older schema", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
		}, nil, "migrations", "fail", "this program brings"},
		{"a newer schema", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`, `UPDATE schema_use SET writable_by = 9999`)
		}, nil, "migrations", "fail", "9999"},
		{"a server that is not seen", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO nodes (id, name, version, started_at, seen_at, lag_ms) VALUES ('n', 'two', 'v1', '2026-01-01', '2026-01-01', 3)`)
		}, nil, "servers", "warn", "two (v1), since 2026-01-01 00:00:00, last commit 2026-01-01 00:00:00: not seen since"},
		{"a server that hears late", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO nodes (id, name, version, started_at, seen_at, lag_ms) VALUES ('n', 'two', 'v1', '2026-01-01', '2099-01-01', 2500)`)
		}, nil, "servers", "warn", "2.5s late"},
		{"a changed entry", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `DROP TRIGGER ledger_no_update`, `UPDATE ledger SET actor_name = 'eve' WHERE seq = 2`)
		}, nil, "ledger", "fail", "entry 2"},
		{"energy that does not add up", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE conversations SET energy_used = energy_used + 1`)
		}, nil, "energy", "fail", "does not match"},
		{"a turn that nobody counted", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO turns (conversation_id, sequence, at, model, energy, said) SELECT id, 99, '2026-01-01', 'm', 5, '{}' FROM conversations`)
		}, nil, "energy", "fail", "does not match"},
		{"an agent's window that does not add up", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO agent_windows (agent_id, minute, hours, spent, allowed) SELECT id, 0, 1, 5, 0 FROM agents`)
		}, nil, "energy", "fail", "these agents"},
		{"a reservation without a lease", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE conversations SET energy_reserved = 5`, `INSERT INTO agent_inbox (conversation_id) SELECT id FROM conversations`)
		}, nil, "energy", "warn", "not under way"},
		{"a grant that was used less", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO grants (id, owner_id, agent_id, tool_name, fixed, free, made_by, maker_name, made_from, created_at, expires_at, max_uses, uses)
 SELECT 'g', owner_id, agent_id, tool_name, '{}', '[]', owner_id, 'o', id, created_at, created_at, 3, 1 FROM responses`)
		}, nil, "grants", "fail", "they allowed: g"},
		{"sums that are wrong", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO insights (span, begins_at, about, ends_at, zone, figures) SELECT 'day', '2026-01-01 00:00:00+00:00', '', '2026-01-02 00:00:00+00:00', 'UTC', '{"outcomes":{"x ":2}}'`)
		}, nil, "insights", "fail", "2026-01-01 00:00"},
		{"sums that stand still", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO insights (span, begins_at, about, ends_at, zone, figures) SELECT 'day', '2026-01-01 00:00:00+00:00', '', '2026-01-02 00:00:00+00:00', 'UTC', '{}'`)
		}, nil, "insights", "warn", "until 2026-01-02"},
		{"no space", nil, []string{"--min-free", "4000000TiB"}, "disk space", "fail", "should be free"},
		{"no URL off this machine", nil, []string{"--addr", "0.0.0.0:8080"}, "public URL", "fail", "localhost"},
		{"plain HTTP off this machine", nil, []string{"--public-url", "http://countersign.example.com"}, "public URL", "fail", "plain HTTP"},
		{"no server", nil, []string{"--public-url", "https://countersign.example.com", "--addr", "127.0.0.1:1"}, "public URL", "warn", "no server answers"},
		{"approvals are off", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"approval_enabled": false}'`)
		}, nil, "policy lint", "fail", "approval_enabled"},
		{"approvals are off for a time", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"approval_enabled": false, "approval_off_until": "2999-01-01T00:00:00Z"}'`)
		}, nil, "policy lint", "fail", "Approval is off until 2999-01-01 00:00 UTC"},
		{"approvals were off, and a rule never applies", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"approval_enabled": false, "approval_off_until": "2001-01-01T00:00:00Z", "rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["x"], "effect": "allow"}]}'`)
		}, nil, "policy lint", "warn", "rules[1]"},
		{"no policy that parses", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"tools": ["/(/"]}]}'`)
		}, nil, "policy lint", "fail", "rules[0]"},
		{"a rule that never applies", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["x"], "effect": "allow"}]}'`)
		}, nil, "policy lint", "warn", "rules[1]"},
		{"a stored pattern that would be refused now", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"name": "a", "tools": ["/delete"], "effect": "require"}]}'`)
		}, nil, "policy lint", "warn", `rules[0].tools[0]: “/delete” in the rule “a” is read as an exact name, because it has a slash at one end only: write /delete/ for a regular expression, or /^\/delete$/`},
		{"nobody", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE users SET disabled_at = created_at`)
		}, nil, "who can decide", "fail", "nobody can sign in"},
		{"nobody for a request", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE users SET role = 'reviewer'`, `UPDATE users SET disabled_at = created_at WHERE email LIKE 'owner@%'`)
		}, nil, "who can decide", "fail", "1 pending"},
		{"nobody for an agent", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE users SET role = 'reviewer'`, `UPDATE users SET disabled_at = created_at WHERE email LIKE 'owner@%'`,
				`UPDATE responses SET approval_status = 'cancelled'`)
		}, nil, "who can decide", "fail", "bot"},
		{"a reviewer who is not there", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"name": "a", "tools": ["x"], "effect": "require", "reviewers": ["gone@example.com"]}]}'`)
		}, nil, "who can decide", "warn", "gone@example.com"},
		{"a rule that nobody can meet", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"name": "pay", "tools": ["x"], "effect": "require", "reviewers": ["gone@example.com"], "reviewers_only": true}]}'`)
		}, nil, "who can decide", "fail", "Nobody could approve under the rule “pay”"},
		{"too few to sign a request", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE responses SET stranded_at = created_at`)
		}, nil, "who can decide", "fail", "not enough people are left who could sign 1 pending"},
		{"glass that nobody has looked at", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO votes (id, response_id, user_id, user_name, verdict, digest, at, skipped) SELECT 'v', id, owner_id, 'Ann', 'approve', '', created_at, '[]' FROM responses`)
		}, nil, "break glass", "warn", "nobody else has looked at: 1"},
		{"too few to sign under a rule", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, policyRow+`'{"rules": [{"name": "pay", "tools": ["x"], "effect": "require", "approvals": [{"from": ["owner@example.com"], "count": 1}], "self_approval": "never"}]}'`)
		}, nil, "who can decide", "fail", "Nobody could approve under the rule “pay”"},
		{"an open key file", func(t *testing.T, dir string) {
			t.Helper()
			process.AddUpstream(t, dir)
			process.Chmod(t, filepath.Join(dir, models.KeyFile), 0o640)
		}, nil, "permissions", "fail", "upstream.key in the data folder may be read by others (mode 0640): run chmod 600"},
		{"no key file", func(t *testing.T, dir string) {
			t.Helper()
			process.AddUpstream(t, dir)
			if err := os.Remove(filepath.Join(dir, models.KeyFile)); err != nil {
				t.Fatal(err)
			}
		}, nil, "upstreams", "fail", "orders: there is no key file"},
		{"another key file", func(t *testing.T, dir string) {
			t.Helper()
			process.AddUpstream(t, dir)
			if err := os.WriteFile(filepath.Join(dir, models.KeyFile), []byte(strings.Repeat("k", 32)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, "upstreams", "fail", "not the one that sealed"},
		{"no key file for a channel", func(t *testing.T, dir string) {
			t.Helper()
			addChannel(t, dir)
			if err := os.Remove(filepath.Join(dir, models.KeyFile)); err != nil {
				t.Fatal(err)
			}
		}, nil, "channels", "fail", "there is no key file"},
		{"another key file for a channel", func(t *testing.T, dir string) {
			t.Helper()
			addChannel(t, dir)
			if err := os.WriteFile(filepath.Join(dir, models.KeyFile), []byte(strings.Repeat("k", 32)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, "channels", "fail", "pager (hooks.example.com), of "},
		{"an upstream that fails", func(t *testing.T, dir string) {
			t.Helper()
			process.AddUpstream(t, dir)
			process.Infect(t, dir, `UPDATE upstreams SET failures = 3, problem = 'It answers 401.'`)
		}, nil, "upstreams", "warn", "orders: It answers 401."},
		{"no admin", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `UPDATE users SET role = 'reviewer'`)
		}, nil, "who can decide", "warn", "none of them an admin"},
		{"requests that nobody saw", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, expiredNow, expiredNow, `UPDATE responses SET policy_rule = 'pay' WHERE policy_rule = 'made up'`)
		}, nil, "unseen", "warn", "pay (2)"},
		{"a request that somebody saw", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, expiredNow, `INSERT INTO seen SELECT u.id, r.id, r.created_at, r.approval_timestamp FROM responses r, users u WHERE r.policy_rule = 'made up'`)
		}, nil, "unseen", "ok", "expired unseen"},
		{"a request that somebody saw when it had expired", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, expiredNow, `INSERT INTO seen SELECT u.id, r.id, r.approval_timestamp, r.approval_timestamp FROM responses r, users u WHERE r.policy_rule = 'made up'`)
		}, nil, "unseen", "warn", "made up (1)"},
		{"an owner without a channel", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO users (id, email, name, role, password_hash, created_at) VALUES ('eve', 'eve@example.com', 'Eve', 'reviewer', 'x', '2026-01-01')`, channelOf("eve", "NULL"))
		}, nil, "unseen", "warn", "no channel tells them"},
		{"an owner whose channel fails", func(t *testing.T, dir string) {
			t.Helper()
			process.Infect(t, dir, `INSERT INTO users (id, email, name, role, password_hash, created_at) VALUES ('eve', 'eve@example.com', 'Eve', 'reviewer', 'x', '2026-01-01')`, channelOf("eve", "NULL"), channelOf("", "'2026-01-01'"))
		}, nil, "unseen", "warn", "no channel tells them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := process.Patient(t)
			if tt.fault != nil {
				tt.fault(t, dir)
			}
			found, code := process.Examine(t, dir, tt.args...)
			if d := found[tt.check]; d.Result != tt.result || !strings.Contains(d.Text, tt.says) {
				t.Errorf("%+v, want %s and a word of %q", d, tt.result, tt.says)
			}
			// What was done to rows by hand is found beside what it does.
			rows := found["rows"].Result
			if want := max(map[string]int{"fail": 1}[tt.result], map[string]int{"fail": 1}[rows]); code != want {
				t.Errorf("exit %d, want %d", code, want)
			}
			for check, d := range found {
				// A database that cannot be opened is told once. What was put into a row by hand
				// opens with no key.
				byHand := check == "rows" || check == "channels" && tt.check == "unseen"
				if check != tt.check && !byHand && d.Result != "ok" && d.Result != "skipped" {
					t.Errorf("%s too: %+v", check, d)
				}
			}
		})
	}
}

// A policy from before approvals could be undone keeps sending them at once, and
// that is said.
func TestDoctorMentionsAPolicyWithoutUndo(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	if found, _ := process.Examine(t, dir); strings.Contains(found["policy lint"].Text, "undo_seconds") {
		t.Errorf("a new policy: %+v", found["policy lint"])
	}
	// An edited policy is found by the check of rows; this one is about what it says.
	process.Infect(t, dir, `UPDATE policies SET document = '{}'`)
	if found, code := process.Examine(t, dir); found["policy lint"].Result != "ok" || found["rows"].Result != "fail" || !strings.Contains(found["policy lint"].Text, "no undo_seconds") {
		t.Errorf("exit %d: %+v", code, found["policy lint"])
	}
}

func TestDoctorFindsAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	ahead := storetest.NewClock()
	ahead.Step(time.Since(ahead.Now()) + 100*time.Hour)
	found, code := process.Examine(t, process.Patient(t, storetest.WithClock(ahead)))
	if d := found["clock"]; code != 1 || d.Result != "fail" || !strings.Contains(d.Text, "set back") {
		t.Errorf("exit %d, %+v", code, d)
	}
}

func TestDoctorTriesThePublicURL(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	back := &url.URL{Scheme: "http", Host: w.Addr}
	proxy := func(h http.Handler) string {
		front := httptest.NewServer(h)
		t.Cleanup(front.Close)
		return front.URL
	}
	good := proxy(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(back); r.Out.Host = r.In.Host }})
	noHost := proxy(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(back); r.Out.Host = "backend.internal" }})
	for public, want := range map[string]process.Diagnosis{
		good:                          {Result: "ok", Text: "answers"},
		noHost:                        {Result: "fail", Text: "does not know this name"},
		proxy(http.NotFoundHandler()): {Result: "fail", Text: "answers 404"},
		"https://127.0.0.1:1":         {Result: "fail", Text: "does not answer"},
		"https" + good[len("http"):]:  {Result: "fail", Text: "does not answer"},
		"http://" + w.Addr:            {Result: "ok", Text: "answers"},
	} {
		found, code := process.Examine(t, w.Dir, "--addr", w.Addr, "--public-url", public)
		d := found["public URL"]
		if d.Result != want.Result || !strings.Contains(d.Text, want.Text) || (code == 0) != (want.Result == "ok") {
			t.Errorf("%s: exit %d, %+v; want %s and a word of %q", public, code, d, want.Result, want.Text)
		}
	}
}

func TestDoctorTakesASize(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"", "12", "many MiB", "-1GiB", "1.5GiB", "99999999999TiB"} {
		if _, said, code := process.Run(t, "", "doctor", "--min-free", size); code != 1 || !strings.Contains(said, "--min-free") {
			t.Errorf("%q: exit %d, %s", size, code, said)
		}
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, models.DatabaseFile)); err != nil {
		t.Fatal(err)
	}
}

// scribble writes over a page of the database.
func scribble(t *testing.T, dir string, at int64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, models.DatabaseFile), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("scribble", 512)), at); err != nil {
		t.Fatal(err)
	}
}
