package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

const touch = `{"tool_name":"Bash","input":{"command":"touch one.txt","n":9007199254740993},"tool_use_id":"toolu_1"}`

func TestPermissionPrompt(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, tt := range map[string]struct {
		decide models.DecisionInput
		want   string
	}{
		"approved, exactly as sent": {models.DecisionInput{Approved: &yes}, `{"behavior":"allow","updatedInput":{"command":"touch one.txt","n":9007199254740993}}`},
		"edited":                    {models.DecisionInput{Approved: &yes, Input: []byte(`{"command":"touch <two>.txt"}`)}, `{"behavior":"allow","updatedInput":{"command":"touch <two>.txt"}}`},
		"rejected":                  {models.DecisionInput{Approved: &no, Reason: "not on Fridays"}, `{"behavior":"deny","message":"not on Fridays\n\n(`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, c := range []*client{w.begin(w.agent), w.modern(w.second, "approve")} {
				s := c.call(3, "approve", touch)
				w.decide(w.pending(1)[0].ID, tt.decide)
				r := s.answer()
				if got := r.text(); !strings.HasPrefix(got, tt.want) || r.ID != 3 {
					t.Errorf("protocol %s: answer %d is %s, want %s", c.protocol, r.ID, got, tt.want)
				}
			}
		})
	}
}

// TestPermissionIsDeniedI11: whatever goes wrong, the tool does not run.
func TestPermissionIsDeniedI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"never","tools":["Danger"],"effect":"deny","reason":"forbidden here"},{"name":"fine","tools":["Look"],"effect":"allow"}]}`)
	c := w.begin(w.agent)
	s := c.call(1, "approve", touch)
	row := w.pending(1)[0]
	w.clock.Step(row.ApprovalTimeoutAt.Sub(w.clock.Now()))
	if _, err := w.store.Cleanup(t.Context(), w.admin); err != nil {
		t.Fatal(err)
	}
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"Nobody decided in time`) {
		t.Errorf("after the deadline: %s", got)
	}
	for arguments, want := range map[string]string{
		`{"tool_name":"Danger","input":{},"tool_use_id":"a"}`:                        `{"behavior":"deny","message":"forbidden here`,
		`{"tool_name":"Look","input":{"a":1},"tool_use_id":"b"}`:                     `{"behavior":"allow","updatedInput":{"a":1}}`,
		`{"tool_name":"Bash","input":"rm","tool_use_id":"c"}`:                        `{"behavior":"deny","message":"The request is not valid. (input: must be an object`,
		`{"tool_name":"","input":{},"tool_use_id":"d"}`:                              `{"behavior":"deny","message":"The request is not valid. (toolName: must name a tool`,
		`{"tool_name":"Bash","input":[1],"tool_use_id":"e"}`:                         `{"behavior":"deny","message":"The request is not valid. (input: must be an object`,
		`{"tool_name":"Look","input":null,"tool_use_id":"i"}`:                        `{"behavior":"allow","updatedInput":{}}`,
		`{"tool_name":"Look","tool_use_id":"j"}`:                                     `{"behavior":"allow","updatedInput":{}}`,
		`{"tool_name":7,"input":{},"tool_use_id":"f"}`:                               `{"behavior":"deny","message":"The request is not valid. (tool_name: is of the wrong type`,
		`{"tool_name":"Bash","input":{"command":"other"},"tool_use_id":"toolu_1"}`:   `{"behavior":"deny","message":"A request with this key exists with a different`,
		`{"tool_name":"AskUserQuestion","input":{"questions":[]},"tool_use_id":"g"}`: `{"behavior":"deny","message":"The request is not valid. (input.questions: must be from 1 to 8`,
	} {
		if got := c.call(2, "approve", arguments).answer().text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want\n%s", arguments, got, want)
		}
	}
	// What we and the SDK could read differently is refused before either does.
	twice := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"approve","arguments":{"tool_name":"Bash","input":{"command":"ls","command":"rm"},"tool_use_id":"h"}}}`
	c.post(twice).want(http.StatusBadRequest)
	w.pending(0)
}

// TestARejectionWithoutWordsHasNone: the policy's reason to ask is not what the person said.
func TestARejectionWithoutWordsHasNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"money","tools":["Bash"],"effect":"require","reason":"Money leaves the account."}]}`)
	no := false
	s := w.begin(w.agent).call(1, "approve", touch)
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &no})
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"Rejected by `) || !strings.Contains(got, ", without a reason.") || strings.Contains(got, "Money") {
		t.Errorf("told %s", got)
	}
}

