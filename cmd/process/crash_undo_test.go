package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// The server is killed inside the undo windows of many approvals, and again as
// they end: each is held or released, never both, and told once (I1, I8).
func TestKillInTheUndoWindowI1(t *testing.T) {
	const count, undone = 40, 10
	v := process.NewVictim(t)
	doc := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(doc, []byte(`{"undo_seconds":{"medium":3}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	process.Must(t, "", "policy", "apply", doc, "--data", v.Dir)
	told := make(chan *wire.Approval, count)
	for i := range count {
		go func() {
			got, err := v.Client(v.Agent).AskUntilDecided(t.Context(),
				wire.AskRequest{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, i)}, client.WaitOptions{Connect: process.Patience})
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			told <- got
		}()
	}
	v.Waiting(t, count)
	takenBack := map[models.ResponseID]bool{}
	reviewer := v.Client(v.Reviewer)
	for id := range v.Pending(t) {
		out, err := reviewer.Respond(t.Context(), wire.ResponseID(id), wire.RespondRequest{Approved: new(true)})
		if err != nil || out.Status != wire.StatusPending || out.Held == nil || out.Held.Reason != "undo" {
			t.Fatalf("respond: %+v, %v", out, err)
		}
		if len(takenBack) < undone {
			if _, err := reviewer.Undo(t.Context(), wire.ResponseID(id)); err != nil {
				t.Fatalf("undo: %v", err)
			}
			takenBack[id] = true
		}
	}
	v.Kill(t)
	v.Start(t)
	outcomes := map[models.ResponseID]models.Status{}
	hear := func() {
		t.Helper()
		got := <-told
		if got == nil {
			t.Fatal("somebody was told nothing")
		}
		if _, twice := outcomes[models.ResponseID(got.ApprovalID)]; twice || takenBack[models.ResponseID(got.ApprovalID)] || got.Status != wire.StatusApproved {
			t.Errorf("%s was told %s; taken back: %v", got.ApprovalID, got.Status, takenBack[models.ResponseID(got.ApprovalID)])
		}
		outcomes[models.ResponseID(got.ApprovalID)] = models.Status(got.Status)
	}
	hear() // the windows end now
	v.Kill(t)
	v.Start(t)
	for len(outcomes) < count-undone {
		hear()
	}
	for id := range takenBack {
		got, err := v.Client(v.Agent).Get(t.Context(), wire.ResponseID(id), 0)
		if err != nil || got.Status != wire.StatusPending || got.Held != nil {
			t.Errorf("what was taken back is %+v, %v", got, err)
		}
		if _, err := reviewer.Respond(t.Context(), wire.ResponseID(id), wire.RespondRequest{Approved: new(false)}); err != nil {
			t.Errorf("respond: %v", err)
		}
	}
	for range undone {
		if got := <-told; got == nil || got.Status != wire.StatusRejected || !takenBack[models.ResponseID(got.ApprovalID)] {
			t.Errorf("told %+v", got)
		}
	}
	v.Kill(t)
	process.Must(t, "", "audit", "verify", "--data", v.Dir)
	tellsOneStory(t, v, takenBack, count)
}

// tellsOneStory holds the ledger against what was told.
func tellsOneStory(t *testing.T, v *process.Victim, takenBack map[models.ResponseID]bool, count int) {
	t.Helper()
	s := storetest.New(t, storetest.WithDir(v.Dir))
	actions := map[models.ResponseID]map[string]int{}
	for before := int64(0); ; {
		page, err := s.Requests.Trail(t.Context(), v.Person, requests.TrailQuery{Before: before, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if e.ResponseID != "" {
				if actions[e.ResponseID] == nil {
					actions[e.ResponseID] = map[string]int{}
				}
				actions[e.ResponseID][e.Action]++
			}
			before = e.Seq
		}
		if len(page.Entries) == 0 || before <= 1 {
			break
		}
	}
	if len(actions) != count {
		t.Errorf("the ledger tells of %d requests, want %d", len(actions), count)
	}
	for id, did := range actions {
		want := map[string]int{"approval.requested": 1, "approval.voted": 1, "approval.approved": 1}
		if takenBack[id] {
			want = map[string]int{"approval.requested": 1, "approval.voted": 1, "approval.taken_back": 1, "approval.rejected": 1}
		}
		if fmt.Sprint(did) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", id, did, want)
		}
	}
}
