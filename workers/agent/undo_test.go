package agent_test

import (
	"testing"
	"time"

	"countersign/models"
)

// The agent goes on when an approval is released, or was taken back, and hears the
// words that came with it only then.
func TestTheAgentHearsOfAHeldApprovalWithItsRelease(t *testing.T) {
	t.Parallel()
	for _, takenBack := range []bool{false, true} {
		b := newBench(t, calls(proposes("delete")))
		b.policy(`"undo_seconds":{"medium":30}`)
		id := b.begin("Clean up", nil)
		b.run()
		b.model.turns = []reply{says("Done.")}
		said := b.say(id, "Go on.", &models.ConversationDecision{Approved: new(true)})
		if said.Approval.Status() != models.StatusPending {
			t.Fatalf("it is %s, want it held", said.Approval.Status())
		}
		if n := b.run(); n != 0 {
			t.Errorf("%d turns in the window", n)
		}
		b.status(id, models.ConversationWaitingInput)
		if takenBack {
			if _, err := b.store.Undo(t.Context(), b.person, said.Approval.ID); err != nil {
				t.Fatal(err)
			}
		}
		b.clock.Step(30 * time.Second)
		if _, err := b.store.ReleaseDue(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if n := b.run(); n != 1 {
			t.Errorf("taken back %v: %d turns afterwards, want 1", takenBack, n)
		}
		want := map[bool]string{false: `"status":"approved"`, true: `"status":"pending"`}[takenBack]
		r := b.model.last(t)
		mustContain(t, "the result", results(r)[0], want)
		if last := r.Turns[len(r.Turns)-1]; last.Content != "Go on." {
			t.Errorf("the request ends with %+v", last)
		}
	}
}
