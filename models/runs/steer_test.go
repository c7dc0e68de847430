package runs_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func TestSteeringIsRecordedOnceAndDoneAgainChangesNothing(t *testing.T) {
	t.Parallel()
	c := begun(t)
	owner := " " + string(c.Owner.OwnerID)
	for _, tt := range []struct {
		how    models.Steering
		action string
		is     func(*models.ConversationView) bool
	}{
		{models.SteerPause, "conversation.paused", func(v *models.ConversationView) bool { return v.PausedAt != nil }},
		{models.SteerResume, "conversation.resumed", func(v *models.ConversationView) bool { return v.PausedAt == nil }},
		{models.SteerArchive, "conversation.archived", func(v *models.ConversationView) bool { return v.ArchivedAt != nil }},
		{models.SteerUnarchive, "conversation.unarchived", func(v *models.ConversationView) bool { return v.ArchivedAt == nil }},
		{models.SteerStop, "conversation.status", func(v *models.ConversationView) bool { return v.Status == models.ConversationFailed }},
	} {
		at := storetest.LedgerAt(t, c.Store)
		c.Steers(t, tt.how)
		storetest.SameStrings(t, string(tt.how), storetest.ActionsSince(t, c.Store, at), []string{tt.action + owner})
		if v := c.View(t); !tt.is(v) {
			t.Errorf("%s: %+v", tt.how, v)
		}
		storetest.WantUnchanged(t, c.Store, "", func() error { return storetest.Err(c.Steer(t.Context(), c.Admin, c.Conv, tt.how)) })
	}
	at := storetest.LedgerAt(t, c.Store)
	storetest.Must(t, storetest.Err(c.Rename(t.Context(), c.Owner, c.Conv, "Logs")))
	storetest.SameStrings(t, "rename", storetest.ActionsSince(t, c.Store, at), []string{"conversation.renamed" + owner})
	storetest.WantUnchanged(t, c.Store, "", func() error { return storetest.Err(c.Rename(t.Context(), c.Owner, c.Conv, "Logs")) })
	if v := c.View(t); v.Title != "Logs" {
		t.Errorf("title %q", v.Title)
	}
}

func TestWhoSteers(t *testing.T) {
	t.Parallel()
	c := begun(t)
	noAdmin := c.Admin
	noAdmin.Admin = false
	for _, how := range []models.Steering{models.SteerPause, models.SteerStop, models.SteerArchive} {
		for code, who := range map[models.Code][]models.Actor{
			models.CodeForbidden: {c.Agent, c.Other, {}, models.System("x")}, models.CodeNotFound: {c.Stranger, noAdmin},
		} {
			for _, actor := range who {
				storetest.WantUnchanged(t, c.Store, code, func() error { return storetest.Err(c.Steer(t.Context(), actor, c.Conv, how)) })
				storetest.WantUnchanged(t, c.Store, code, func() error { return storetest.Err(c.Rename(t.Context(), actor, c.Conv, "x")) })
			}
		}
	}
	storetest.WantUnchanged(t, c.Store, models.CodeInvalid, func() error { return storetest.Err(c.Steer(t.Context(), c.Owner, c.Conv, "explode")) })
	for _, title := range []string{strings.Repeat("ä", models.MaxTitle+1), strings.Repeat("x", 5000), "\xff"} {
		storetest.WantUnchanged(t, c.Store, models.CodeInvalid, func() error { return storetest.Err(c.Rename(t.Context(), c.Owner, c.Conv, title)) })
	}
	storetest.Must(t, storetest.Err(c.Rename(t.Context(), c.Owner, c.Conv, strings.Repeat("ä", models.MaxTitle))))
}

// TestI10StopCancelsWhatIsPending: cause stopped, but what had expired has
// expired.
func TestI10StopCancelsWhatIsPending(t *testing.T) {
	t.Parallel()
	c := begun(t)
	late := c.AskFor(t, c.In(models.AskInput{ToolName: "Bash", TimeoutSeconds: new(int64(60))}))
	call := c.AskFor(t, c.In(models.AskInput{ToolName: "Bash", TimeoutSeconds: new(int64(600))}))
	question := c.AskFor(t, c.In(models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}}))
	proposal, budget := c.Proposes(t, "Shall I?"), c.Exhausts(t)
	elsewhere := c.AskFor(t, models.AskInput{})
	c.Clock.Step(time.Minute)
	at := storetest.LedgerAt(t, c.Store)
	if conv := c.Steers(t, models.SteerStop); conv.Status != models.ConversationFailed {
		t.Errorf("stopped: %+v", conv)
	}
	if got := c.Reads(t, late.ID); got.Status() != models.StatusExpired || got.Cause != models.CauseTimeout {
		t.Errorf("what had expired is %s, %s", got.Status(), got.Cause)
	}
	for _, a := range []*models.Approval{call, question, proposal, budget} {
		if got := c.Reads(t, a.ID); got.Status() != models.StatusCancelled || got.Cause != models.CauseStopped || got.Feedback() == "" {
			t.Errorf("a %s is %s, %s", a.Kind, got.Status(), got.Cause)
		}
	}
	if got := c.Reads(t, elsewhere.ID); got.Status() != models.StatusPending {
		t.Errorf("a request of another conversation is %s", got.Status())
	}
	if n := len(storetest.ActionsSince(t, c.Store, at)); n != 6 {
		t.Errorf("%d entries, want one of each request and one of the conversation", n)
	}
	c.WantStatus(t, models.ConversationFailed)
	storetest.WantUnchanged(t, c.Store, "", func() error { return storetest.Err(c.Steer(t.Context(), c.Owner, c.Conv, models.SteerStop)) })
}

