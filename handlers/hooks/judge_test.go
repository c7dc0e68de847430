package hooks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/runs"
	"countersign/models/storetest"
)

func TestAnAgentHearsWhatWasDecided(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(w *world, id models.ResponseID)
		says   string
	}{
		"approved": {func(w *world, id models.ResponseID) { w.decide(id, models.DecisionInput{Approved: new(true)}) }, `"permissionDecision":"allow","permissionDecisionReason":"Approved by owner@example.com."}`},
		"edited": {func(w *world, id models.ResponseID) {
			w.decide(id, models.DecisionInput{Approved: new(true), Input: []byte(`{"command":"ls"}`)})
		}, `"updatedInput":{"command":"ls"}`},
		"rejected": {func(w *world, id models.ResponseID) {
			w.decide(id, models.DecisionInput{Approved: new(false), Reason: "No."})
		}, `"permissionDecision":"deny","permissionDecisionReason":"Rejected by owner@example.com: No.`},
		"edited to what is no object": {func(w *world, id models.ResponseID) {
			w.decide(id, models.DecisionInput{Approved: new(true), Input: []byte(`["ls"]`)})
		}, `"permissionDecision":"deny","permissionDecisionReason":"This call was approved with an input that is not a JSON object`},
		"cancelled": {func(w *world, id models.ResponseID) {
			if _, err := w.store.Cancel(w.tb.Context(), w.owner, id); err != nil {
				w.tb.Fatal(err)
			}
		}, `"permissionDecision":"deny","permissionDecisionReason":"The request was cancelled`},
		"expired": {func(w *world, _ models.ResponseID) {
			w.clock.Step(2 * time.Hour)
			if _, err := w.store.ExpireDue(w.tb.Context(), 10); err != nil {
				w.tb.Fatal(err)
			}
		}, `"permissionDecision":"deny","permissionDecisionReason":"Nobody decided in time`},
		"the agent is stopped": {func(w *world, _ models.ResponseID) {
			if _, _, err := w.store.Stop(w.tb.Context(), w.owner, w.agentAs.AgentID(), "Enough."); err != nil {
				w.tb.Fatal(err)
			}
		}, `"permissionDecision":"deny"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, query := range []string{"", "?wait=50s"} {
				if query != "" && name == "the agent is stopped" {
					continue // it stays stopped
				}
				got := w.begin(t.Context(), w.agent, query, event("PreToolUse", call("Bash", `{"command":"rm"}`, "1"+query)))
				c.decide(w, w.waiting(1)[0].ID)
				(<-got).want(t, 200, c.says)
			}
		})
	}
}

func TestThePolicyAnswersAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ event, answer string }{
		"a rule allows":                   {event("PreToolUse", call("Read", `{}`, "1")), `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Allowed by Countersign: The rule “reading” lets this tool through."}}`},
		"a rule denies":                   {event("PreToolUse", call("Drop", `{}`, "2")), `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Countersign rejected this call: Never."}}`},
		"no rule concerns it":             {event("PreToolUse", call("Glob", `{}`, "3")), `{}`},
		"a question at the desk":          {event("PreToolUse", call("AskUserQuestion", `{"questions":[]}`, "4")), `{}`},
		"its permission":                  {event("PermissionRequest", `,"tool_name":"AskUserQuestion","tool_input":{}`), `{}`},
		"a permission by a rule":          {event("PermissionRequest", `,"tool_name":"Read","tool_input":{}`), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`},
		"a permission that a rule denies": {event("PermissionRequest", `,"tool_name":"Drop","tool_input":{}`), `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Countersign rejected this call: Never."}}}`},
	} {
		if got := w.send(w.agent, "", c.event); got.status != 200 || got.body != c.answer {
			t.Errorf("%s: %d %s, want %s", name, got.status, got.body, c.answer)
		}
	}
	w.policy(`{"rules":[{"name":"questions","tools":["AskUserQuestion"],"effect":"allow"}]}`)
	w.send(w.agent, "", event("PreToolUse", call("AskUserQuestion", `{"questions":[]}`, "5"))).want(t, 200, `"permissionDecision":"ask"`)
}

// With the gate off the agent's own permission rules still apply: a hook is never laxer
// than none.
func TestTheGateBeingOffAllowsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"approval_enabled":false,"required_approval_tools":["Bash"],"rules":[{"name":"no drops","tools":["Drop"],"effect":"deny"}]}`)
	if got := w.send(w.agent, "", event("PreToolUse", call("Bash", `{}`, "1"))); got.body != `{}` {
		t.Errorf("%s, want an empty answer", got.body)
	}
	w.send(w.agent, "", event("PreToolUse", call("Drop", `{}`, "2"))).want(t, 200, `"deny"`)
}

// A caller that waits for a whole answer is denied whatever goes wrong: any other status
// would let the call through. One that comes back hears what is wrong.
func TestWhatGoesWrongDeniesI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.agent, "", event("PreToolUse", call("Read", `{}`, "1"))).want(t, 200, `"allow"`)
	read := call("Read", `{}`, "2")
	for name, c := range map[string]struct {
		token, query, event string
		status              int
		says                string
	}{
		"no token":             {"", "", event("PreToolUse", read), 401, "bearer token"},
		"nonsense":             {"nonsense", "", event("PreToolUse", read), 401, "bearer token"},
		"a reviewer":           {w.reviewer, "", event("PreToolUse", read), 403, "Only an agent's token"},
		"another input":        {w.agent, "", event("PreToolUse", call("Read", `{"a":1}`, "1")), 409, "nothing was changed"},
		"another agent's":      {w.another, "", event("PreToolUse", read), 409, "another agent"},
		"no session":           {w.agent, "", strings.Replace(event("PreToolUse", read), `"session_id":"s1",`, "", 1), 422, "session_id"},
		"no id":                {w.agent, "", event("PreToolUse", `,"tool_name":"Read"`), 422, "tool_use_id"},
		"no tool":              {w.agent, "", event("PreToolUse", `,"tool_use_id":"3"`), 422, "tool_name"},
		"a member twice":       {w.agent, "", event("PreToolUse", read+`,"cwd":"/"`), 422, "each member once"},
		"cut":                  {w.agent, "", event("PreToolUse", read)[:120], 422, "each member once"},
		"too large":            {w.agent, "", event("PreToolUse", call("Write", `{"a":"`+strings.Repeat("x", models.MaxBody)+`"}`, "4")), 413, "larger than"},
		"an unknown parameter": {w.agent, "&waits=1s", event("PreToolUse", read), 422, "parameter"},
		"an odd key":           {w.agent, "&approvalId=x", event("PermissionRequest", read), 422, "approvalId"},
		"a key too many":       {w.agent, "&approvalId=01a208a7-f9bc-78cd-a867-3c2de4b0cddd", event("PreToolUse", read), 422, "approvalId"},
	} {
		polls := w.send(c.token, "?wait=1s"+c.query, c.event)
		polls.want(t, c.status, c.says)
		waits := w.send(c.token, "?timeout=60"+c.query, c.event)
		if waits.want(t, 200, c.says); !strings.Contains(waits.body, `"deny"`) || !strings.Contains(waits.body, "this call must not run") {
			t.Errorf("%s: %s", name, waits.body)
		}
	}
	w.send(w.agent, "?timeout=19", event("PreToolUse", read)).want(t, 200, "timeout: must be the hook's timeout")
	w.send(w.agent, "?wait=-1s", event("PreToolUse", read)).want(t, 422, "wait")
	w.send(w.agent, "?wait=1s", event("PermissionRequest", `,"tool_name":"Bash","tool_input":{}`)).want(t, 422, "approvalId")
	w.send(w.agent, "", event("Vanish", read)).want(t, 422, "hook_event_name")
	w.send("", "", event("Stop", "")).want(t, 401, "bearer token")
	if pending := w.pending(); len(pending) != 0 {
		t.Errorf("%d requests wait", len(pending))
	}
}

// An agent decides nothing by any moment, whatever it adds to the event.
func TestHooksDecideNothingI4(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.send(w.agent, "?wait=0s", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")))
	got.want(t, 202, `"reviewers":["owner@example.com","admins"],"waitingFor":"a decision by owner@example.com or an admin"`)
	asked := w.pending()[0]
	before := storetest.LedgerAt(t, w.store)
	verdict := fmt.Sprintf(`,"approved":true,"decision":{"behavior":"allow"},"permissionDecision":"allow","approvalId":%q,"digest":%q,"status":"approved"`, asked.ID, asked.Digest)
	for _, token := range []string{w.agent, w.another, w.reviewer, "", "nonsense"} {
		for _, moment := range []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd", "Approve"} {
			w.send(token, "?wait=0s", event(moment, call("Bash", `{"command":"rm"}`, "1")+verdict))
			w.send(token, "?timeout=20&wait=0s", event(moment, call("Bash", `{"command":"rm"}`, "1")+verdict))
		}
	}
	if row := w.row(asked.ID); row.Status() != models.StatusPending {
		t.Errorf("the request is %s", row.Status())
	}
	for _, action := range storetest.ActionsSince(t, w.store, before) {
		switch action, _, _ := strings.Cut(action, " "); action {
		case "run.reported", "conversation.status", "conversation.opened", "conversation.described":
		default:
			t.Errorf("an agent caused %s", action)
		}
	}
}

// The same call, however often it is sent and over whatever way, is one request.
func TestARepeatIsTheSameRequestI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := event("PreToolUse", call("Bash", `{"command":"rm"}`, "1"))
	permission := event("PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"rm"}`)
	const key = "&approvalId=01a208a7-f9bc-78cd-a867-3c2de4b0cddd"
	for range 3 {
		w.send(w.agent, "?wait=1ms", before).want(t, 202, `"kind":"tool_call"`)
		w.send(w.agent, "?wait=1ms"+key, permission).want(t, 202, `"url":"https://sign.example.com/approvals/01a208a7-f9bc-78cd-a867-3c2de4b0cddd"`)
	}
	if pending := w.pending(); len(pending) != 2 {
		t.Errorf("%d requests wait, want 2", len(pending))
	}
	got := w.begin(t.Context(), w.agent, "?wait=50s"+key, permission)
	w.waiting(1)
	w.decide("01a208a7-f9bc-78cd-a867-3c2de4b0cddd", models.DecisionInput{Approved: new(true)})
	(<-got).want(t, 200, `"behavior":"allow"`)
	w.send(w.agent, "?wait=1ms"+key, permission).want(t, 200, `"behavior":"allow"`)
}

