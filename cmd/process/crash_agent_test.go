package process_test

import (
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/workers/llm/llmtest"
)

// TestKillsOfABuiltInRunI8 kills the server in the stream of a first answer,
// while a proposal waits, in the stream of a second answer, and right after one
// has come: nothing is said twice, nothing is lost, and approvals stand.
func TestKillsOfABuiltInRunI8(t *testing.T) {
	t.Parallel()
	inFirst, inSecond, cameWhole := make(chan struct{}), make(chan struct{}), make(chan struct{})
	proposal := llmtest.Reply{Calls: []llmtest.Call{{
		ID: "p1", Name: models.ToolRespondWithApproval, Arguments: `{"requestId":"$requestId","content":"Delete the old logs."}`,
	}}}
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Reply {
		result := r.Result("p1")
		switch {
		case r.N == 0:
			p := proposal
			p.Hang, p.Reached = 2, inFirst
			return p
		case result == "":
			return proposal
		case !strings.Contains(result, `"approved"`) || !strings.Contains(result, "But keep last week."):
			return llmtest.Reply{Text: "I was not told of the outcome: " + result}
		case r.N == 2:
			return llmtest.Reply{Text: "Done.", TextAt: []int{2}, Hang: 2, Reached: inSecond}
		case r.N == 3:
			return llmtest.Reply{Text: "Done.", TextAt: []int{2}, Hang: 5, Reached: cameWhole}
		}
		return llmtest.Reply{Text: "Done."}
	})
	v := process.NewVictim(t, "--llm-base-url", model.URL, "--llm-model", "fake")
	person := v.Client(v.Reviewer)

	begun, err := person.Send(t.Context(), wire.MessageRequest{Content: "Clean up, please.", EnergyBudget: new(wire.WholeNumber(1000))})
	if err != nil {
		t.Fatal(err)
	}
	soon(t, inFirst)
	v.Kill(t)
	v.Start(t)
	settles(t, v, models.ConversationID(begun.ID), models.ConversationWaitingInput)

	v.Kill(t)
	v.Start(t)
	if got := settles(t, v, models.ConversationID(begun.ID), models.ConversationWaitingInput); got.Pending != 1 {
		t.Errorf("%d requests are pending after the kill, want the proposal", got.Pending)
	}
	answer, err := person.Send(t.Context(), wire.MessageRequest{
		ID: string(begun.ID), ApprovalResponse: &wire.ApprovalResponse{Approved: new(true), Feedback: "But keep last week."},
	})
	if err != nil || answer.Approval == nil || answer.Approval.Status != wire.StatusApproved {
		t.Fatalf("approved: %+v, %v", answer, err)
	}
	soon(t, inSecond)
	v.Kill(t)
	v.Start(t)
	soon(t, cameWhole)
	v.Kill(t)
	v.Start(t)

	got := settles(t, v, models.ConversationID(begun.ID), models.ConversationCompleted)
	var said []string
	for _, e := range got.Entries {
		switch {
		case e.Message != nil:
			said = append(said, "person: "+e.Message.Content)
		case e.Response != nil:
			said = append(said, string(e.Response.Kind)+": "+e.Response.Content)
		}
	}
	want := "person: Clean up, please.|proposal: Delete the old logs.|reply: Done."
	if strings.Join(said, "|") != want {
		t.Errorf("the conversation holds\n%s\nwant\n%s", strings.Join(said, "|"), want)
	}
	if b := got.Budget; b.Reserved != 0 || b.Used == 0 {
		t.Errorf("the budget is %+v, want nothing reserved and something used", b)
	}
	process.Must(t, "", "audit", "verify", "--data", v.Dir)
}

func soon(t *testing.T, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(3 * process.Patience): // a run is taken over when its lease is over
		t.Fatal("the model was not asked")
	}
}

// settles waits until a conversation has a status, and reads its history.
func settles(t *testing.T, v *process.Victim, id models.ConversationID, want models.ConversationStatus) *wire.ConversationHistory {
	t.Helper()
	deadline := time.After(3 * process.Patience)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		got, err := v.Client(v.Reviewer).Conversation(t.Context(), wire.ConversationID(id), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if models.ConversationStatus(got.Status) == want {
			return got
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("the conversation is %s, want %s", got.Status, want)
		}
	}
}
