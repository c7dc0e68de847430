package requests_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/inputs"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/requests"
)

// whole is a request with all that stands around it, read by its owner.
func whole(a models.Approval, mend ...func(*requests.Input)) requests.Approval {
	in := requests.Input{Approval: a, Substitution: models.ActingPage{Right: gallery.Own}, Sees: true, Reader: models.Voter{ID: gallery.UserID}, Around: gallery.Around(a)}
	for _, m := range mend {
		m(&in)
	}
	return requests.New(in, gallery.Now)
}

// TestCountsSayWhoAllowedI10: the words of each count, people's apart from rules'.
func TestCountsSayWhoAllowedI10(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		counts models.CallCounts
		want   string
	}{
		{models.CallCounts{}, "Never decided"},
		{models.CallCounts{Approved: 3, ByRule: 2}, "Approved 3 times, allowed by rules 2 times, never rejected"},
		{models.CallCounts{ByRule: 1}, "Allowed by rules once, never rejected"},
		{models.CallCounts{PreApproved: 2, Rejected: 1}, "Pre-approved 2 times, rejected once"},
		{models.CallCounts{Unapproved: 1, AutoRejected: 2}, "Ran without approval once, rejected automatically 2 times"},
		{models.CallCounts{Rejected: 1}, "Rejected once, never approved"},
	} {
		got := whole(gallery.Shell(), func(in *requests.Input) { in.Around.Counts, in.Around.SameCounts = c.counts, c.counts }).Before
		if c.counts != (models.CallCounts{}) {
			c.want = "This call: " + strings.ToLower(c.want)
		}
		if got == nil || got.Count != c.want {
			t.Errorf("%+v is told as %+v, want %q", c.counts, got, c.want)
		}
	}
}