// TestAStoppedRunStaysStopped, whatever happens to its budget, until a person
// writes: the built-in agent would find nothing that it may do, again and again.
func TestAStoppedRunStaysStopped(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	r, err := c.Say(t.Context(), c.Owner, models.MessageInput{Content: "Hello.", EnergyBudget: new(int64(50))})
	storetest.Must(t, err)
	c.Conv = r.Conversation.ID
	ready := func() int {
		return storetest.Scalar[int](t, c.Store, `SELECT count(*) FROM agent_inbox WHERE conversation_id = ? AND ready_at IS NOT NULL`, c.Conv)
	}
	if ready() != 1 {
		t.Fatal("it was not ready")
	}
	c.Steers(t, models.SteerStop)
	c.SetsBudget(t, c.Owner, 100)
	c.Steers(t, models.SteerPause)
	c.Steers(t, models.SteerResume)
	if run, err := c.ClaimRun(t.Context(), "me", time.Minute); run != nil || err != nil || ready() != 0 {
		t.Errorf("a stopped run is claimed: %+v, %v", run, err)
	}
	c.Says(t, "Go on.", nil)
	if run, err := c.ClaimRun(t.Context(), "me", time.Minute); run == nil || err != nil {
		t.Errorf("a resumed run is not claimed: %v", err)
	}
}

// TestAVerdictOnItsWayIsNotStopped once its delivery has begun: nothing is half
// done then.
func TestAVerdictOnItsWayIsNotStopped(t *testing.T) {
	t.Parallel()
	c := begun(t)
	c.Proposes(t, "First?")
	held := c.Proposes(t, "Second?")
	storetest.Tampered(c.Store)
	_, err := storetest.Beside(t, c.Store).ExecContext(t.Context(), `UPDATE responses SET held_until = '2030-01-01 00:00:00+00:00' WHERE id = ?`, held.ID)
	storetest.Must(t, err)
	_, err = storetest.Beside(t, c.Store).ExecContext(t.Context(), `INSERT INTO deliveries (response_id, upstream_id, vote_id, created_at, give_up_at, next_at, attempts)
 SELECT id, 'u', 'v', created_at, held_until, created_at, 1 FROM responses WHERE id = ?`, held.ID)
	storetest.Must(t, err)
	e := storetest.WantUnchanged(t, c.Store, models.CodeBeingDecided, func() error { return storetest.Err(c.Steer(t.Context(), c.Owner, c.Conv, models.SteerStop)) })
	if e.Approval == nil || e.Approval.ID != held.ID {
		t.Errorf("the refusal names %+v", e)
	}
}

func TestWhilePausedDecisionsArePossible(t *testing.T) {
	t.Parallel()
	c := begun(t)
	c.Proposes(t, "Shall I?")
	c.Steers(t, models.SteerPause)
	c.DecidesIn(t, c.Owner, storetest.Approving(""))
	c.Says(t, "Thanks.", nil)
	if v := c.View(t); v.PausedAt == nil || v.Status != models.ConversationRunning {
		t.Errorf("paused: %+v", v)
	}
}

func TestArchivedConversationsAreListedApart(t *testing.T) {
	t.Parallel()
	c := begun(t)
	list := func(archived bool) int {
		l, err := c.Requests.Conversations(t.Context(), c.Owner, requests.ConversationQuery{Archived: archived})
		storetest.Must(t, err)
		return len(l.Items)
	}
	if list(false) != 1 || list(true) != 0 {
		t.Errorf("%d and %d archived", list(false), list(true))
	}
	c.Steers(t, models.SteerArchive)
	if list(false) != 0 || list(true) != 1 {
		t.Errorf("%d and %d archived", list(false), list(true))
	}
}
