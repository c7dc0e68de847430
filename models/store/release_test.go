package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

// barriers are what an admin does between an approval and its release.
var barriers = map[string]func(t *testing.T, w *outsideWorld, a models.AgentID) *models.Stop{
	"all agents are stopped": func(t *testing.T, w *outsideWorld, _ models.AgentID) *models.Stop {
		t.Helper()
		stop, _, err := w.Stop(t.Context(), w.Admin, "", "Something is wrong.")
		storetest.Must(t, err)
		return stop
	},
	"its agent is stopped": func(t *testing.T, w *outsideWorld, a models.AgentID) *models.Stop {
		t.Helper()
		stop, _, err := w.Stop(t.Context(), w.Admin, a, "It deletes things.")
		storetest.Must(t, err)
		return stop
	},
	"its approver is disabled": func(t *testing.T, w *outsideWorld, _ models.AgentID) *models.Stop {
		t.Helper()
		_, err := w.People.DisableUser(t.Context(), w.Admin, w.Owner.OwnerID)
		storetest.Must(t, err)
		return nil
	},
}

// agentOf is whose request it is.
func (w *outsideWorld) agentOf(t *testing.T, id models.ResponseID) models.AgentID {
	t.Helper()
	return models.AgentID(storetest.Column(t, w.Store, `SELECT agent_id FROM responses WHERE id = ?`, id)[0])
}

// TestI1AnApprovalOnItsWayDoesNotPassABarrier: the other system was away when somebody approved,
// and is back when the approval may not take effect any more.
func TestI1AnApprovalOnItsWayDoesNotPassABarrier(t *testing.T) {
	t.Parallel()
	for name, comes := range barriers {
		for _, tried := range []bool{false, true} { // one attempt has failed with an answer
			for _, undo := range []string{`{}`, undoFor30} {
				if tried && undo == undoFor30 {
					continue // nothing is sent in an undo window
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w := newOutsideWorld(t)
					w.UsePolicy(t, undo)
					id := w.Taken(t, storetest.Call("c", "", "bash", `{"command":"make"}`))
					w.Vote(t, id, storetest.Yes())
					w.Clock.Step(time.Second)
					if tried {
						w.Begin(t, id)
						storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Pause: time.Second, Text: "It failed (503)."}))
					}
					stop := comes(t, w, w.agentOf(t, id))
					if stop != nil && (stop.Withdrawn != 1 || stop.InFlight != 0) {
						t.Errorf("the stop tells of %d withdrawn and %d in flight", stop.Withdrawn, stop.InFlight)
					}
					w.Clock.Step(time.Minute)
					if d := w.Begin(t, id); d != nil {
						t.Fatalf("it is told: %+v", d)
					}
					if r := w.ByID(t, id); r.Held || r.Status != "pending" {
						t.Errorf("it is %s, held: %t", r.Status, r.Held)
					}
					if len(w.Due(t)) != 0 {
						t.Error("it is tried again")
					}
					w.Verify(t)
					storetest.CheckRows(t, w.Store)
				})
			}
		}
	}
}

// TestARejectionPassesEveryBarrier: it lets nothing run, and the other system waits for it.
func TestARejectionPassesEveryBarrier(t *testing.T) {
	t.Parallel()
	for name, comes := range barriers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
			w.Vote(t, id, storetest.No("Not now."))
			if stop := comes(t, w, w.agentOf(t, id)); stop != nil && stop.Withdrawn != 0 {
				t.Errorf("the stop withdraws %d", stop.Withdrawn)
			}
			w.Deliver(t, id, models.DeliveryTaken)
			w.WantRow(t, id, "rejected reviewer")
		})
	}
	w := newOutsideWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	w.Vote(t, id, storetest.No("Not now."))
	w.Begin(t, id)
	if stop := barriers["all agents are stopped"](t, w, ""); stop.InFlight != 0 {
		t.Errorf("a rejection counts as %d approvals that are being sent", stop.InFlight)
	}
}

