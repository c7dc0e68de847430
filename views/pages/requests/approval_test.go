package requests_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

// I3: past its deadline a request is shown as expired, with its cause, before
// anybody has written it down; the deadline itself is already too late.
func TestApprovalPastItsDeadlineI3(t *testing.T) {
	t.Parallel()
	v := pagestest.Request(gallery.Call("deploy", `{}`, func(a *models.Approval) { a.ApprovalTimeoutAt = gallery.Now }))
	if v.Pending || v.Outcome == nil || v.Outcome.Word.Text != "expired" || v.Outcome.CauseText != "Nobody decided in time." {
		t.Errorf("%+v", v.Outcome)
	}
	if html := pagestest.Draw(t, requests.Panel(v)); strings.Contains(html, "<form") {
		t.Error("an expired request can be decided")
	}
}

// I6: every form that decides carries the digest that was shown.
func TestApprovalFormsCarryTheDigestI6(t *testing.T) {
	t.Parallel()
	for _, a := range []models.Approval{gallery.Shell(), gallery.Question()} {
		html := pagestest.Draw(t, requests.Panel(pagestest.Request(a)))
		forms := strings.Split(html, "<form")[1:]
		if len(forms) == 0 {
			t.Fatalf("%d forms", len(forms))
		}
		for _, f := range forms {
			f, _, _ = strings.Cut(f, "</form>")
			if !strings.Contains(f, `<input type="hidden" name="digest" value="`+a.Digest+`"`) || !strings.Contains(f, `name="verdict"`) {
				t.Errorf("a form without digest or verdict: %s", f)
			}
		}
	}
}

func TestApprovalShowsTheInputLosslessly(t *testing.T) {
	t.Parallel()
	v := pagestest.Request(gallery.Payment())
	for _, want := range []string{`"amount": 120.00`, `"reference": 9007199254740993`} {
		if !strings.Contains(v.Whole.Text, want) {
			t.Errorf("%q is missing in %s", want, v.Whole.Text)
		}
	}
	if models.Digest([]byte(v.Raw.Text)) != v.Digest {
		t.Error("the raw view is not what is hashed")
	}
	other := pagestest.Request(gallery.Call("pay", `{"reference":9007199254740992}`))
	one := pagestest.Request(gallery.Call("pay", `{"reference":9007199254740993}`))
	if other.Digest == one.Digest || other.Whole.Text == one.Whole.Text {
		t.Error("two numbers are shown as one")
	}
}

func TestApprovalTakesProgramsAndTextsOut(t *testing.T) {
	t.Parallel()
	v := pagestest.Request(gallery.Edit())
	if d := v.Blocks[0].Diff; len(v.Blocks) != 1 || v.Blocks[0].Label != "src/pay.go" || d == nil || d.Added != 1 || d.Removed != 1 {
		t.Errorf("%+v", v.Blocks)
	}
	v = pagestest.Request(gallery.Call("Bash", gallery.LongCommand()))
	if len(v.Blocks) != 1 || strings.Count(v.Blocks[0].Text, "\n") != 39 {
		t.Errorf("%+v", v.Blocks)
	}
	if v := pagestest.Request(gallery.Call("write_file", gallery.HugeInput())); len(v.Blocks) != 0 || v.EditJSON != "" {
		t.Error("the largest input is shown more than twice")
	}
}

func TestApprovalWarns(t *testing.T) {
	t.Parallel()
	v := pagestest.Request(gallery.Hidden())
	if len(v.Warnings) != 2 || v.Warnings[1].Text != "The agent's name mixes Cyrillic and Latin letters." {
		t.Fatalf("%q", v.Warnings)
	}
	for _, want := range []string{"the input (2 direction controls, 1 zero-width character)", "the description (1 direction control, 3 tag characters)", "the policy's reason", "the conversation's title", "the agent's name"} {
		if !strings.Contains(v.Warnings[0].Detail, want) {
			t.Errorf("%q is missing in %q", want, v.Warnings[0])
		}
	}
	if strings.ContainsAny(v.EditJSON, "\u202E\u2066\u200B") || !strings.Contains(v.EditJSON, `\u202e`) {
		t.Errorf("the editor hides characters: %q", v.EditJSON)
	}
	same, err := models.Canonical(models.KindToolCall, v.Tool, []byte(v.EditJSON))
	if err != nil || models.Digest(same) != v.Digest {
		t.Errorf("the editor's text means something else (%v)", err)
	}
	a := gallery.Shell()
	a.ToolInputJSON = `{"command":"rm -rf /"}`
	if v := pagestest.Request(a); len(v.Warnings) != 1 || !strings.Contains(v.Warnings[0].Text, "Do not approve") {
		t.Errorf("an input that was changed in the store: %q", v.Warnings)
	}
	if v := pagestest.Request(gallery.Shell()); len(v.Warnings) != 0 {
		t.Errorf("an ordinary request warns: %q", v.Warnings)
	}
}

