package runs_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// TestTenQueuedCalls is the worked case: of ten calls queued at once, 2, 3, 6 and 9
// are shell commands and 7 is a write that need approval, the rest only read. The
// agent runs them one after another and asks about each when its turn comes; 6 is
// rejected.
func TestTenQueuedCalls(t *testing.T) {
	t.Parallel()
	for _, onReject := range []string{models.OnRejectCascade, models.OnRejectContinue} {
		t.Run(onReject, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, onReject)
			r.UsePolicy(t, `{"rules":[{"name":"reads","tools":["Read"],"effect":"allow"}]}`)
			tools := map[int]string{2: "Bash", 3: "Bash", 6: "Bash", 7: "Write", 9: "Bash"}
			input := func(i int) string { return `{"n":` + storetest.CallIDs(i, i)[0][1:] + `}` }
			tool := func(i int) string {
				if name, ok := tools[i]; ok {
					return name
				}
				return "Read"
			}
			var batch []models.RunEvent
			for i := 1; i <= 10; i++ {
				batch = append(batch, storetest.Queued(storetest.CallIDs(i, i)[0], tool(i), input(i), "b"))
			}
			batch = append(batch, storetest.Queued("other", "Bash", `{}`, ""))
			r.Reports(t, batch)
			ask := func(i int) *models.Approval { return r.Asks(t, storetest.CallIDs(i, i)[0], tool(i), input(i)) }
			finish := func(i int) { r.Reports(t, storetest.One(storetest.Gave(storetest.CallIDs(i, i)[0], "ok"))) }

			ask(1)
			finish(1)
			for _, i := range []int{2, 3} {
				a := ask(i)
				if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.Yes()); err != nil {
					t.Fatal(err)
				}
				finish(i)
			}
			ask(4) // let through
			finish(4)
			ask(5)
			finish(5)
			six := ask(6)
			ask(8)         // let through before its turn: no cascade touches it
			nine := ask(9) // and this one waits already
			r.WantStates(t, storetest.CallIDs(1, 10), "queued/policy done", "approved/reviewer done", "approved/reviewer done", "queued/policy done", "queued/policy done",
				"pending", "queued", "queued/policy", "pending", "queued")

			before := r.VerifiedHead(t)
			if _, err := r.Decide(t.Context(), r.Owner, six.ID, storetest.No("Not on this machine.")); err != nil {
				t.Fatal(err)
			}
			if onReject == models.OnRejectContinue {
				r.WantActions(t, before, "approval.rejected")
				r.WantStates(t, storetest.CallIDs(6, 10), "rejected/reviewer", "queued", "queued/policy", "pending", "queued")
				return
			}
			r.WantActions(t, before, "approval.rejected", "approval.rejected", "approval.rejected", "approval.rejected")
			r.WantStates(t, append(storetest.CallIDs(1, 10), "other"), "queued/policy done", "approved/reviewer done", "approved/reviewer done", "queued/policy done", "queued/policy done",
				"rejected/reviewer", "rejected/cascade", "queued/policy", "rejected/cascade", "rejected/cascade", "queued")
			for _, use := range []string{"c7", "c9", "c10"} {
				a, d := r.Row(t, use)
				if a.Feedback() != "Not on this machine." || d.CascadedFrom == nil || *d.CascadedFrom != (models.CallPlace{ID: six.ID, Sequence: six.Sequence, Place: 6}) || a.DecidedBy != nil || !a.RequiresApproval {
					t.Errorf("%s: %+v, %+v", use, a.Response, d.CascadedFrom)
				}
			}
			told, err := r.Await(t.Context(), r.Agent, nine.ID, time.Minute)
			if err != nil || told.Status() != models.StatusRejected || told.Cause != models.CauseCascade {
				t.Errorf("who waits for 9 is told %+v, %v", told, err)
			}
			if page, err := r.Requests.Inbox(t.Context(), r.Owner, requests.InboxQuery{}); err != nil || len(page.Items) > 0 {
				t.Errorf("in the inbox is %+v, %v", page.Items, err)
			}
			// The agent asks about the rest, and is told what stands.
			dump := storetest.Dump(t, r.Store)
			if a := ask(7); a.Status() != models.StatusRejected || a.Cause != models.CauseCascade || a.Feedback() != "Not on this machine." {
				t.Errorf("asked about 7: %+v", a.Response)
			}
			if after := storetest.Dump(t, r.Store); after != dump {
				t.Errorf("asking changed:\n%s", storetest.Difference(dump, after))
			}
			// It reports denials of all, and that 10 ran anyway.
			r.Reports(t, []models.RunEvent{storetest.Denial("c6", "no"), storetest.Denial("c7", "no"), storetest.Gave("c8", "ok"), storetest.Denial("c9", "no"), storetest.Gave("c10", "ran")})
			r.WantStates(t, storetest.CallIDs(6, 10), "rejected/reviewer failed", "rejected/cascade failed", "queued/policy done", "rejected/cascade failed", "rejected/cascade done")
			for _, use := range storetest.CallIDs(1, 10) {
				if _, d := r.Row(t, use); (d.Contradiction != "") != (use == "c10") {
					t.Errorf("%s: %q", use, d.Contradiction)
				}
			}
			r.WantEnergyAddsUp(t)
		})
	}
}

