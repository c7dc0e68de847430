package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// A room after the store decides for nobody but people either (I4).
func TestI4ARoomDecidesForPeopleOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	for _, actor := range []models.Actor{b.Agent, models.System("policy"), {}} {
		storetest.WantUnchanged(t, b.Store, models.CodeForbidden, func() error {
			return b.Write(t.Context(), func(tx *store.Tx) error { return storetest.Err(tx.Decide(actor, a, storetest.No("no"))) })
		})
	}
}

func TestAskIsPendingUntilAPersonDecides(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{Input: []byte(`{"command":"ls"}`), Explanation: models.Explanation{Description: "list"}})
	if a.Status() != models.StatusPending || !a.RequiresApproval || a.Sequence != 1 || a.Risk != models.RiskMedium {
		t.Fatalf("asked = %+v", a)
	}
	if got := a.ApprovalTimeoutAt.Sub(*a.ApprovalRequestedAt); got != 5*time.Minute {
		t.Errorf("deadline after %v, want the default 5 minutes", got)
	}
	done, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.No("not now"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*models.Approval{done, again} {
		if got.Status() != models.StatusRejected || got.Cause != models.CauseReviewer || got.Feedback() != "not now" ||
			got.Vote == nil || got.Vote.UserName != "owner@example.com" || *got.DecidedBy != b.Owner.UserID() {
			t.Errorf("outcome = %+v, vote %+v", got, got.Vote)
		}
	}
}

func TestI9ARepeatIsTheSameRequest(t *testing.T) {
	t.Parallel()
	id, conv := string(models.NewID[models.ResponseID]()), string(models.NewID[models.ConversationID]())
	first := models.AskInput{ApprovalID: id, ConversationID: conv, RunID: "run-1", ToolUseID: "t1", Input: []byte(`{"a":1,"b":2}`), AcceptsEdits: true}
	tests := []struct {
		name   string
		change func(*models.AskInput)
		code   models.Code // empty: the same row
	}{
		{"the same to the letter", func(*models.AskInput) {}, ""},
		{"other white space and order", func(in *models.AskInput) { in.Input = []byte(`{ "b": 2, "a": 1 }`) }, ""},
		{"another description and timeout", func(in *models.AskInput) { s := int64(9); in.Description, in.TimeoutSeconds = "other", &s }, ""},
		{"by approvalId alone", func(in *models.AskInput) { in.ConversationID, in.RunID, in.ToolUseID = "", "", "" }, ""},
		{"approvalId in upper case", func(in *models.AskInput) { in.ApprovalID = strings.ToUpper(id) }, ""},
		{"by conversation and toolUseId", func(in *models.AskInput) { in.ApprovalID, in.RunID = "", "" }, ""},
		{"by run and toolUseId", func(in *models.AskInput) { in.ApprovalID, in.ConversationID = "", "" }, ""},
		{"by toolUseId alone", func(in *models.AskInput) { in.ApprovalID, in.ConversationID, in.RunID = "", "", "" }, ""},
		{"another tool", func(in *models.AskInput) { in.ToolName = "Write" }, models.CodeKeyConflict},
		{"another input", func(in *models.AskInput) { in.Input = []byte(`{"a":1}`) }, models.CodeKeyConflict},
		{"another input by conversation", func(in *models.AskInput) { in.ApprovalID = ""; in.Input = []byte(`{}`) }, models.CodeKeyConflict},
		{"another kind", func(in *models.AskInput) { in.Kind = models.KindQuestion }, models.CodeKeyConflict},
		{"another conversation", func(in *models.AskInput) {
			in.ConversationID, in.RunID = string(models.NewID[models.ConversationID]()), ""
		}, models.CodeKeyConflict},
		{"another run", func(in *models.AskInput) { in.ConversationID, in.RunID = "", "run-2" }, models.CodeKeyConflict},
		{"another toolUseId", func(in *models.AskInput) { in.ToolUseID = "t2" }, models.CodeKeyConflict},
		{"another approvalId for the same call", func(in *models.AskInput) { in.ApprovalID = string(models.NewID[models.ResponseID]()) }, models.CodeKeyConflict},
		{"conversation and run that disagree", func(in *models.AskInput) { in.ApprovalID, in.RunID = "", "run-2" }, models.CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			stands := b.AskFor(t, first)
			head, _ := b.Ledger.Head(t.Context())
			in := first
			in.ToolName, in.Explicit = "Bash", true
			tt.change(&in)
			got, err := b.Ask(t.Context(), b.Agent, in)
			if tt.code != "" {
				wantCode(t, err, tt.code)
			} else if err != nil || got.ID != stands.ID {
				t.Fatalf("repeat gave %v, %v; want the row %s", got, err, stands.ID)
			}
			if after, _ := b.Ledger.Head(t.Context()); after.Seq != head.Seq {
				t.Errorf("the repeat changed something: ledger went from %d to %d", head.Seq, after.Seq)
			}
		})
	}
}

