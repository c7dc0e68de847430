package views_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/static"
	"countersign/views"
)

var now = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)

func TestURLs(t *testing.T) {
	t.Parallel()
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	for _, tt := range []struct{ got, want string }{
		{views.SetupURL("a b&c"), "/setup?key=a+b%26c"},
		{views.SetupURL(""), "/setup"},
		{views.SignInURL("/approvals/1?x=y"), "/signin?next=%2Fapprovals%2F1%3Fx%3Dy"},
		{views.InboxPageURL("", ""), "/"},
		{views.InboxPageURL(id, "k/1"), "/?conversation=" + id + "&after=k%2F1"},
		{views.InboxPageURL("", "k"), "/?after=k"},
		{views.ApprovalURL(id), "/approvals/" + id},
		{views.ApprovalURL("../x?y"), "/approvals/..%2Fx%3Fy"},
		{views.DecideURL(id), "/approvals/" + id + "/decide"},
		{views.RevokeTokenURL(id), "/agents/tokens/" + id + "/revoke"},
		{views.PolicyVersionURL(12), "/policy/versions/12"},
		{views.ApprovalTopic(id), "approval:" + id},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                             "0 s",
		900 * time.Millisecond:        "0 s",
		45 * time.Second:              "45 s",
		79 * time.Second:              "1 min 19 s",
		2 * time.Minute:               "2 min",
		12*time.Minute + time.Second:  "12 min",
		90 * time.Minute:              "1 h 30 min",
		26 * time.Hour:                "1 d 2 h",
		240*time.Hour + 5*time.Minute: "10 d",
	} {
		if got := views.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	since := now.Add(-5 * time.Minute)
	for _, tt := range []struct {
		left        time.Duration
		text, level string
	}{
		{5 * time.Minute, "5:00 left", "calm"},
		{221 * time.Second, "3:41 left", "calm"},
		{time.Minute, "1:00 left", "amber"},
		{10 * time.Second, "0:10 left", "red"},
		{500 * time.Millisecond, "0:01 left", "red"},
		{0, "time is up", "red"},
		{-time.Hour, "time is up", "red"},
		{2 * time.Hour, "2:00:00 left", "calm"},
		{49 * time.Hour, "2 d 1 h left", "calm"},
	} {
		m := views.Remaining(now.Add(tt.left), since, now)
		if m.Text != tt.text || m.Level != tt.level {
			t.Errorf("%v: %q %s, want %q %s", tt.left, m.Text, m.Level, tt.text, tt.level)
		}
	}
	if !views.Remaining(models.NoDeadline, since, now).IsZero() {
		t.Error("no deadline counts down")
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	m := views.Ago(now.Add(-79*time.Second).In(time.FixedZone("", 3600)), now)
	if m.Text != "1 min ago" || m.Machine() != "2026-11-20T10:28:41Z" || m.Title() != "2026-11-20 10:28:41 UTC" {
		t.Errorf("%+v %s %s", m, m.Machine(), m.Title())
	}
	if got := views.Ago(now.Add(time.Minute), now).Text; got != "just now" {
		t.Errorf("the future is %q", got)
	}
	if !views.AgoOf(nil, now).IsZero() {
		t.Error("a missing time is shown")
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{views.Number(0), "0"},
		{views.Number(999), "999"},
		{views.Number(1234567), "1,234,567"},
		{views.Number(-1000), "-1,000"},
		{views.Count(999), "999"},
		{views.Count(models.StatsCap), "1,000+"},
		{views.Bytes(1), "1 byte"},
		{views.Bytes(812), "812 bytes"},
		{views.Bytes(256 << 10), "256.0 KiB"},
		{views.Bytes(4 << 20), "4.0 MiB"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func draw(t *testing.T, p views.Page) string {
	t.Helper()
	var b strings.Builder
	if err := views.Shell(p).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestShell(t *testing.T) {
	t.Parallel()
	viewer := &views.Viewer{Name: "Ada\u202E", Email: "ada@example.org"}
	for _, tt := range []struct {
		name       string
		page       views.Page
		has, hasnt []string
	}{
		{
			"nobody signed in",
			views.Page{Title: "Sign in", Now: now, Inbox: 4},
			[]string{"<title>Sign in · Countersign</title>", `href="#main"`, `<main id="main"`, static.URL("css/app.css")},
			[]string{"<nav", views.EventsURL(), views.SignOutURL(), `class="dangers"`},
		},
		{
			"signed in",
			views.Page{Title: "Audit", Path: views.AuditURL(), Now: now, Viewer: viewer, Inbox: 7},
			[]string{"<title>(7) Audit · Countersign</title>", `href="/audit" aria-current="page"`, `hx-sse:connect="/events"`, `action="/signout"`, `data-count="7"`, "Ada⟨U+202E⟩", "reviewer"},
			[]string{`href="/" aria-current`, `class="dangers"`, "\u202E"},
		},
		{
			"I11: both exceptions are red on a page of nobody, too",
			views.Page{Now: now, GateOff: true, FallbackOn: true},
			[]string{`class="dangers"`, "approval_enabled", "fallback_auto_approve"},
			nil,
		},
		{
			"below a place",
			views.Page{Path: views.PolicyVersionURL(3), Now: now, Viewer: viewer},
			[]string{`href="/policy" aria-current="page"`},
			[]string{`href="/" aria-current`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			html := draw(t, tt.page)
			for _, want := range tt.has {
				if !strings.Contains(html, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, bad := range tt.hasnt {
				if strings.Contains(html, bad) {
					t.Errorf("%q is there", bad)
				}
			}
		})
	}
}

// Every static file that the shell names exists.
func TestShellLoadsWhatIsThere(t *testing.T) {
	t.Parallel()
	html := draw(t, views.Page{Now: now})
	found := 0
	for part := range strings.SplitSeq(html, `"`) {
		if !strings.HasPrefix(part, static.Prefix) {
			continue
		}
		found++
		if _, _, ok := static.Lookup(part); !ok {
			t.Errorf("%s is not there", part)
		}
	}
	if found < 5 {
		t.Errorf("only %d static files are named", found)
	}
}

func TestIconsInUseAreVendored(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"inbox", "key-round", "scroll-text", "sliders-horizontal", "sun-moon", "user-round", "chevron-down", "log-out", "signature", "octagon-alert", "copy", "triangle-alert", "arrow-left", "clock", "check", "x"} {
		if static.Icon(name) == "" {
			t.Errorf("icon %q is not vendored", name)
		}
	}
}
