package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/outside"
	"countersign/models/people"
	"countersign/models/storetest"
	"countersign/models/webhooks"
)

const rowsPolicy = `{"undo_seconds":{"high":30},"grant_max_uses":10,"rules":[
 {"name":"money","tools":["pay"],"effect":"require","risk":"high","reviewers":["finance@example.com","group:treasury"]},
 {"name":"never","tools":["format"],"effect":"deny"}]}`

// pastOf is a database in which most of what can happen has happened.
func pastOf(t *testing.T, opts ...storetest.Option) *outsideWorld {
	t.Helper()
	ctx := t.Context()
	w := newOutsideWorld(t, opts...)
	finance := storetest.Reviewer(t, w.Store, "finance@example.com")
	storetest.Must(t, w.People.AddGroup(ctx, w.Admin, "treasury", "Who pays."))
	w.UsePolicy(t, rowsPolicy)
	step := func() { w.Clock.Step(time.Second) }

	secret, _, err := w.People.Invite(ctx, w.Admin, "new@example.com", models.RoleReviewer)
	storetest.Must(t, err)
	joined, err := w.People.Join(ctx, secret, "New", storetest.Password)
	storetest.Must(t, err)
	storetest.Must(t, w.People.SetPassword(ctx, w.Admin, joined.ID, "another correct horse"))
	storetest.Must(t, w.People.SetRole(ctx, w.Admin, joined.ID, models.RoleAdmin))
	step()
	_, err = w.People.DisableUser(ctx, w.Admin, joined.ID)
	storetest.Must(t, err)
	storetest.Session(t, w.Store, "owner@example.com")
	storetest.ReviewerToken(t, w.Store, w.Owner)
	_, token, err := w.People.AddToken(ctx, storetest.Operator(), people.NewToken{Scope: models.ScopeReviewer, Name: "old", UserID: w.Owner.OwnerID, Expires: time.Hour})
	storetest.Must(t, err)
	storetest.Must(t, w.People.RevokeToken(ctx, w.Owner, token.ID))

	for _, at := range []models.ClockTime{"07:30", "08:00"} {
		settings := models.DefaultNotificationSettings()
		settings.DigestAt = at
		storetest.Must(t, w.People.SetNotificationSettings(ctx, w.Owner, settings))
	}
	for _, host := range []string{"ntfy.example.com", "hooks.example.com", "gone.example.com"} {
		storetest.Must(t, w.People.AllowHost(ctx, w.Admin, host))
		step()
		if host != "ntfy.example.com" {
			storetest.Must(t, w.People.RemoveHost(ctx, w.Admin, host))
		}
	}
	storetest.Must(t, w.People.AllowHost(ctx, w.Admin, "hooks.example.com")) // again

	w.hooks(t)
	w.proposes(t)

	decide := func(who models.Actor, a *models.Approval, in models.DecisionInput) *models.Approval {
		t.Helper()
		step()
		in.Digest = a.Digest
		out, err := w.Decide(ctx, who, a.ID, in)
		storetest.Must(t, err)
		return out
	}
	decide(w.Owner, w.run(t, "make", "/src"), storetest.Yes())
	decide(w.Owner, w.run(t, "rm -rf build", "/src"), storetest.No("Not now."))
	edited := storetest.Yes()
	edited.Input = []byte(`{"command":"make -n","cwd":"/src"}`)
	decide(w.Owner, w.run(t, "make all", "/src"), edited)
	answer := models.DecisionInput{Answer: new("Blue."), Reason: "It is."}
	decide(w.Owner, w.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Which?"}, Options: []models.Option{{Name: "red"}, {Name: "blue"}}}), answer)
	_, err = w.Ask(ctx, w.Agent, models.AskInput{ToolName: "format", Explicit: true})
	storetest.Must(t, err)

	pay := w.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":5}`), RunID: "run-1", Explanation: models.Explanation{Description: "Pay."}})
	decide(finance, pay, storetest.Yes())
	step()
	_, err = w.Undo(ctx, finance, pay.ID)
	storetest.Must(t, err)
	decide(finance, pay, storetest.Yes())
	w.Clock.Step(time.Minute)
	w.release(t, 1)
	w.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":6}`), RunID: "run-1"})

	step()
	cy := storetest.Reviewer(t, w.Store, "cy@example.com")
	storetest.Must(t, w.People.JoinGroup(ctx, w.Admin, "treasury", cy.Name))
	storetest.Must(t, w.People.JoinGroup(ctx, w.Admin, "treasury", w.Stranger.Name))
	storetest.Must(t, w.People.LeaveGroup(ctx, w.Admin, "treasury", w.Stranger.UserID()))

	base := w.run(t, "go test", "/src")
	g := w.grant(t, base, 5, "cwd")
	w.run(t, "go vet", "/src")
	w.run(t, "go fmt", "/src")
	step()
	second := w.grant(t, w.run(t, "ls", "/etc"), 1, "command", "cwd")
	_, err = w.RevokeGrant(ctx, w.Owner, second.ID)
	storetest.Must(t, err)
	_ = g

	extended := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"extend"}`)})
	_, err = w.Extend(ctx, w.Owner, extended.ID, w.Clock.Now().Add(20*time.Minute))
	storetest.Must(t, err)
	_, err = w.AskBack(ctx, w.Owner, extended.ID, "Why?")
	storetest.Must(t, err)
	step()
	_, _, err = w.AnswerNote(ctx, w.Agent, extended.ID, "Because.")
	storetest.Must(t, err)
	_, err = w.AskBack(ctx, w.Owner, w.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"paused"}`)}).ID, "And this?")
	storetest.Must(t, err)
	cancelled := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"cancel"}`)})
	_, err = w.Cancel(ctx, w.Agent, cancelled.ID)
	storetest.Must(t, err)

	conv, _, err := w.OpenRun(ctx, w.Agent, models.RunInput{RunID: "batch", Title: "A batch", OnReject: models.OnRejectCascade, EnergyBudget: new(int64(50))})
	storetest.Must(t, err)
	loose := w.AskFor(t, models.AskInput{ToolName: "Bash", ToolUseID: "adopted", Input: []byte(`{"command":"adopt"}`)})
	first := w.AskFor(t, models.AskInput{ToolName: "Bash", ToolUseID: "one", RunID: "batch", Input: []byte(`{"command":"one"}`)})
	w.AskFor(t, models.AskInput{ToolName: "Bash", ToolUseID: "two", RunID: "batch", Input: []byte(`{"command":"two"}`)})
	w.Report(t, conv.ID, storetest.Reported("one", "Bash", `{"command":"one"}`), storetest.Reported("two", "Bash", `{"command":"two"}`), storetest.Reported("three", "Bash", `{}`),
		storetest.Reported("adopted", "Bash", `{"command":"adopt"}`), models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "A person said this."})
	decide(w.Owner, first, storetest.No("All of it."))
	_ = loose
	w.Report(t, conv.ID, storetest.Result("three"))
	_, err = w.ChangeBudget(ctx, w.Owner, conv.ID, models.BudgetChange{Set: new(int64(80))}, "More.")
	storetest.Must(t, err)
	_, err = w.Rename(ctx, w.Owner, conv.ID, "Another title")
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.Steer(ctx, w.Owner, conv.ID, models.SteerPause)))
	_, err = w.Respond(ctx, w.Agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindProposal, Content: "I would."})
	storetest.Must(t, err)
	_, err = w.Respond(ctx, w.Agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindReply, Content: "I did."})
	storetest.Must(t, err)
	_, err = w.Say(ctx, w.Owner, models.MessageInput{ConversationID: conv.ID, Content: "Go on."})
	storetest.Must(t, err)

	out := w.Taken(t, storetest.Call("out-1", "", "order", `{"n":1}`))
	w.Vote(t, out, storetest.Yes())
	w.Deliver(t, out, models.DeliveryTaken)
	w.Taken(t, storetest.Contact("out-2", "", "May I?"))
	storetest.Must(t, outside.New(w.Store).SetUpstreamKey(ctx, w.Admin, w.Up.ID, "another"))

	resting, _ := storetest.AgentToken(t, w.Store, w.Owner, "resting")
	working, _ := storetest.AgentToken(t, w.Store, w.Owner, "working")
	lifted, _, err := w.Stop(ctx, w.Admin, working.AgentID(), "Looks odd.")
	storetest.Must(t, err)
	step()
	storetest.Must(t, w.Lift(ctx, w.Admin, lifted.ID, "It was fine."))
	step()
	storetest.Must(t, storetest.Err3(w.Stop(ctx, w.Owner, resting.AgentID(), "Runs wild.")))

	late := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"late"}`), TimeoutSeconds: new(int64(5))})
	w.Clock.Step(10 * time.Second)
	_, err = w.ExpireDue(ctx, 10)
	storetest.Must(t, err)
	w.standsAs(t, late.ID, models.StatusExpired)
	w.UsePolicy(t, `{"undo_seconds":{"high":20},"rules":[]}`)
	return w
}