// An approval is for one call. A host whose model repeats an id asks again once the result of
// the first was reported, with the same input as with another.
func TestACallThatRanIsAskedAgainI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pre := func(input string) string { return event("PreToolUse", call("Bash", input, "call_1")) }
	const rm, ls = `{"command":"rm"}`, `{"command":"ls"}`
	for i, input := range []string{rm, rm, ls} {
		got := w.begin(t.Context(), w.agent, "?wait=50s", pre(input))
		w.decide(w.waiting(1)[0].ID, models.DecisionInput{Approved: new(true)})
		(<-got).want(t, 200, `"permissionDecision":"allow"`)
		w.send(w.agent, "?wait=1ms", pre(input)).want(t, 200, `"permissionDecision":"allow"`) // its answer was lost
		if other := `{"command":"mv"}`; i == 0 {
			w.send(w.agent, "", pre(other)).want(t, 200, `"permissionDecision":"deny"`)
		}
		w.send(w.agent, "", event("PostToolUse", call("Bash", input, "call_1")+`,"tool_response":"result `+string(rune('a'+i))+`"`)).want(t, 200, `{}`)
	}
	if n := storetest.Scalar[int](t, w.store, `SELECT count(DISTINCT tool_result) FROM responses WHERE tool_use_id = 'call_1' AND is_completed AND contradiction = ''`); n != 3 {
		t.Errorf("%d calls with a result of their own, want 3", n)
	}
	if a := w.invocation("call_1"); a.ToolInputJSON != ls {
		t.Errorf("the id names %s, want the last call", a.ToolInputJSON)
	}
}