// TestAnApprovalThatIsBeingSentIsNotSentAgain behind a barrier: it is withdrawn when the attempt
// is over without an answer, with the note that it may have arrived.
func TestAnApprovalThatIsBeingSentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	w.Vote(t, id, storetest.Yes())
	w.Begin(t, id)
	barriers["all agents are stopped"](t, w, "")
	if d := w.Begin(t, id); d != nil {
		t.Fatalf("it is sent again: %+v", d)
	}
	if r := w.ByID(t, id); !r.Held {
		t.Fatal("it is withdrawn while the other system may be accepting it")
	}
	w.Clock.Step(5 * time.Minute)
	if d := w.Begin(t, id); d != nil {
		t.Fatalf("it is sent again: %+v", d)
	}
	w.WantRow(t, id, "pending ")
	if got := w.Origin(t, id).Withdrawals; len(got) != 1 || !got[0].Lost {
		t.Errorf("%+v", got)
	}
	storetest.CheckRows(t, w.Store)
}

// TestAStopTellsOfWhatIsBeingSent: nobody can take that back, and the row says what happened.
func TestAStopTellsOfWhatIsBeingSent(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	w.Vote(t, id, storetest.Yes())
	w.Begin(t, id)
	stop := barriers["all agents are stopped"](t, w, "")
	if stop.Withdrawn != 0 || stop.InFlight != 1 {
		t.Errorf("the stop tells of %d withdrawn and %d in flight", stop.Withdrawn, stop.InFlight)
	}
	w.End(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "approved reviewer")
	if got := storetest.Column(t, w.Store, `SELECT contradiction FROM responses WHERE id = ?`, id)[0]; got == "" {
		t.Error("the row does not say that it was stopped meanwhile")
	}
	storetest.CheckRows(t, w.Store)
}

// TestI1AHeldApprovalOfWhoMayDecideNoMoreIsWithdrawn when its undo window ends.
func TestI1AHeldApprovalOfWhoMayDecideNoMoreIsWithdrawn(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(t *testing.T, b *bench) error{
		"disabled": func(t *testing.T, b *bench) error {
			t.Helper()
			return storetest.Err(b.People.DisableUser(t.Context(), b.Admin, b.Owner.OwnerID))
		},
		"an auditor": func(t *testing.T, b *bench) error {
			t.Helper()
			return b.People.SetRole(t.Context(), b.Admin, b.Owner.OwnerID, models.RoleAuditor)
		},
	} {
		b := newBench(t)
		b.UsePolicy(t, undoFor30)
		a := held(t, b, models.AskInput{})
		storetest.Must(t, ends(t, b))
		b.Clock.Step(time.Minute)
		b.release(t, 0)
		got, err := b.Requests.Approval(t.Context(), b.Admin, a.ID)
		storetest.Must(t, err)
		if got.Status() == models.StatusApproved || got.HeldUntil != nil {
			t.Errorf("%s: it is %s, held until %v", name, got.Status(), got.HeldUntil)
		}
		storetest.CheckRows(t, b.Store)
	}
}

// An auditor's act is undone with its entry, also where nothing before has refused it: here their agent's request, which
// an owner may cancel.
func TestAnAuditorsActIsUndoneWithItsEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.pay(t, 1)
	storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, b.Owner.OwnerID, models.RoleAuditor))
	auditor := b.Owner
	auditor.Auditor = true
	before := storetest.Dump(t, b.Store)
	for name, act := range map[string]func() error{
		"cancel": func() error { return storetest.Err(b.Cancel(t.Context(), auditor, a.ID)) },
		"decide": func() error { return storetest.Err(b.Decide(t.Context(), auditor, a.ID, storetest.Yes())) },
		"stop": func() error {
			_, _, err := b.Stop(t.Context(), auditor, a.AgentID, "enough")
			return err
		},
		"grant": func() error {
			return storetest.Err(b.AskSubstitute(t.Context(), auditor, auditor.UserID(), b.Stranger.UserID()))
		},
	} {
		if code := models.ErrorCode(act()); code != models.CodeForbidden && (name != "decide" || code != models.CodeNotAReviewer) {
			t.Errorf("%s: %s", name, code)
		}
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Errorf("it changed what is stored:\n%s\n---\n%s", before, after)
	}
}

