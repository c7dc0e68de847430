package scenario_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/outside"
	"countersign/models/requests"
	"countersign/models/storetest"
	"countersign/workers/upstream/upstreamtest"
)

// TestTenQueuedCallsFromReportToUpstream is the worked case over HTTP: an agent
// reports ten queued calls in lines of JSON, another system asks for some of them
// by tool and arguments, a person decides here, and the other system hears it.
func TestTenQueuedCallsFromReportToUpstream(t *testing.T) {
	t.Parallel()
	w := &process.World{Server: process.Serve(t, storetest.Dir(t), "", func(c *config.Config) { c.Upstreams.PollEvery = 20 * time.Millisecond })}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Agent = storetest.AgentToken(t, w.Store(), w.Admin, "bot")
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	u := upstreamtest.New(t, upstreamtest.Options{Key: "key"})
	_, err := outside.New(w.Store()).AddUpstream(t.Context(), w.Admin, outside.NewUpstream{Name: "far", BaseURL: u.URL, Dialect: "plain", Key: "key", OwnerID: w.Admin.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	agent := w.Client(w.Agent)
	conv, err := agent.OpenConversation(t.Context(), wire.OpenRequest{RunID: "r", OnReject: models.OnRejectCascade})
	if err != nil {
		t.Fatal(err)
	}
	report := func(lines ...string) {
		t.Helper()
		got, err := agent.Report(t.Context(), conv.ID, []byte(strings.Join(lines, "\n")+"\n"))
		if err != nil || got.Accepted != len(lines) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	done := func(n int) string { return fmt.Sprintf(`{"type":"tool_result","toolUseId":"u%d","result":"ok"}`, n) }
	var queued []string
	for i, tool := range []string{"Read", "Bash", "Bash", "Read", "Read", "Bash", "Write", "Read", "Bash", "Read"} {
		queued = append(queued, fmt.Sprintf(`{"type":"tool_call","toolUseId":"u%d","toolName":%q,"input":{"n":%d},"batchId":"b"}`, i+1, tool, i+1))
	}
	report(queued...)

	decide := func(n int, verdict wire.RespondRequest) {
		t.Helper()
		id := fmt.Sprintf("c%d", n)
		u.Ask(upstreamtest.Call{CallID: id, RunID: "r", Fn: "Bash", Kwargs: fmt.Sprintf(`{ "n": %d }`, n)})
		a := w.OnlyPending(t)
		if a.ToolUseID == nil || *a.ToolUseID != fmt.Sprintf("u%d", n) {
			t.Fatalf("the approval for call %d went to %v", n, a.ToolUseID)
		}
		w.Respond(t, a.ID, verdict)
		process.Eventually(t, "the other system was told, and then everyone", func() bool {
			got, err := w.Client(w.Reviewer).Get(t.Context(), wire.ResponseID(a.ID), 0)
			return err == nil && got.Status != wire.StatusPending
		})
		v, ok := u.Outcome(id)
		if !ok || v.Approved != *verdict.Approved || v.Reason != verdict.Reason || len(u.VerdictsOn(id)) != 1 {
			t.Errorf("call %d: the other system has %+v", n, v)
		}
	}
	report(done(1))
	decide(2, wire.RespondRequest{Approved: new(true)})
	report(done(2))
	decide(3, wire.RespondRequest{Approved: new(true)})
	report(done(3), done(4), done(5))
	decide(6, wire.RespondRequest{Approved: new(false), Reason: "not on a Friday"})

	history, err := w.Store().Requests.History(t.Context(), w.Admin, models.ConversationID(conv.ID), requests.HistoryQuery{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	stands := map[string]string{}
	for _, e := range history.Entries {
		if e.Response != nil {
			stands[*e.Response.ToolUseID] = strings.TrimSpace(string(e.Response.Status()) + " " + string(e.Response.Cause))
		}
	}
	want := map[string]string{"u1": "", "u2": "approved reviewer", "u3": "approved reviewer", "u4": "", "u5": "", "u6": "rejected reviewer"}
	for n := 7; n <= 10; n++ {
		want[fmt.Sprintf("u%d", n)] = "rejected cascade"
	}
	if !maps.Equal(stands, want) {
		t.Errorf("stands %v, want %v", stands, want)
	}
	if v, err := w.Store().Requests.Conversation(t.Context(), w.Admin, models.ConversationID(conv.ID)); err != nil || v.Status != models.ConversationRunning {
		t.Errorf("the run is %+v, %v", v, err)
	}
	process.Must(t, "", "audit", "verify", "--data", w.Dir)
}