func TestTwoOwnersWithTheSameKeysNeverMeet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, conv := string(models.NewID[models.ResponseID]()), string(models.NewID[models.ConversationID]())
	mine := b.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "t", ApprovalID: id, ConversationID: conv})
	theirs, err := b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "Bash", RunID: "run", ToolUseID: "t", Explicit: true})
	if err != nil || theirs.ID == mine.ID || theirs.ConversationID == mine.ConversationID {
		t.Fatalf("the same run and tool use of another owner: %v, %v", theirs, err)
	}
	e := refusal(t, second(b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "Bash", ApprovalID: id, Explicit: true})), models.CodeIDTaken)
	if e.Approval != nil || strings.Contains(e.Error(), "run") {
		t.Errorf("a taken approvalId shows something: %v", e)
	}
	e = refusal(t, second(b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "Bash", ConversationID: conv, Explicit: true})), models.CodeIDTaken)
	if e.Approval != nil {
		t.Error("a taken conversationId shows a row")
	}
	for name, actor := range map[string]models.Actor{"another agent": b.Other, "another reviewer": b.Stranger} {
		if _, err := b.Requests.Approval(t.Context(), actor, mine.ID); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("%s reads the request: %v", name, err)
		}
	}
	wantCode(t, second(b.Decide(t.Context(), b.Stranger, mine.ID, storetest.Yes())), models.CodeNotFound)
	wantCode(t, second(b.Cancel(t.Context(), b.Other, mine.ID)), models.CodeNotFound)
	sibling, _ := storetest.AgentToken(t, b.Store, b.Owner, "second bot")
	wantCode(t, second(b.Ask(t.Context(), sibling, models.AskInput{ToolName: "Bash", RunID: "run", Explicit: true})), models.CodeOtherAgent)
}

func second[T any](_ T, err error) error { return err }

func TestI4AgentsNeverDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	forged := b.Agent
	forged.Admin = true
	for _, actor := range []models.Actor{b.Agent, forged, b.Other, {}, models.System("x"), models.Operator("x")} {
		wantCode(t, second(b.Decide(t.Context(), actor, a.ID, storetest.Yes())), models.CodeForbidden)
		// The capability is judged before any look-up.
		wantCode(t, second(b.Decide(t.Context(), actor, models.NewID[models.ResponseID](), storetest.Yes())), models.CodeForbidden)
	}
	wantCode(t, second(b.ApplyPolicy(t.Context(), b.Agent, []byte(`{}`), "", 0)), models.CodeForbidden)
	wantCode(t, second(b.ApplyPolicy(t.Context(), b.Owner, []byte(`{}`), "", 0)), models.CodeForbidden)
	wantCode(t, second(b.Ask(t.Context(), b.Owner, models.AskInput{ToolName: "Bash"})), models.CodeForbidden)
}