func TestACascadeKeepsToItsBatchAndToWhatComesAfter(t *testing.T) {
	t.Parallel()
	r := newTrace(t, models.OnRejectCascade)
	sub := storetest.Queued("sub", "Bash", `{}`, "s1")
	sub.ParentToolUseID = "c1"
	r.Reports(t, []models.RunEvent{
		storetest.Queued("c1", "Bash", `{"n":1}`, "b1"), storetest.Queued("c2", "Bash", `{"n":2}`, "b1"), storetest.Queued("c3", "Bash", `{"n":3}`, "b1"), storetest.Queued("c4", "Bash", `{"n":4}`, "b1"),
		sub, storetest.Queued("c5", "Bash", `{"n":5}`, "b1"), storetest.Queued("c6", "Bash", `{"n":6}`, "b1"), storetest.Gave("c6", "ran at once"),
	})
	late := r.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "c4", ToolName: "Bash", Input: []byte(`{"n":4}`), TimeoutSeconds: new(int64(1))})
	r.Clock.Step(2 * time.Second)
	a := r.Asks(t, "c2", "Bash", `{"n":2}`)
	if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.No("no")); err != nil {
		t.Fatal(err)
	}
	r.WantStates(t, append(storetest.CallIDs(1, 6), "sub"), "queued", "rejected/reviewer", "rejected/cascade", "expired/timeout", "rejected/cascade", "queued done", "queued")
	if got, err := r.Requests.Approval(t.Context(), r.Agent, late.ID); err != nil || got.Cause != models.CauseTimeout {
		t.Errorf("one whose time was up: %+v, %v", got, err)
	}
	// Neither policy nor an approval begins one.
	r.UsePolicy(t, `{"rules":[{"name":"never","tools":["Rm"],"effect":"deny","reason":"Not here."}]}`)
	r.Reports(t, []models.RunEvent{storetest.Queued("d1", "Rm", `{}`, "b2"), storetest.Queued("d2", "Bash", `{"n":1}`, "b2"), storetest.Queued("d3", "Bash", `{"n":2}`, "b2")})
	r.Asks(t, "d1", "Rm", `{}`)
	if _, err := r.Decide(t.Context(), r.Owner, r.Asks(t, "d2", "Bash", `{"n":1}`).ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	r.WantStates(t, []string{"d1", "d2", "d3"}, "rejected/policy", "approved/reviewer", "queued")
}

func TestFeedsTellACascadeInOrder(t *testing.T) {
	t.Parallel()
	r := newTrace(t, models.OnRejectCascade)
	r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b"), storetest.Queued("c2", "Bash", `{}`, "b"), storetest.Queued("c3", "Bash", `{}`, "b")})
	from := r.VerifiedHead(t)
	a := r.Asks(t, "c1", "Bash", `{}`)
	r.Asks(t, "c3", "Bash", `{}`)
	if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.No("no")); err != nil {
		t.Fatal(err)
	}
	r.Reports(t, []models.RunEvent{storetest.Denial("c1", "no"), storetest.StatusEvent("end", models.ConversationCompleted)})
	want := []string{
		"waiting_input", "asked c1 rejected", "asked c3 rejected", "settled c1 rejected", "settled c2 rejected", "running", "settled c3 rejected", "completed",
	}
	for _, who := range []models.Actor{r.Agent, r.Owner, r.Admin} {
		var got []string
		if _, err := r.Requests.Feed(context.Background(), who, from, func(h *requests.FeedEvent) error {
			for _, change := range h.Changes {
				got = append(got, string(change.New))
			}
			if h.Approval == nil {
				return nil
			}
			got = append(got, string(h.Kind)+" "+*h.Approval.ToolUseID+" "+string(h.Approval.Status()))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s hears\n %q, want\n %q", who.Name, got, want)
		}
	}
	heard := 0
	if _, err := r.Requests.Feed(t.Context(), r.Stranger, from, func(*requests.FeedEvent) error { heard++; return nil }); err != nil || heard > 0 {
		t.Errorf("a stranger hears %d, %v", heard, err)
	}
}