// TestARepeatMeetsItsRowI9 sends the same call again, in another session and protocol.
func TestARepeatMeetsItsRowI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.begin(w.agent).call(1, "approve", touch), w.modern(w.agent, "approve").call(8, "approve", touch)
	w.until("both wait", func() bool { return w.store.Waiters() == 2 })
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	const want = `{"behavior":"allow","updatedInput":{"command":"touch one.txt","n":9007199254740993}}`
	allowed := 0
	for _, s := range []*stream{first, second} {
		if got := s.answer().text(); got == want {
			allowed++
		} else if !strings.HasPrefix(got, `{"behavior":"deny","message":"The answer to this request was given to another call`) {
			t.Error(got)
		}
	}
	if allowed != 1 {
		t.Errorf("%d calls may run by one approval", allowed)
	}
	if got := w.begin(w.foreign).call(1, "approve", touch); got.status != http.StatusOK {
		t.Error(got.status)
	}
	if a := w.pending(0); len(a) != 0 {
		t.Error("another owner's agent met a row that is not its own")
	}
}

// TestAnAnswerIsGivenOnceI9: ids of calls come again, in other sessions and in the same one.
// An approval that one call took is not the next one's.
func TestAnAnswerIsGivenOnceI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["Bash"],"rules":[{"name":"fine","tools":["Look"],"effect":"allow"}]}`)
	yes, no := true, false
	same := w.begin(w.agent)
	for i, c := range []*client{same, w.begin(w.agent), same, w.modern(w.agent, "approve")} {
		s := c.call(10+i, "approve", touch)
		w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
		if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"allow"`) {
			t.Errorf("call %d: %s", i, got)
		}
		if c.session != "" { // sent again, as where the answer was lost
			if got := c.call(10+i, "approve", touch).answer().text(); !strings.HasPrefix(got, `{"behavior":"allow"`) {
				t.Errorf("call %d, sent again: %s", i, got)
			}
		}
	}
	// What was approved in another way is not approved here.
	asked, err := w.store.Ask(t.Context(), w.agentAs, models.AskInput{ToolUseID: "elsewhere", ToolName: "Bash", Input: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	w.decide(asked.ID, models.DecisionInput{Approved: &yes})
	s := same.call(20, "approve", `{"tool_name":"Bash","input":{},"tool_use_id":"elsewhere"}`)
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &no})
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny"`) {
		t.Error(got)
	}
}

// TestParallelCalls has many calls of one session wait, and tells each its own outcome; also
// where so many wait that what is deep runs aside.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	for _, aside := range []bool{false, true} {
		t.Run(fmt.Sprintf("aside %t", aside), func(t *testing.T) {
			t.Parallel()
			testParallelCalls(t, newWorld(t, func(w *world) { w.aside = aside }))
		})
	}
}

func testParallelCalls(t *testing.T, w *world) {
	t.Helper()
	c := w.begin(w.agent)
	const calls = 20
	var streams [calls]*stream
	for i := range streams {
		streams[i] = c.call(i, "approve", fmt.Sprintf(`{"tool_name":"Read","input":{"n":%d},"tool_use_id":"t%d"}`, i, i))
	}
	for _, a := range w.pending(calls) {
		var n int
		if _, err := fmt.Sscanf(a.ToolInputJSON, `{"n":%d}`, &n); err != nil {
			t.Fatal(err)
		}
		approved := n%2 == 0
		w.decide(a.ID, models.DecisionInput{Approved: &approved, Reason: "odd"})
	}
	for i, s := range streams {
		want := fmt.Sprintf(`{"behavior":"allow","updatedInput":{"n":%d}}`, i)
		if i%2 == 1 {
			want = `{"behavior":"deny","message":"odd`
		}
		if r := s.answer(); r.ID != i || !strings.HasPrefix(r.text(), want) {
			t.Errorf("call %d: answer %d is %s", i, r.ID, r.text())
		}
	}
}