func TestI3DeadlinesHoldByThemselves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	b.Clock.Step(5*time.Minute - time.Microsecond)
	if got, _ := b.Requests.Approval(t.Context(), b.Agent, a.ID); got.Status() != models.StatusPending {
		t.Fatalf("expired early: %s", got.Status())
	}
	b.Clock.Step(time.Microsecond)
	unwritten, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	if err != nil || unwritten.Status() != models.StatusExpired || unwritten.Cause != models.CauseTimeout ||
		unwritten.Feedback() != "Approval request timed out (5 minutes)" {
		t.Fatalf("at the deadline: %+v, %v", unwritten, err)
	}
	e := refusal(t, second(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeExpired)
	if e.Approval == nil || e.Approval.Status() != models.StatusExpired {
		t.Errorf("the conflict carries %v", e.Approval)
	}
	if page, _ := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{}); len(page.Items) != 0 || page.Count != 0 {
		t.Errorf("the inbox still shows it: %v", page)
	}
	if list, _ := b.Requests.Approvals(t.Context(), b.Owner, requests.ListQuery{Status: models.StatusExpired}); len(list.Items) != 1 {
		t.Error("the list of expired ones lacks it")
	}
	b.Clock.Step(time.Hour)
	if n, err := b.ExpireDue(t.Context(), 100); n != 1 || err != nil {
		t.Fatalf("expired %d, %v", n, err)
	}
	written, _ := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	if !written.ApprovalTimestamp.Equal(*unwritten.ApprovalTimestamp) || written.Feedback() != unwritten.Feedback() || written.Status() != unwritten.Status() {
		t.Errorf("the expirer changed what was already so:\n%+v\n%+v", unwritten, written)
	}
	if n, _ := b.ExpireDue(t.Context(), 100); n != 0 {
		t.Errorf("expired %d a second time", n)
	}
}

func TestTheDeadlineIsTheRulesThenTheAgentsThenTheKinds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"default_timeout_minutes": 7, "max_timeout_minutes": 60, "rules": [{"name":"slow","tools":["slow"],"effect":"require","timeout_minutes":30}]}`)
	secs := func(n int64) *int64 { return &n }
	for _, tt := range []struct {
		in   models.AskInput
		want time.Duration
	}{
		{models.AskInput{ToolName: "slow", TimeoutSeconds: secs(10)}, 30 * time.Minute},
		{models.AskInput{ToolName: "x", TimeoutSeconds: secs(10)}, 10 * time.Second},
		{models.AskInput{ToolName: "x"}, 7 * time.Minute},
		{models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}, TimeoutSeconds: secs(60)}, time.Minute},
	} {
		if a := b.AskFor(t, tt.in); a.ApprovalTimeoutAt.Sub(a.CreatedAt) != tt.want {
			t.Errorf("%+v: deadline after %v, want %v", tt.in, a.ApprovalTimeoutAt.Sub(a.CreatedAt), tt.want)
		}
	}
	if a := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}}); a.HasDeadline() {
		t.Errorf("a question has the deadline %v, want none", a.ApprovalTimeoutAt)
	}
	for _, n := range []int64{0, -1, 3601} {
		e := refusal(t, second(b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "x", TimeoutSeconds: secs(n)})), models.CodeInvalid)
		if e.Fields["timeoutSeconds"] == "" {
			t.Errorf("timeoutSeconds %d: fields %v", n, e.Fields)
		}
	}
}

func TestI12ThePolicyOutcomeIsFrozen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{ToolName: "Bash"})
	b.UsePolicy(t, `{"rules":[{"name":"never","tools":["Bash"],"effect":"deny","risk":"critical"}]}`)
	got, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	if err != nil || got.PolicyVersion != 1 || got.Status() != models.StatusPending || got.Risk != models.RiskMedium {
		t.Fatalf("a later policy re-judged it: %+v, %v", got, err)
	}
	edited := storetest.Yes()
	edited.Input = []byte(`{"command":"echo"}`)
	if e := refusal(t, second(b.Decide(t.Context(), b.Owner, a.ID, edited)), models.CodeInvalid); !strings.Contains(e.Fields["input"], "denied by the policy") {
		t.Errorf("an edit of a denied tool: %v", e)
	}
	if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()); err != nil {
		t.Errorf("the frozen request cannot be approved: %v", err)
	}
}

func TestI10CausesAreToldApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"free","tools":["Read"],"effect":"allow"},{"name":"never","tools":["drop"],"effect":"deny","reason":"no drops"}]}`)
	if a := b.AskFor(t, models.AskInput{ToolName: "Read"}); a.Status() != models.StatusNone || a.Cause != models.CausePolicy || a.RequiresApproval || a.DecidedBy != nil {
		t.Errorf("allowed by policy: %+v", a)
	}
	if a := b.AskFor(t, models.AskInput{ToolName: "drop"}); a.Status() != models.StatusRejected || a.Cause != models.CausePolicy || a.Feedback() != "no drops" || a.DecidedBy != nil {
		t.Errorf("denied by policy: %+v", a)
	}
	b.UsePolicy(t, `{"approval_enabled":false,"rules":[{"name":"never","tools":["drop"],"effect":"deny"}]}`)
	if a := b.AskFor(t, models.AskInput{ToolName: "Bash"}); a.Status() != models.StatusNone || a.Cause != models.CauseGateOff {
		t.Errorf("with the gate off: %+v", a)
	}
	if a := b.AskFor(t, models.AskInput{ToolName: "drop"}); a.Status() != models.StatusRejected {
		t.Errorf("deny with the gate off: %+v", a)
	}
	if a := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}}); a.Status() != models.StatusPending {
		t.Errorf("a question with the gate off: %+v", a)
	}
	b.UsePolicy(t, `{}`)
	gone := b.AskFor(t, models.AskInput{ToolUseID: "gone"})
	if got, err := b.Cancel(t.Context(), b.Agent, gone.ID); err != nil || got.Status() != models.StatusCancelled || got.Cause != models.CauseCancelled {
		t.Errorf("cancelled: %+v, %v", got, err)
	}
	if got, err := b.Cancel(t.Context(), b.Agent, gone.ID); err != nil || got.Status() != models.StatusCancelled {
		t.Errorf("cancelled twice: %+v, %v", got, err)
	}
	wantCode(t, second(b.Decide(t.Context(), b.Owner, gone.ID, storetest.Yes())), models.CodeAlreadyDecided)
}

func TestNobodyAbleToDecideIsRejectedAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		admin bool
		want  models.Status
		cause models.Cause
	}{
		{"an admin could", true, models.StatusPending, models.CauseNone},
		{"nobody could", false, models.StatusRejected, models.CauseNoReviewer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			if tt.admin {
				storetest.Admin(t, s)
			}
			owner := storetest.Reviewer(t, s, "owner@example.com")
			_, secret := storetest.AgentToken(t, s, owner, "bot")
			if _, err := s.People.DisableUser(t.Context(), storetest.Operator(), owner.UserID()); err != nil {
				t.Fatal(err)
			}
			agent, err := s.People.AuthenticateToken(t.Context(), secret)
			if err != nil {
				t.Fatalf("the agent of a disabled owner is shut out: %v", err)
			}
			a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true})
			if err != nil || a.Status() != tt.want || a.Cause != tt.cause {
				t.Errorf("asked: %+v, %v", a, err)
			}
		})
	}
}

func TestARoutedReviewerSeesAndDecidesThatRequestOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"pay","tools":["pay"],"effect":"require","reviewers":["STRANGER@example.com","nobody@example.com"]}]}`)
	plain, routed := b.AskFor(t, models.AskInput{ToolName: "Bash"}), b.AskFor(t, models.AskInput{ToolName: "pay"})
	page, err := b.Requests.Inbox(t.Context(), b.Stranger, requests.InboxQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != routed.ID {
		t.Fatalf("inbox of the routed reviewer: %+v, %v", page, err)
	}
	wantCode(t, second(b.Requests.Approval(t.Context(), b.Stranger, plain.ID)), models.CodeNotFound)
	if page, err := b.RequestPage(t.Context(), b.Stranger, routed.ID, true); err != nil || len(page.Turns) != 1 {
		t.Errorf("page of the routed request: %v, %v", page, err)
	}
	if _, err := b.Decide(t.Context(), b.Stranger, routed.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Requests.Approval(t.Context(), b.Stranger, routed.ID); err != nil || got.Status() != models.StatusApproved {
		t.Errorf("after the decision: %v, %v", got, err)
	}
	if list, err := b.Requests.Approvals(t.Context(), b.Stranger, requests.ListQuery{}); err != nil || len(list.Items) != 1 {
		t.Errorf("list of the routed reviewer: %v, %v", list, err)
	}
}

func TestI6WhatWasSeenIsWhatIsReleased(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"pay","tools":["pay"],"effect":"require","risk":"high"}]}`)
	a := b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"sum":1}`)})
	wantCode(t, second(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())), models.CodeDigestRequired)
	in := storetest.Yes()
	in.Digest = strings.Repeat("0", 64)
	if e := refusal(t, second(b.Decide(t.Context(), b.Owner, a.ID, in)), models.CodeDigestMismatch); e.Approval == nil {
		t.Error("the conflict lacks the fresh row")
	}
	in.Digest, in.Input = a.Digest, []byte(`{"sum": 2}`)
	if _, err := b.Decide(t.Context(), b.Owner, a.ID, in); err != nil {
		t.Fatal(err)
	}
	got, _ := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	canonical, _ := models.Canonical(models.KindToolCall, "pay", []byte(`{"sum":2}`))
	if got.ToolInputJSON != `{"sum":1}` || got.Digest != a.Digest || got.Vote.Input == nil || *got.Vote.Input != `{"sum": 2}` ||
		*got.Vote.InputDigest != models.Digest(canonical) || got.Vote.SeenDigest != a.Digest {
		t.Errorf("both versions with their digests: %+v, vote %+v", got, got.Vote)
	}
	risky := b.AskFor(t, models.AskInput{ToolName: "pay"})
	if _, err := b.Decide(t.Context(), b.Owner, risky.ID, storetest.No("no")); err != nil {
		t.Errorf("rejecting needs no digest: %v", err)
	}
}

func TestVerdictsFitTheKind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := func(s string) *string { return &s }
	answer := func(s string) models.DecisionInput { return models.DecisionInput{Answer: text(s)} }
	option := func(s string) models.DecisionInput { return models.DecisionInput{Option: text(s)} }
	question := models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Which?"}, Options: []models.Option{{Name: "eu"}, {Name: "us", Title: "US"}}}
	both := answer("eu please")
	both.Approved = storetest.Yes().Approved
	declined := storetest.No("none of them")
	contradiction := storetest.No("")
	contradiction.Answer = text("eu")
	edited := storetest.No("")
	edited.Input = []byte(`{}`)
	tests := []struct {
		name   string
		ask    models.AskInput
		in     models.DecisionInput
		code   models.Code
		status models.Status
	}{
		{"a question is answered", question, answer("eu"), "", models.StatusApproved},
		{"a question is answered and approved", question, both, "", models.StatusApproved},
		{"an option is chosen", question, option("us"), "", models.StatusApproved},
		{"a question is declined", question, declined, "", models.StatusRejected},
		{"an option that was not offered", question, option("mars"), models.CodeInvalid, ""},
		{"an empty answer", question, answer(""), models.CodeResponseRequired, ""},
		{"an answer of spaces", question, answer(" \n\t"), models.CodeResponseRequired, ""},
		{"a bare approve of a question", question, storetest.Yes(), models.CodeWrongDecisionKind, ""},
		{"nothing said to a question", question, models.DecisionInput{}, models.CodeWrongDecisionKind, ""},
		{"declined and answered", question, contradiction, models.CodeInvalid, ""},
		{"an answer to a tool call", models.AskInput{}, answer("yes"), models.CodeWrongDecisionKind, ""},
		{"an option to a tool call", models.AskInput{}, option("eu"), models.CodeWrongDecisionKind, ""},
		{"nothing said to a tool call", models.AskInput{}, models.DecisionInput{}, models.CodeInvalid, ""},
		{"an edit with a rejection", models.AskInput{}, edited, models.CodeInvalid, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := b.AskFor(t, tt.ask)
			got, err := b.Decide(t.Context(), b.Owner, a.ID, tt.in)
			if tt.code != "" {
				wantCode(t, err, tt.code)
				if now, _ := b.Requests.Approval(t.Context(), b.Owner, a.ID); now.Status() != models.StatusPending {
					t.Errorf("a refused verdict left the row %s", now.Status())
				}
				return
			}
			if err != nil || got.Status() != tt.status {
				t.Errorf("got %v, %v; want %s", got, err, tt.status)
			}
		})
	}
}