// A server that stops denies who waits for a whole answer, and keeps their request (I8).
// One that comes back is told to.
func TestAStoppingServerDenies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waits := w.begin(t.Context(), w.agent, "", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")))
	polls := w.begin(t.Context(), w.agent, "?wait=50s", event("PreToolUse", call("Bash", `{"command":"rm"}`, "2")))
	w.waiting(2)
	w.store.EndWaits()
	(<-waits).want(t, 200, `"permissionDecision":"deny","permissionDecisionReason":"Countersign is stopping`)
	told := <-polls
	if told.want(t, 202, `"pending"`); told.retry != "1" {
		t.Errorf("it is told to come back after %q s, want 1", told.retry)
	}
	if pending := w.pending(); len(pending) != 2 {
		t.Errorf("%d requests wait, want both", len(pending))
	}
}

// An agent that goes away leaves its request, shown with nobody waiting.
func TestALostConnectionWithdrawsNothingI8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	got := w.begin(ctx, w.agent, "", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")))
	asked := w.waiting(1)[0]
	leave()
	<-got
	w.eventually("nobody waits", func() bool { return w.store.Waiters() == 0 })
	w.clock.Step(nextWait)
	if row := w.row(asked.ID); row.Status() != models.StatusPending || storetest.PresenceOf(t, w.store, asked.ID).Waiting {
		t.Errorf("the request is %s, waiting %v", row.Status(), storetest.PresenceOf(t, w.store, asked.ID).Waiting)
	}
}