// What became of this very call is said before what became of the tool's.
func TestThisCallIsCountedBeforeItsTool(t *testing.T) {
	t.Parallel()
	for want, same := range map[string]models.CallCounts{
		"This call: never before. Calls of this tool: approved 20 times, rejected once":                     {},
		"This call: approved 3 times, never rejected. Calls of this tool: approved 20 times, rejected once": {Approved: 3},
	} {
		got := whole(gallery.Shell(), func(in *requests.Input) {
			in.Around.Counts, in.Around.SameCounts = models.CallCounts{Approved: 20, Rejected: 1}, same
		}).Before
		if got == nil || got.Count != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

func TestAroundARequest(t *testing.T) {
	t.Parallel()
	v := whole(gallery.Shell())
	if v.PolicyNow != "The policy is now v9; it would still require approval, at critical risk (rule “Force push”)." {
		t.Errorf("the policy by now: %q", v.PolicyNow)
	}
	if b := v.Before; b.Count != "This call: never before. Calls of this tool: approved 3 times, allowed by rules 2 times, rejected once" || b.By != "Bo Lind" || !b.More || len(b.Earlier) != 3 {
		t.Errorf("before: %+v", b)
	}
	for i, want := range []string{"done", "failed", ""} {
		if got := v.Before.Earlier[i].Result; got != want {
			t.Errorf("earlier call %d went %q, want %q", i, got, want)
		}
	}
	if len(v.Compared) != 2 || v.Compared[0].Added != "+3" || v.Compared[1].Removed != "−1" || v.Compared[0].Same {
		t.Errorf("compared: %+v", v.Compared)
	}
	same := whole(gallery.Shell(), func(in *requests.Input) {
		in.Around.LastApproved.ToolInputJSON = "{ \"timeout\":120000," + strings.TrimSuffix(in.Approval.ToolInputJSON[1:], `,"timeout":120000}`) + "}"
	})
	if !same.Compared[0].Same {
		t.Error("the same input in another order is shown as a change")
	}
	edited := `{"command":"ran instead"}`
	ran := whole(gallery.Shell(), func(in *requests.Input) { in.Around.LastApproved.Vote.Input = &edited })
	if !strings.Contains(pagestest.Draw(t, requests.Panel(ran)), "ran instead") {
		t.Error("it is not compared with what ran")
	}
	for _, c := range []struct {
		now  models.PolicyResult
		want string
	}{
		{models.PolicyResult{Version: 8}, "The policy is now v8; it would decide the same."},
		{models.PolicyResult{Version: 8, Differs: true, Effect: "allow"}, "The policy is now v8; it would allow it."},
		{models.PolicyResult{Version: 8, Differs: true, Effect: "deny", Reason: "No \u202emore"}, "The policy is now v8; it would reject it: No ⟨U+202E⟩more"},
	} {
		v := whole(gallery.Shell(), func(in *requests.Input) { in.Around.Now = c.now })
		if v.PolicyNow != c.want {
			t.Errorf("%+v: %q, want %q", c.now, v.PolicyNow, c.want)
		}
	}
}

func TestWhatIsOfferedBesideAVerdict(t *testing.T) {
	t.Parallel()
	outside := func(a models.Approval) models.Approval {
		a.UpstreamID = new("01890a5d-ac96-774b-bcce-b302099a8501")
		return a
	}
	for _, c := range []struct {
		name                             string
		v                                requests.Approval
		ask, extend, cancel, grant, back bool
	}{
		{"owner", whole(gallery.Shell()), true, true, true, true, false},
		{"critical", whole(gallery.Payment()), true, true, true, false, false},
		{"routed", whole(gallery.Shell(), func(in *requests.Input) { in.Sees = false }), true, true, false, false, false},
		{"may not decide", whole(gallery.Shell(), func(in *requests.Input) { in.Substitution, in.Sees = models.ActingPage{}, false }), false, false, false, false, false},
		{"grants off", whole(gallery.Shell(), func(in *requests.Input) { in.Around.GrantsEnabled = false }), true, true, true, false, false},
		{"no deadline", whole(gallery.Question()), true, false, true, false, false},
		{"outside", whole(outside(gallery.Shell())), false, false, false, false, false},
		{"held by the reader", whole(gallery.HeldBy(gallery.Shell(), gallery.UserID, "Ada Berg")), false, false, true, false, true},
		{"held by another", whole(gallery.HeldBy(gallery.Shell(), "01890a5d-ac96-774b-bcce-b302099a8202", "Bo Lind")), false, false, true, false, false},
		{"settled", whole(gallery.Settle(gallery.Shell(), models.StatusExpired, models.CauseTimeout, nil)), false, false, false, false, false},
	} {
		got := [...]bool{c.v.AskBack != nil, c.v.Extend != nil, c.v.Cancel != "", c.v.GrantURL != "", c.v.Undo != nil}
		if want := [...]bool{c.ask, c.extend, c.cancel, c.grant, c.back}; got != want {
			t.Errorf("%s: offered %v, want %v (ask back, more time, withdraw, grant, take back)", c.name, got, want)
		}
	}
	late := whole(gallery.HeldBy(gallery.Shell(), gallery.UserID, "Ada Berg"), func(in *requests.Input) { in.Approval.Vote.UndoUntil = &gallery.Now })
	if late.Undo != nil || late.Held == "" {
		t.Error("what is over can be taken back")
	}
}

func TestClosedUntilOpened(t *testing.T) {
	t.Parallel()
	a := gallery.LongScript()
	folds := inputs.Folds(&a.Response, "")
	if len(folds) == 0 {
		t.Fatal("nothing is folded")
	}
	shut := whole(a)
	if shut.OpenFirst == "" || !strings.HasPrefix(shut.OpenFirstURL, "#") || strings.Contains(pagestest.Draw(t, requests.Panel(shut)), `value="approve" data-act`) {
		t.Errorf("open: %q", shut.OpenFirst)
	}
	if v := whole(a, func(in *requests.Input) { in.Opened = folds }); v.OpenFirst != "" {
		t.Errorf("opened, and still closed: %q", v.OpenFirst)
	}
	if v := whole(a, func(in *requests.Input) { in.Opened = []string{"another"} }); v.OpenFirst == "" {
		t.Error("another part opens it")
	}
	a.Risk = models.RiskMedium
	if v := whole(a); v.OpenFirst != "" {
		t.Errorf("medium risk is closed: %q", v.OpenFirst)
	}
}

func TestOutcomeSaysHowLongAndHowItWent(t *testing.T) {
	t.Parallel()
	a := gallery.Settle(gallery.Shell(), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	a.ApprovalTimestamp = new(a.ApprovalRequestedAt.Add(65 * time.Second))
	if o := pagestest.Request(a).Outcome; o.Took != "1 min 5 s" || o.Result != "Waiting for the result" {
		t.Errorf("%q, %q", o.Took, o.Result)
	}
	a = gallery.Settle(gallery.Shell(), models.StatusCancelled, models.CauseCancelled, nil)
	for text, want := range map[string]string{"withdrawn by the agent": "The agent cancelled it.", "withdrawn by Ada": "Cancelled by Ada."} {
		a.ApprovalFeedback = models.FeedbackOf(text)
		if o := pagestest.Request(a).Outcome; o.CauseText != want || o.Reason != "" {
			t.Errorf("%s: %q, %q", text, o.CauseText, o.Reason)
		}
	}
}