// TestI1AHeldApprovalNeedsAllWhoseWordItTakes: for whom somebody voted, and who else signed an
// edit, may be disabled before it takes effect as well as its voter.
func TestI1AHeldApprovalNeedsAllWhoseWordItTakes(t *testing.T) {
	t.Parallel()
	const undo = `{"undo_seconds":{"medium":30},"rules":[{"name":"p","tools":["payment.send"],"effect":"require"`
	for name, gives := range map[string]func(*testing.T, *bench) *models.Approval{
		"for whom they voted": func(t *testing.T, b *bench) *models.Approval {
			t.Helper()
			eve := storetest.Reviewer(t, b.Store, "eve@example.com")
			b.substitute(t, b.Stranger, eve)
			b.UsePolicy(t, undo+byStranger+only+`}]}`)
			a := b.pay(t, 1)
			b.handsOver(t, b.Stranger, a.ID, eve)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), eve, a.ID, storetest.Yes())))
			return a
		},
		"who signed the edit before": func(t *testing.T, b *bench) *models.Approval {
			t.Helper()
			cfo := storetest.Reviewer(t, b.Store, "cfo@example.com")
			b.UsePolicy(t, payments(byStranger+only))
			a := b.pay(t, 1)
			b.UsePolicy(t, undo+`,"reviewers":["cfo@example.com"]`+only+`}]}`)
			edited := storetest.Yes()
			edited.Input = []byte(`{"amount":9}`)
			for _, signer := range []models.Actor{b.Stranger, cfo} {
				storetest.Must(t, storetest.Err(b.Decide(t.Context(), signer, a.ID, edited)))
			}
			return a
		},
	} {
		for _, disabled := range []bool{false, true} {
			b := newBench(t)
			a := gives(t, b)
			want, n := models.StatusApproved, 1
			if disabled {
				storetest.Must(t, storetest.Err(b.People.DisableUser(t.Context(), b.Admin, b.Stranger.UserID())))
				want, n = models.StatusRejected, 0 // nobody else may approve it
			}
			b.Clock.Step(time.Minute)
			b.release(t, n)
			got, err := b.Requests.Approval(t.Context(), b.Admin, a.ID)
			storetest.Must(t, err)
			if got.Status() != want {
				t.Errorf("%s, disabled %t: it is %s, want %s", name, disabled, got.Status(), want)
			}
		}
	}
}

// TestI1AHeldApprovalNeedsTheRightItWasGivenBy until it takes effect: a role and a group may be
// lost before. A rule that only asks a group limits nobody, so whoever was asked at the vote counts.
func TestI1AHeldApprovalNeedsTheRightItWasGivenBy(t *testing.T) {
	t.Parallel()
	const undo = `{"undo_seconds":{"medium":30},"rules":[{"name":"p","tools":["payment.send"],"effect":"require"`
	for name, tt := range map[string]struct {
		rule  string
		loses func(t *testing.T, b *bench, ann models.Actor)
	}{
		"the group": {byFinance + only, func(t *testing.T, b *bench, ann models.Actor) {
			t.Helper()
			b.leaves(t, "finance", ann)
		}},
		"the admin's role": {"", func(t *testing.T, b *bench, ann models.Actor) {
			t.Helper()
			storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, ann.UserID(), models.RoleReviewer))
		}},
	} {
		for _, lost := range []bool{false, true} {
			b := newBench(t)
			ann, bo := storetest.Reviewer(t, b.Store, "ann@example.com"), storetest.Reviewer(t, b.Store, "bo@example.com")
			b.group(t, "finance", ann, bo)
			if tt.rule == "" {
				storetest.Must(t, b.People.SetRole(t.Context(), b.Admin, ann.UserID(), models.RoleAdmin))
				ann.Admin = true
			}
			b.UsePolicy(t, undo+tt.rule+`}]}`)
			a := b.pay(t, 1)
			storetest.Must(t, storetest.Err(b.Decide(t.Context(), ann, a.ID, storetest.Yes())))
			want, n := models.StatusApproved, 1
			if lost {
				tt.loses(t, b, ann)
				want, n = models.StatusPending, 0
			}
			b.Clock.Step(time.Minute)
			b.release(t, n)
			if got, err := b.Requests.Approval(t.Context(), b.Admin, a.ID); err != nil || got.Status() != want || lost && got.HeldUntil != nil {
				t.Errorf("%s, lost %t: it is %s, want %s (%v)", name, lost, got.Status(), want, err)
			}
			storetest.CheckRows(t, b.Store)
		}
	}
}
