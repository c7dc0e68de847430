package scenario_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/upstream/upstreamtest"
)

// batchRun is an agent that queued ten calls at once, and another system that
// knows of the one that runs its tool and arguments only.
type batchRun struct {
	*process.World

	there *upstreamtest.Server
	conv  models.ConversationID
	calls [11]models.ResponseID // by number, from 1
}

// batchTools are the tools of the ten calls: bash and write need approval.
var batchTools = [11]string{"", "read", "bash", "bash", "read", "grep", "bash", "write", "read", "bash", "grep"}

func batchUse(n int) string { return fmt.Sprintf("toolu_%02d", n) }

// batchInput is the same for two of the bash calls: only the order tells them
// apart.
func batchInput(n int) string {
	if n == 9 {
		n = 3
	}
	return fmt.Sprintf(`{"n":%d}`, n)
}

func newBatchRun(t *testing.T) *batchRun {
	t.Helper()
	w := &process.World{Server: process.Serve(t, storetest.Dir(t), "", func(c *config.Config) {
		c.Upstreams = config.Upstreams{PollEvery: 20 * time.Millisecond, Timeout: process.Patience, Takeover: process.Patience}
	})}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Agent = storetest.AgentToken(t, w.Store(), w.Admin, "coder")
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	r := &batchRun{World: w, there: upstreamtest.New(t, upstreamtest.Options{Key: process.UpstreamKey})}
	process.Must(t, process.UpstreamKey, "upstream", "add", "gate", "--url", r.there.URL, "--owner", storetest.AdminEmail, "--data", w.Dir)
	run, err := w.Client(w.Agent).OpenConversation(t.Context(), wire.OpenRequest{RunID: "clean-up", OnReject: models.OnRejectCascade})
	if err != nil {
		t.Fatal(err)
	}
	r.conv = models.ConversationID(run.ID)
	var lines strings.Builder
	for n := 1; n <= 10; n++ {
		fmt.Fprintf(&lines, `{"type":"tool_call","toolUseId":%q,"toolName":%q,"input":%s,"batchId":"msg_1"}`+"\n", batchUse(n), batchTools[n], batchInput(n))
	}
	for n, result := range r.reports(t, lines.String()) {
		r.calls[n+1] = models.ResponseID(result.ResponseID)
	}
	return r
}

// reports sends lines, each of which must be stored.
func (r *batchRun) reports(t *testing.T, lines string) []wire.RunEventResult {
	t.Helper()
	got, err := r.Client(r.Agent).Report(t.Context(), wire.ConversationID(r.conv), []byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	if got.Accepted != len(got.Results) {
		t.Fatalf("not all was stored: %+v", got)
	}
	return got.Results
}

func (r *batchRun) ends(t *testing.T, n int, isError bool) {
	t.Helper()
	r.reports(t, fmt.Sprintf(`{"type":"tool_result","toolUseId":%q,"result":"result of %d","isError":%t}`, batchUse(n), n, isError))
}

// asks has the other system ask for the call that runs, and waits until it stands
// here at the call that it is for.
func (r *batchRun) asks(t *testing.T, n int) {
	t.Helper()
	r.there.Ask(upstreamtest.Call{CallID: fmt.Sprintf("fc-%d", n), RunID: "clean-up", Fn: batchTools[n], Kwargs: batchInput(n)})
	pending := r.OnlyPending(t)
	if pending.ID != r.calls[n] {
		t.Fatalf("the approval for call %d stands at sequence %d", n, pending.Sequence)
	}
}

// decides decides a call, and waits until the other system knows.
func (r *batchRun) decides(t *testing.T, n int, approved bool, reason string) {
	t.Helper()
	got, err := r.Client(r.Reviewer).Respond(t.Context(), wire.ResponseID(r.calls[n]), wire.RespondRequest{Approved: &approved, Reason: reason})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != wire.StatusPending || got.Held == nil || got.Held.Reason != "upstream" {
		t.Errorf("the verdict on %d is not held: %+v", n, got)
	}
	settled, err := r.Client(r.Agent).Get(t.Context(), wire.ResponseID(r.calls[n]), process.Patience)
	if err != nil || settled.Decision == nil || settled.Decision.Approved != approved {
		t.Fatalf("call %d: %+v, %v", n, settled, err)
	}
	if v, ok := r.there.Outcome(fmt.Sprintf("fc-%d", n)); !ok || v.Approved != approved || v.Reason != reason {
		t.Errorf("the other system was told of call %d: %+v, %v", n, v, ok)
	}
}

// stands compares where each call stands, in a word.
func (r *batchRun) stands(t *testing.T, step string, want ...string) {
	t.Helper()
	history, err := r.Client(r.Agent).Conversation(t.Context(), wire.ConversationID(r.conv), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range history.Entries {
		if e.Response == nil {
			continue
		}
		word := "queued"
		if s := e.Response.Status; s != nil {
			word = string(*s)
			if e.Response.Cause == wire.Cause(models.CauseCascade) {
				word += " with it"
			}
		}
		if e.Response.IsCompleted {
			word += ", done"
		}
		got = append(got, word)
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s:\n%s\nwant\n%s", step, strings.Join(got, "; "), strings.Join(want, "; "))
	}
}

// The worked case: ten calls are queued, of which 2, 3, 6 and 9 are bash and 7 a
// write. Each approval goes to the call that runs, not to the latest of its tool;
// when 6 is rejected, what was planned after it ends with it.
func TestTheWorkedCaseOverHTTP(t *testing.T) {
	t.Parallel()
	r := newBatchRun(t)
	const q = "queued"
	r.stands(t, "at first", q, q, q, q, q, q, q, q, q, q)
	r.ends(t, 1, false)
	r.asks(t, 2)
	r.stands(t, "2 is asked for", "queued, done", "pending", q, q, q, q, q, q, q, q)
	r.decides(t, 2, true, "")
	r.ends(t, 2, false)
	r.asks(t, 3) // as 9 is, to the letter
	r.decides(t, 3, true, "go on")
	r.ends(t, 3, false)
	r.ends(t, 4, false)
	r.ends(t, 5, false)
	r.stands(t, "half of it", "queued, done", "approved, done", "approved, done", "queued, done", "queued, done", q, q, q, q, q)
	r.asks(t, 6)
	r.decides(t, 6, false, "not in this folder")
	const with = "rejected with it"
	r.stands(t, "6 is rejected", "queued, done", "approved, done", "approved, done", "queued, done", "queued, done", "rejected", with, with, with, with)
	for n := 7; n <= 10; n++ {
		got, err := r.Client(r.Agent).Get(t.Context(), wire.ResponseID(r.calls[n]), 0)
		if err != nil || got.Cause != wire.Cause(models.CauseCascade) || got.Decision == nil || got.Decision.Reason != "not in this folder" {
			t.Errorf("call %d: %+v, %v", n, got, err)
		}
	}
	for n := 6; n <= 10; n++ { // the agent confirms
		r.ends(t, n, true)
	}
	r.reports(t, `{"type":"status","id":"end","status":"completed"}`)
	if verdicts := r.there.Verdicts(); len(verdicts) != 3 {
		t.Errorf("the other system was told %+v", verdicts)
	}
	if _, err := r.Store().Ledger.Verify(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
