package humanlayer_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// idOf is the request's own id, from its address.
func idOf(a answer) models.ResponseID {
	return models.ResponseID(a.text("url")[strings.LastIndex(a.text("url"), "/")+1:])
}

// A denial always has a comment, which tells its cause apart from others: SDKs print it, and
// one fails without.
func TestEveryDenialSaysWhyI10(t *testing.T) {
	t.Parallel()
	rejects := func(body string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			t.Helper()
			w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", body).want(t, 200, nil)
		}
	}
	for name, tt := range map[string]struct {
		policy string
		end    func(t *testing.T, w *world)
		cause  string
		says   string
	}{
		"with a reason":    {end: rejects(`{"approved":false,"comment":"too risky"}`), cause: "reviewer", says: "too risky"},
		"without a reason": {end: rejects(`{"approved":false}`), cause: "reviewer", says: "A person rejected this and gave no reason."},
		"a blank reason":   {end: rejects(`{"approved":false,"comment":"  "}`), cause: "reviewer", says: "A person rejected this and gave no reason."},
		"a null reason":    {end: rejects(`{"approved":false,"comment":null}`), cause: "reviewer", says: "A person rejected this and gave no reason."},
		"policy":           {policy: `{"rules":[{"name":"no mail","tools":["send_email"],"effect":"deny","reason":"Mail goes by hand."}]}`, cause: "policy", says: "The policy denies this. Mail goes by hand."},
		"timeout":          {policy: `{"default_timeout_minutes":5}`, end: func(_ *testing.T, w *world) { w.clock.Step(time.Hour) }, cause: "timeout", says: "Nobody decided in time. Approval request timed out (5 minutes)"},
		"cancelled": {end: func(t *testing.T, w *world) {
			t.Helper()
			_, err := w.store.Cancel(t.Context(), w.agentAs, idOf(w.call(w.agent, "GET", "/function_calls/c1", "")))
			storetest.Must(t, err)
		}, cause: "cancelled", says: "This request was cancelled."},
		"stopped": {end: func(t *testing.T, w *world) {
			t.Helper()
			_, _, err := w.store.Stop(t.Context(), w.owner, w.agentAs.AgentID(), "Enough.")
			storetest.Must(t, err)
		}, cause: "stopped", says: "The run, or the agent, was stopped."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.policy != "" {
				w.policy(tt.policy)
			}
			w.ask("c1")
			if tt.end != nil {
				tt.end(t, w)
			}
			got := w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": false, "status.cause": tt.cause})
			if comment := got.text("status.comment"); !strings.HasPrefix(comment, tt.says) {
				t.Errorf("the comment is %q, want %q", comment, tt.says)
			}
			if got.at("status.responded_at") == nil {
				t.Error("no time")
			}
		})
	}
}

// What needs no person comes back approved from the create, and says why.
func TestWhatNeedsNobodyIsApprovedAtOnce(t *testing.T) {
	t.Parallel()
	for cause, policy := range map[string]string{
		"policy":   `{"rules":[{"name":"mail","tools":["send_email"],"effect":"allow"}]}`,
		"gate_off": `{"approval_enabled":false}`,
	} {
		w := newWorld(t)
		w.policy(policy)
		w.ask("c1").want(t, 200, map[string]any{"status.approved": true, "status.cause": cause, "status.user_info": nil})
		w.contact("q1").want(t, 200, map[string]any{"status.response": nil}) // a person is asked all the same
	}
	w := newWorld(t)
	first := w.ask("c1")
	_, err := w.store.MakeGrant(t.Context(), w.owner, idOf(first), models.GrantInput{Fixed: []string{"to", "subject"}, Hours: 2, Uses: 2, Digest: first.text("digest")})
	storetest.Must(t, err)
	w.ask("c2").want(t, 200, map[string]any{"status.approved": true, "status.cause": "grant"})
}