// A stale or double verdict meets what stands, in words.
func TestApprovalLateVerdict(t *testing.T) {
	t.Parallel()
	rejected := gallery.Settle(gallery.Shell(), models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject, Reason: "No."})
	held := gallery.Shell()
	held.HeldUntil, held.Vote = &gallery.Now, &models.Vote{UserName: "Bo Lind"}
	for _, tt := range []struct {
		name string
		a    models.Approval
		late models.Verdict
		want string
	}{
		{"by a person", rejected, models.VerdictApprove, "Already rejected by Bo Lind. Your approval changed nothing."},
		{"by time", gallery.Settle(gallery.Shell(), models.StatusExpired, models.CauseTimeout, nil), models.VerdictReject, "Already expired. Nobody decided in time. Your rejection changed nothing."},
		{"cancelled", gallery.Settle(gallery.Shell(), models.StatusCancelled, models.CauseCancelled, nil), models.VerdictApprove, "Already cancelled. The agent cancelled it. Your approval changed nothing."},
		{"held", held, models.VerdictApprove, "Bo Lind's decision is being sent. Your approval changed nothing."},
		{"digest", gallery.Shell(), models.VerdictApprove, "This request changed while you were looking at it. Your approval was not saved. Look again, then decide."},
		{"none", rejected, "", ""},
	} {
		v := requests.New(requests.Input{Approval: tt.a, Substitution: models.ActingPage{Right: gallery.Own}, Late: tt.late}, gallery.Now)
		if v.Notice != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, v.Notice, tt.want)
		}
	}
}

func TestApprovalOutcome(t *testing.T) {
	t.Parallel()
	input := `{"b":1.0,"a":2}`
	v := pagestest.Request(gallery.Settle(gallery.Shell(), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove, Reason: "ok", Input: &input, InputDigest: new("d1")}))
	o := v.Outcome
	if o.By != "Bo Lind" || o.Reason != "ok" || o.EditedDigest != "d1" || o.Edited == nil || o.Edited.Text != "{\n  \"a\": 2,\n  \"b\": 1.0\n}" {
		t.Errorf("%+v", o)
	}
	passed := gallery.Call("read", `{}`)
	passed.ApprovalStatus, passed.Cause = nil, models.CausePolicy
	if o := pagestest.Request(passed).Outcome; o == nil || o.By != "" || o.Word.Text != "allowed" {
		t.Errorf("I10: allowed without a person: %+v", o)
	}
	if v := pagestest.Request(gallery.Settle(gallery.Question(), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictAnswer, Option: new("eu")})); v.Outcome.Word.Text != "answered" || v.Outcome.Option != "eu" {
		t.Errorf("%+v", v.Outcome)
	}
}

func TestApprovalStateChangesWithWhatStands(t *testing.T) {
	t.Parallel()
	a := gallery.Shell()
	held := a
	held.HeldUntil = &gallery.Now
	states := map[string]bool{}
	for _, a := range []models.Approval{a, held, gallery.Settle(a, models.StatusApproved, models.CauseReviewer, &models.Vote{})} {
		states[pagestest.Request(a).State] = true
	}
	if len(states) != 3 || pagestest.Request(a).State != pagestest.Request(gallery.Shell()).State {
		t.Errorf("%v", states)
	}
}

// No error is lost: it stands at its field, or else above the forms.
func TestApprovalShowsEveryError(t *testing.T) {
	t.Parallel()
	for _, a := range []models.Approval{gallery.Shell(), gallery.Question(), gallery.Call("write_file", gallery.HugeInput())} {
		for _, field := range []string{"", "reason", "digest", "answer", "option", "input", "approved"} {
			in := requests.Input{Approval: a, Substitution: models.ActingPage{Right: gallery.Own}, Form: requests.DecideForm{Errors: map[string]string{field: "is not as wanted"}}}
			html := pagestest.Draw(t, requests.Panel(requests.New(in, gallery.Now)))
			if n := strings.Count(html, "is not as wanted"); n != 1 {
				t.Errorf("%s: the error of %q is shown %d times", a.ToolName, field, n)
			}
		}
	}
}