// TestQuestionsOfACodingAgent are answered on the page, and handed over as its tool takes them.
func TestQuestionsOfACodingAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	const questions = `[{"question":"Which region?","header":"Region","options":[{"label":"eu","description":"Frankfurt"},{"label":"us","description":"Ohio"}],"multiSelect":false},` +
		`{"question":"What else?","header":"Else","options":[{"label":"logs"},{"label":"traces"}],"multiSelect":true}]`
	s := c.call(1, "approve", `{"tool_name":"AskUserQuestion","input":{"questions":`+questions+`},"tool_use_id":"q1"}`)
	for _, a := range w.pending(2) {
		if a.Kind != models.KindQuestion {
			t.Errorf("%s is a %s", a.Description, a.Kind)
		}
		in := models.DecisionInput{Answer: new("logs, traces")}
		if a.Description == "Which region?" {
			in = models.DecisionInput{Option: new("eu")}
		}
		w.decide(a.ID, in)
	}
	want := `{"behavior":"allow","updatedInput":{"questions":` + questions + `,"answers":{"What else?":"logs, traces","Which region?":"eu"}}}`
	if got := s.answer().text(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The first that is declined ends the call; nobody is asked the rest in vain.
	s = c.call(2, "approve", `{"tool_name":"AskUserQuestion","input":{"questions":`+questions+`},"tool_use_id":"q2"}`)
	no := false
	for _, a := range w.pending(2) {
		if a.Description == "Which region?" {
			w.decide(a.ID, models.DecisionInput{Approved: &no, Reason: "ask Ann"})
		}
	}
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"ask Ann`) {
		t.Error(got)
	}
	w.pending(0)
}

// TestABatch answers several calls of one POST, as the protocol of March 2025 has them.
func TestABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	c.protocol = "2025-03-26"
	s := c.post("[" + callOf(1, "approve", touch, "{}", c.protocol) + "," + callOf(2, "reply", `{"content":"hello"}`, "{}", c.protocol) + "]")
	many := strings.Repeat(`{"jsonrpc":"2.0","id":3,"method":"ping"},`, 60)
	c.post("[" + many[:len(many)-1] + "]").want(http.StatusRequestEntityTooLarge)
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	for range 2 {
		switch r := s.answer(); {
		case r.ID == 1 && r.text() == allowed, r.ID == 2 && r.member("status") == "approved":
		default:
			t.Errorf("answer %d: %s", r.ID, r.text())
		}
	}
}

// TestAClaimOfAFallbackReleasesNothingI4: that an agent says it went on without an answer is no
// permission, though the policy lets it say so.
func TestAClaimOfAFallbackReleasesNothingI4(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"fallback_auto_approve":true}`)
	claimed, err := w.store.Ask(t.Context(), w.agentAs, models.AskInput{
		ToolName: "Bash", Input: []byte(`{"command":"touch one.txt","n":9007199254740993}`), ToolUseID: "toolu_1", Explicit: true, FallbackAt: w.clock.Now().Format(time.RFC3339),
	})
	if err != nil || claimed.Cause != models.CauseFallback {
		t.Fatalf("%+v, %v", claimed, err)
	}
	c := w.begin(w.agent)
	if got := c.call(1, "approve", touch).answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"This ran while no server could be reached`) {
		t.Error(got)
	}
	if r := c.call(2, "check_approval", `{"tool_use_id":"toolu_1"}`).answer(); r.member("approved") != false || r.member("status") != "ran" || r.member("input") != nil {
		t.Error(r.text())
	}
}

// TestQuestionsSentAgainI9: the pipe names a call that has no id, and all of its questions are
// the same when it sends it again.
func TestQuestionsSentAgainI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	call := func() *stream {
		return c.post(callOf(1, "approve", `{"tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"eu"},{"label":"us"}]},{"question":"Why?"}]}}`,
			`{"countersign/key":"01890a5d-ac96-774b-bcce-b302099a8057"}`, c.protocol))
	}
	call().close()
	w.pending(2)
	s := call()
	for _, a := range w.pending(2) {
		in := models.DecisionInput{Answer: new("only Frankfurt")}
		if a.Description == "Which?" {
			in.Option = new("eu") // a person says both
		}
		w.decide(a.ID, in)
	}
	if got := s.answer().text(); !strings.Contains(got, `"answers":{"Which?":"eu, only Frankfurt","Why?":"only Frankfurt"}`) {
		t.Error(got)
	}
}