// An SDK runs what it sent. So no approval of another input reaches it as one.
func TestNoEditReachesTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask("c1")
	_, err := w.store.Decide(t.Context(), w.owner, idOf(made), models.DecisionInput{Approved: new(true), Input: []byte(`{"to":"b@example.test","subject":"hi"}`), Digest: made.text("digest"), Page: models.NoPage})
	if e := storetest.Refused(t, err, models.CodeTakesNoEdits); e.Fields["input"] == "" {
		t.Errorf("the refusal names no field: %v", e)
	}
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": nil})
	// The same input is no edit.
	_, err = w.store.Decide(t.Context(), w.owner, idOf(made), models.DecisionInput{Approved: new(true), Input: []byte(`{"subject":"hi","to":"a@example.test"}`), Digest: made.text("digest"), Page: models.NoPage})
	storetest.Must(t, err)

	// A request that came another way may be edited. Its client still runs what it sent.
	asked, err := w.store.Ask(t.Context(), w.agentAs, models.AskInput{RunID: "run-1", ToolUseID: "c2", ToolName: "send_email", Input: []byte(`{"to":"a@example.test","subject":"hi"}`), Explicit: true, AcceptsEdits: true})
	storetest.Must(t, err)
	if joined := w.ask("c2"); idOf(joined) != asked.ID {
		t.Fatal("two rows for one call")
	}
	_, err = w.store.Decide(t.Context(), w.owner, asked.ID, models.DecisionInput{Approved: new(true), Input: []byte(`{"to":"b@example.test"}`), Digest: asked.Digest, Page: models.NoPage})
	storetest.Must(t, err)
	got := w.call(w.agent, "GET", "/function_calls/c2", "").want(t, 200, map[string]any{"status.approved": false})
	if comment := got.text("status.comment"); !strings.Contains(comment, "do not run") || !strings.Contains(comment, `{"to":"b@example.test"}`) {
		t.Errorf("the comment is %q", comment)
	}
}

func TestARowKeepsWhatItsClientSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("c1")
	for _, change := range []string{`protocol = ''`, `client_data = '{"state":{}}'`} {
		if _, err := storetest.Beside(t, w.store).Exec(`UPDATE responses SET ` + change); err == nil {
			t.Errorf("%s was let through", change)
		}
	}
	w.call(w.agent, "POST", "/agent/function_calls/c1/escalate_email", `{"escalation_msg":"please look"}`).want(t, 200, nil)
	storetest.CheckRows(t, w.store)
}

// TestARemovedAnswerIsNobodysAnswer: what a purge puts in the place of an answer is not told
// as a person's, and an approval of what is gone lets nothing run.
func TestARemovedAnswerIsNobodysAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.contact("q1")
	w.call(w.reviewer, "POST", "/agent/human_contacts/q1/respond", `{"response":"Frankfurt"}`).want(t, 200, nil)
	w.contact("q2")
	w.call(w.reviewer, "POST", "/agent/human_contacts/q2/respond", `{"response":" ","response_option_name":""}`).want(t, 422, map[string]any{"error.code": "response_required"})
	w.call(w.agent, "POST", "/function_calls", `{"call_id":"no","spec":{"fn":"f","reject_options":[{"name":"later"}]}}`).want(t, 200, nil)
	w.call(w.reviewer, "POST", "/agent/function_calls/no/respond", `{"approved":false,"comment":"not to Frankfurt","reject_option_name":"later"}`).want(t, 200, map[string]any{"status.reject_option_name": "later"})
	w.ask("yes")
	w.call(w.reviewer, "POST", "/agent/function_calls/yes/respond", `{"approved":true}`).want(t, 200, nil)
	edited, err := w.store.Ask(t.Context(), w.agentAs, models.AskInput{ToolUseID: "edited", ToolName: "f", Input: []byte(`{"a":1}`), Explicit: true, AcceptsEdits: true})
	storetest.Must(t, err)
	_, err = w.store.Decide(t.Context(), w.owner, edited.ID, models.DecisionInput{Approved: new(true), Input: []byte(`{"a":2}`), Page: models.NoPage})
	storetest.Must(t, err)
	w.call(w.agent, "GET", "/function_calls/edited", "").want(t, 200, map[string]any{"status.approved": false})
	w.clock.Step(time.Hour)
	p, err := upkeep.New(w.store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.clock.Now()})
	storetest.Must(t, err)
	_, err = p.All(t.Context())
	storetest.Must(t, err)
	const mark = "removed on 2026-03-02, by tester"
	w.call(w.agent, "GET", "/contact_requests/q1", "").want(t, 200, map[string]any{
		"status.answered": false, "status.response": "No answer: " + models.AdviceRemoved + ".", "removed": mark,
	})
	w.call(w.agent, "GET", "/function_calls/no", "").want(t, 200, map[string]any{"status.approved": false, "status.comment": "A person rejected this, in words that were removed.", "status.reject_option_name": nil})
	for _, call := range []string{"yes", "edited"} {
		w.call(w.agent, "GET", "/function_calls/"+call, "").want(t, 200, map[string]any{
			"status.approved": false, "status.comment": "Do not run this: " + models.AdviceRemoved + ".", "removed": mark, "spec.kwargs.removed": nil,
		})
	}
	storetest.CheckRows(t, w.store)
}