// Ten seconds before the agent gives the hook up it is denied, and the request ends.
func TestAHookIsDeniedBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	w := newWorld(t)
	got := w.begin(t.Context(), w.agent, "?timeout=20", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")))
	asked := w.waiting(1)[0]
	(<-got).want(t, 200, `"permissionDecision":"deny","permissionDecisionReason":"Nobody decided before this hook`)
	if row := w.row(asked.ID); row.Status() != models.StatusCancelled {
		t.Errorf("the request is %s, want cancelled", row.Status())
	}
}

// Where the energy is spent, the agent waits for the request for more, and then for its own.
func TestASpentBudgetIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	budget := func() models.ResponseID {
		for _, a := range w.pending() {
			if a.Kind == models.KindBudget {
				return a.ID
			}
		}
		t.Fatal("nobody is asked for more")
		return ""
	}
	w.policy(`{"required_approval_tools":["Bash"],"rules":[{"name":"dear","tools":["Bash"],"effect":"require","energy":5}]}`)
	for i, c := range []struct {
		grant bool
		says  string
	}{{true, `"allow"`}, {false, "more was not granted. Rejected by owner@example.com"}} {
		session := fmt.Sprintf("budget %d", i)
		if _, _, err := runs.New(w.store).OpenRun(t.Context(), w.agentAs, models.RunInput{RunID: session, EnergyBudget: new(int64(3))}); err != nil {
			t.Fatal(err)
		}
		e := strings.Replace(event("PreToolUse", call("Bash", `{"command":"rm"}`, session)), `"s1"`, `"`+session+`"`, 1)
		w.send(w.agent, "?wait=1ms", e).want(t, 202, `"kind":"budget"`)
		got := w.begin(t.Context(), w.agent, "", e)
		w.waiting(1)
		w.decide(budget(), models.DecisionInput{Approved: &c.grant})
		if c.grant {
			w.eventually("the call is asked about", func() bool { return len(w.pending()) == 1 && w.pending()[0].Kind == models.KindToolCall })
			w.decide(w.pending()[0].ID, models.DecisionInput{Approved: new(true)})
		}
		(<-got).want(t, 200, c.says)
	}
}
