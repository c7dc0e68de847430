package pages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// screen is one drawn state of a page.
type screen struct {
	name string
	page templ.Component
}

// screens are all pages in their states; the golden files and the checks of
// markup go over them.
func screens(t *testing.T) []screen {
	t.Helper()
	approval := func(a models.Approval, mend ...func(*pages.ApprovalInput)) templ.Component {
		in := pages.ApprovalInput{Approval: a, MayDecide: true, Turns: turns(t, a)}
		for _, m := range mend {
			m(&in)
		}
		v := pages.NewApproval(in, now)
		return pages.ApprovalPage(page(v.Title, v.URL), v)
	}
	inbox := func(in pages.InboxInput) templ.Component {
		p := page("Inbox", "/")
		p.Inbox = in.Count
		return pages.InboxPage(p, pages.NewInbox(in, now))
	}
	alone := views.Page{Title: "Sign in", Path: "/signin", Now: now, Narrow: true}
	rows := []models.Approval{payment(t), shell(t), edit(t), hidden(t), question(t)}
	edited := `{"command":"rm -rf build/","timeout":120000}`
	red := page("Inbox", "/")
	red.GateOff, red.FallbackOn, red.Flash = true, true, &views.Flash{Tone: views.ToneGood, Text: "Signed in."}
	review := policyInput()
	review.Review = true
	review.Form = &pages.PolicyForm{FallbackAutoApprove: true, RequiredApprovalTools: "Bash\n/^git_/\ndeploy", DefaultTimeoutMinutes: "10", BaseVersion: 7}
	review.Changes = []pages.PolicyChange{{Path: "approval_enabled", Before: "true", After: "false"}, {Path: "required_approval_tools", After: "deploy"}}
	wrong := policyInput()
	wrong.Form = &pages.PolicyForm{ApprovalEnabled: true, RequiredApprovalTools: "/(/", DefaultTimeoutMinutes: "0", BaseVersion: 7, Errors: map[string]string{"required_approval_tools[0]": "missing closing )", "default_timeout_minutes": "must be at least 1"}}
	reader := policyInput()
	reader.Admin, reader.Versions = false, nil
	fresh := agentsInput()
	fresh.Fresh = &pages.FreshToken{Scope: models.ScopeAgent, Name: "release-bot", Secret: "csa_0123456789abcdef"}
	throttled := pages.NewSignIn("ada@example.org", "/audit", &models.Error{Code: models.CodeTooManyRequests, RetryAfterSeconds: 601})
	return append(slices.Concat(adminScreens(), conversationScreens(t), budgetScreens(t), runScreens(t)), []screen{
		{"inbox", inbox(pages.InboxInput{Rows: rows, Count: 5, BaseURL: "http://127.0.0.1:8080"})},
		{"inbox-many", inbox(pages.InboxInput{Rows: rows[:2], Count: models.StatsCap, Next: "k2", After: "k1", Conversation: conversationID, ConversationTitle: "Ship 1.4"})},
		{"inbox-empty", inbox(pages.InboxInput{BaseURL: "http://127.0.0.1:8080"})},
		{"inbox-token", inbox(pages.InboxInput{BaseURL: "http://127.0.0.1:8080", FreshToken: "csa_0123456789abcdef", FreshAgent: "first-agent"})},
		{"inbox-fragment", pages.InboxFragment(pages.NewInbox(pages.InboxInput{Rows: rows[:1], Count: 1}, now))},
		{"inbox-red", pages.InboxPage(red, pages.NewInbox(pages.InboxInput{Rows: rows[:1], Count: 1}, now))},
		{"approval", approval(shell(t))},
		{"approval-edit-file", approval(edit(t))},
		{"approval-payment", approval(payment(t))},
		{"approval-question", approval(question(t))},
		{"approval-hidden", approval(hidden(t))},
		{"approval-empty-input", approval(call(t, "deploy", `{}`))},
		{"approval-deep", approval(call(t, "deep", deepInput()))},
		{"approval-long-command", approval(call(t, "Bash", longCommand()))},
		{"approval-expired", approval(call(t, "deploy", `{}`, func(a *models.Approval) { a.ApprovalTimeoutAt = now }))},
		{"approval-approved", approval(settle(shell(t), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove, Reason: "Fine now.", Input: &edited, InputDigest: new("77aa")}))},
		{"approval-rejected-late", approval(settle(shell(t), models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject, Reason: "Not on a Friday."}), func(in *pages.ApprovalInput) { in.Late = models.VerdictApprove })},
		{"approval-answered", approval(settle(question(t), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictAnswer, Option: new("eu"), Answer: new("Europe first,\nthen the rest.")}))},
		{"approval-errors", approval(shell(t), func(in *pages.ApprovalInput) {
			in.Form = pages.DecideForm{Reason: "because", Input: "{", Errors: map[string]string{"input": "must be one JSON value", "reason": "is too long"}}
		})},
		{"approval-not-mine", approval(shell(t), func(in *pages.ApprovalInput) { in.MayDecide = false })},
		{"agents", pages.AgentsPage(page("Agents and tokens", "/agents"), pages.NewAgents(agentsInput(), now))},
		{"agents-fresh", pages.AgentsPage(page("Agents and tokens", "/agents"), pages.NewAgents(fresh, now))},
		{"agents-empty", pages.AgentsPage(page("Agents and tokens", "/agents"), pages.NewAgents(pages.AgentsInput{Form: pages.TokenForm{Scope: models.ScopeAgent, Agent: "x", Errors: map[string]string{"agent": "is taken"}}}, now))},
		{"audit", pages.AuditPage(page("Audit", "/audit"), pages.NewAudit(entries()))},
		{"audit-empty", pages.AuditPage(page("Audit", "/audit"), pages.NewAudit(nil))},
		{"policy", pages.PolicyPage(page("Policy", "/policy"), pages.NewPolicy(policyInput(), now))},
		{"policy-review", pages.PolicyPage(page("Policy", "/policy"), pages.NewPolicy(review, now))},
		{"policy-errors", pages.PolicyPage(page("Policy", "/policy"), pages.NewPolicy(wrong, now))},
		{"policy-reader", pages.PolicyPage(page("Policy", "/policy"), pages.NewPolicy(reader, now))},
		{"policy-version", pages.PolicyVersionPage(page("Policy v6", "/policy/versions/6"), pages.NewPolicyDocument(policyInput().Versions[1], []byte(`{"approval_enabled":true,"rules":[]}`), false, now))},
		{"signin", pages.SignInPage(alone, pages.NewSignIn("", "", nil))},
		{"signin-wrong", pages.SignInPage(alone, pages.NewSignIn("ada@example.org", "/audit", models.Errorf(models.CodeUnauthenticated, "no")))},
		{"signin-wait", pages.SignInPage(alone, throttled)},
		{"setup", pages.SetupPage(alone, pages.NewSetup("k3y", "", "", nil))},
		{"setup-errors", pages.SetupPage(alone, pages.NewSetup("k3y", "Ada", "ada", models.Invalid("email", "must be an e-mail address")))},
		{"password", pages.PasswordPage(page("Change password", "/account/password"), pages.NewPassword(views.Viewer{Email: "ada@example.org"}, models.Invalid("current", "is not your password")))},
		{"docs", pages.DocsPage(views.Page{Title: "API", Path: "/docs", Now: now}, docsPage(t))},
		{"failure-404", pages.FailurePage(page("Not found", "/nowhere"), pages.NewFailure(404, "", "req-1"))},
		{"failure-500", pages.FailurePage(alone, pages.NewFailure(500, "", "req-2"))},
	}...)
}

func draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stable replaces what changes with every style sheet, so that golden files only
// change when pages do.
var hashed = regexp.MustCompile(`(/static/[a-z/.-]+)\.[0-9a-f]{12}\.`)

// broken puts tags on lines of their own, so that a difference is read by eye.
func broken(html string) string {
	return strings.ReplaceAll(hashed.ReplaceAllString(html, "$1.HASH."), "><", ">\n<") + "\n"
}

func TestPagesGolden(t *testing.T) {
	t.Parallel()
	for _, s := range screens(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			got := broken(draw(t, s.page))
			file := filepath.Join("testdata", s.name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test -run Golden -update makes it)", err)
			}
			if got != string(want) {
				t.Errorf("%s differs: %s", file, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// The page of the largest input is checked by what it must hold, and by a hash
// of all of it.
func TestHugeInputGolden(t *testing.T) {
	t.Parallel()
	a := call(t, "write_file", hugeInput())
	html := broken(draw(t, pages.ApprovalPanel(pages.NewApproval(pages.ApprovalInput{Approval: a, MayDecide: true}, now))))
	if n := strings.Count(html, "0123456789abcdef"); n < 2*(models.MaxInput-16)/16-4 {
		t.Errorf("only %d of the input's pieces are shown", n)
	}
	for _, want := range []string{"256.0 KiB", "<details", a.Digest} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(html) > 3*models.MaxInput {
		t.Errorf("the page has %d bytes", len(html))
	}
	sum := sha256.Sum256([]byte(html))
	got := hex.EncodeToString(sum[:]) + "\n"
	file := filepath.Join("testdata", "approval-huge.sha256.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got != string(want) {
		t.Errorf("%s differs (%v)", file, err)
	}
}