// hooks has endpoints in every state in which they can be.
func (w *outsideWorld) hooks(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	hook := func(name string) models.WebhookID {
		t.Helper()
		h, _, err := w.Webhooks.Add(ctx, w.Admin, models.WebhookInput{Name: name, URL: "https://hooks.example.com/x", Types: []string{"approval.approved"}})
		storetest.Must(t, err)
		w.Clock.Step(time.Second)
		return h.ID
	}
	running, paused, failing, removed := hook("running"), hook("paused"), hook("failing"), hook("removed")
	storetest.Must(t, w.Webhooks.Change(ctx, w.Admin, running, models.WebhookInput{Name: "copy", URL: "https://other.example.com/x", Types: []string{"approval.approved", "user.added"}}))
	storetest.Must(t, storetest.Err(w.Webhooks.Rotate(ctx, w.Admin, running)))
	storetest.Must(t, w.Webhooks.RetireOldKey(ctx, w.Admin, running))
	for range 2 {
		storetest.Must(t, w.Webhooks.Pause(ctx, w.Admin, running))
		storetest.Must(t, w.Webhooks.Resume(ctx, w.Admin, running))
		w.Clock.Step(time.Second)
	}
	storetest.Must(t, w.Webhooks.Pause(ctx, w.Admin, paused))
	refused := models.WebhookAnswer{Seq: 2, Type: "user.added", Class: models.SendUnavailable, Status: 503}
	lease, all := w.Lease(t, "webhooks"), []webhooks.Progress{{ID: failing, Cursor: 3, Pause: models.PausedFailing, Refuse: refused}}
	for _, id := range []models.WebhookID{running, removed} {
		at, err := w.Webhooks.Endpoints(ctx)
		storetest.Must(t, err)
		for _, e := range at {
			if e.ID == id {
				all = append(all, webhooks.Progress{ID: id, Position: e.Position, Cursor: 3, Blocks: []models.WebhookBlockRow{{
					Stream: "", NextSeq: 2, Type: "user.added", Since: w.Now(), DueAt: w.Now(), Attempts: 1, Class: models.SendRejected, Status: 422,
				}}})
			}
		}
	}
	stale, err := w.Webhooks.Keep(ctx, lease, all)
	if storetest.Must(t, err); len(stale) > 0 || len(all) != 3 {
		t.Fatalf("not kept: %v of %d", stale, len(all))
	}
	for _, id := range []models.WebhookID{running, removed} {
		storetest.Must(t, w.Webhooks.Skip(ctx, w.Admin, id, 2, "It can't be read."))
	}
	storetest.Must(t, w.Webhooks.Replay(ctx, w.Admin, running, models.WebhookFrom{Seq: 1}))
	storetest.Must(t, w.Webhooks.Remove(ctx, w.Admin, removed))
	w.Clock.Step(time.Second)
}

// proposes has a policy editor propose a change of the policy.
func (w *outsideWorld) proposes(t *testing.T) {
	t.Helper()
	editor := storetest.User(t, w.Store, "editor@example.com", models.RolePolicyEditor)
	standing, err := w.CurrentPolicy(t.Context())
	storetest.Must(t, err)
	room := drafts.New(w.Store)
	storetest.Must(t, storetest.Err(room.Keep(t.Context(), editor, standing.Version, 0, `{"unmatched":"require"}`)))
	storetest.Must(t, room.Propose(t.Context(), editor, 1, "Ask about everything."))
}
