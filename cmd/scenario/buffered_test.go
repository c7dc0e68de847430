package scenario_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
	"countersign/workers/upstream/upstreamtest"
)

// TestABufferedRunIsCorrelatedAndARejectionReachesItsBatch: another system asks
// before the agent's output gets here, as it does where something buffers it. The
// process reads the output late, the call joins its approval, and the rejection of
// the sixth of ten calls reaches those queued after it.
func TestABufferedRunIsCorrelatedAndARejectionReachesItsBatch(t *testing.T) {
	t.Parallel()
	w := &process.World{Server: process.Serve(t, storetest.Dir(t), "", func(c *config.Config) { c.Upstreams.PollEvery = 20 * time.Millisecond })}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Agent = storetest.AgentToken(t, w.Store(), w.Admin, "coder")
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	far := upstreamtest.New(t, upstreamtest.Options{Key: process.UpstreamKey})
	process.Must(t, process.UpstreamKey, "upstream", "add", "gate", "--url", far.URL, "--owner", storetest.AdminEmail, "--data", w.Dir)
	far.Ask(upstreamtest.Call{CallID: "c6", RunID: "buffered", Fn: "Bash", Kwargs: `{ "n": 6 }`})
	asked := w.OnlyPending(t) // in no run: no call is known yet
	if asked.ToolUseID != nil {
		t.Fatalf("%+v", asked.Response)
	}

	p := process.Start(t, []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent}, "ingest", "--run-id", "buffered")
	say := func(lines ...string) {
		t.Helper()
		if _, err := io.WriteString(p.In, strings.Join(lines, "\n")+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	queued := []string{`{"type":"system","subtype":"init","session_id":"s","model":"m","uuid":"l0"}`}
	for n, tool := range []string{"Read", "Bash", "Bash", "Read", "Read", "Bash", "Write", "Read", "Bash", "Read"} {
		queued = append(queued, fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_%d","name":%q,"input":{"n":%d}}]},"session_id":"s","uuid":"c%d"}`, n+1, tool, n+1, n+1))
	}
	say(queued...)
	calls := func() map[string]*models.Approval {
		t.Helper()
		out := map[string]*models.Approval{}
		runs, err := w.Store().Requests.Conversations(t.Context(), w.Admin, requests.ConversationQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs.Items {
			if run.RunID == nil || *run.RunID != "buffered" {
				continue
			}
			if run.OnReject != models.OnRejectCascade {
				t.Errorf("an ingested run does %s after a rejection", run.OnReject)
			}
			h, err := w.Store().Requests.History(t.Context(), w.Admin, run.ID, requests.HistoryQuery{Limit: models.MaxPage})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range h.Entries {
				if e.Response != nil && e.Response.ToolUseID != nil {
					out[*e.Response.ToolUseID] = e.Response
				}
			}
		}
		return out
	}
	process.Eventually(t, "ten calls in the run", func() bool { return len(calls()) == 10 })
	if six := calls()["toolu_6"]; six.ID != asked.ID || six.Digest != asked.Digest || six.Status() != models.StatusPending || six.AgentName != "coder" {
		t.Fatalf("the sixth call is %+v", six)
	}
	if one := w.OnlyPending(t); one.ID != asked.ID {
		t.Errorf("%+v", one)
	}
	w.Respond(t, asked.ID, wire.RespondRequest{Approved: new(false), Reason: "not on a Friday"})
	process.Eventually(t, "the rest of the batch is rejected", func() bool { return calls()["toolu_10"].Status() == models.StatusRejected })

	for n := 6; n <= 10; n++ {
		say(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"The user rejected this call.","is_error":true}]},"session_id":"s","uuid":"r%d"}`, n, n))
	}
	say(`{"type":"result","subtype":"success","is_error":false,"result":"stopped","session_id":"s","uuid":"end"}`)
	_ = p.In.Close()
	if code := p.Exit(t); code != 0 {
		t.Fatalf("exit %d: %s", code, p.Err)
	}
	for n := 6; n <= 10; n++ {
		want := models.CauseCascade
		if n == 6 {
			want = models.CauseReviewer
		}
		a := calls()[fmt.Sprintf("toolu_%d", n)]
		if a.Status() != models.StatusRejected || a.Cause != want || a.Feedback() != "not on a Friday" || !a.IsCompleted {
			t.Errorf("call %d is %s %s, %q, completed %t", n, a.Status(), a.Cause, a.Feedback(), a.IsCompleted)
		}
		if r, err := w.Store().Requests.CallResult(t.Context(), w.Admin, a.ID); err != nil || r.Result != "The user rejected this call." {
			t.Errorf("call %d has the result %+v, %v", n, r, err)
		}
	}
	process.Must(t, "", "audit", "verify", "--rows", "--data", w.Dir)
}

// TestIngestKeepsWhatWasChosen: --on-reject is the agent's choice, and the default
// of an ingest that only hands over the rest does not undo it.
func TestIngestKeepsWhatWasChosen(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	env := []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent}
	for _, args := range [][]string{{"--on-reject", "continue"}, nil} {
		if _, stderr, code := process.RunWith(t, env, "", append([]string{"ingest", "--run-id", "r"}, args...)...); code != 0 {
			t.Fatalf("%v: exit %d, %s", args, code, stderr)
		}
		runs, err := w.Store().Requests.Conversations(t.Context(), w.Admin, requests.ConversationQuery{})
		if err != nil || len(runs.Items) != 1 || runs.Items[0].OnReject != models.OnRejectContinue {
			t.Errorf("%v: %+v, %v", args, runs.Items, err)
		}
	}
	if _, stderr, code := process.RunWith(t, env, "", "ingest", "--run-id", "r", "--on-reject", "stop"); code == 0 || !strings.Contains(stderr, "--on-reject") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
