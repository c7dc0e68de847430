package store_test

import (
	"testing"
	"time"

	"countersign/models"
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
	storetest.Must(t, w.People.AddGroup(ctx, w.admin, "treasury", "Who pays."))
	w.policy(t, rowsPolicy)
	step := func() { w.clock.Step(time.Second) }

	secret, _, err := w.People.Invite(ctx, w.admin, "new@example.com", models.RoleReviewer)
	storetest.Must(t, err)
	joined, err := w.People.Join(ctx, secret, "New", storetest.Password)
	storetest.Must(t, err)
	storetest.Must(t, w.People.SetPassword(ctx, w.admin, joined.ID, "another correct horse"))
	storetest.Must(t, w.People.SetRole(ctx, w.admin, joined.ID, models.RoleAdmin))
	step()
	_, err = w.People.DisableUser(ctx, w.admin, joined.ID)
	storetest.Must(t, err)
	storetest.Session(t, w.Store, "owner@example.com")
	storetest.ReviewerToken(t, w.Store, w.owner)
	_, token, err := w.People.AddToken(ctx, storetest.Operator(), people.NewToken{Scope: models.ScopeReviewer, Name: "old", UserID: w.owner.OwnerID, Expires: time.Hour})
	storetest.Must(t, err)
	storetest.Must(t, w.People.RevokeToken(ctx, w.owner, token.ID))

	for _, at := range []models.ClockTime{"07:30", "08:00"} {
		settings := models.DefaultNotificationSettings()
		settings.DigestAt = at
		storetest.Must(t, w.People.SetNotificationSettings(ctx, w.owner, settings))
	}
	for _, host := range []string{"ntfy.example.com", "hooks.example.com", "gone.example.com"} {
		storetest.Must(t, w.People.AllowHost(ctx, w.admin, host))
		step()
		if host != "ntfy.example.com" {
			storetest.Must(t, w.People.RemoveHost(ctx, w.admin, host))
		}
	}
	storetest.Must(t, w.People.AllowHost(ctx, w.admin, "hooks.example.com")) // again

	w.hooks(t)

	decide := func(who models.Actor, a *models.Approval, in models.DecisionInput) *models.Approval {
		t.Helper()
		step()
		in.Digest = a.Digest
		out, err := w.Decide(ctx, who, a.ID, in)
		storetest.Must(t, err)
		return out
	}
	decide(w.owner, w.run(t, "make", "/src"), yes())
	decide(w.owner, w.run(t, "rm -rf build", "/src"), no("Not now."))
	edited := yes()
	edited.Input = []byte(`{"command":"make -n","cwd":"/src"}`)
	decide(w.owner, w.run(t, "make all", "/src"), edited)
	answer := models.DecisionInput{Answer: new("Blue."), Reason: "It is."}
	decide(w.owner, w.ask(t, models.AskInput{Kind: models.KindQuestion, Description: "Which?", Options: []models.Option{{Name: "red"}, {Name: "blue"}}}), answer)
	_, err = w.Ask(ctx, w.agent, models.AskInput{ToolName: "format", Explicit: true})
	storetest.Must(t, err)

	pay := w.ask(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":5}`), RunID: "run-1", Description: "Pay."})
	decide(finance, pay, yes())
	step()
	_, err = w.Undo(ctx, finance, pay.ID)
	storetest.Must(t, err)
	decide(finance, pay, yes())
	w.clock.Step(time.Minute)
	w.release(t, 1)
	w.ask(t, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":6}`), RunID: "run-1"})

	step()
	cy := storetest.Reviewer(t, w.Store, "cy@example.com")
	storetest.Must(t, w.People.JoinGroup(ctx, w.admin, "treasury", cy.Name))
	storetest.Must(t, w.People.JoinGroup(ctx, w.admin, "treasury", w.stranger.Name))
	storetest.Must(t, w.People.LeaveGroup(ctx, w.admin, "treasury", w.stranger.UserID()))

	base := w.run(t, "go test", "/src")
	g := w.grant(t, base, 5, "cwd")
	w.run(t, "go vet", "/src")
	w.run(t, "go fmt", "/src")
	step()
	second := w.grant(t, w.run(t, "ls", "/etc"), 1, "command", "cwd")
	_, err = w.RevokeGrant(ctx, w.owner, second.ID)
	storetest.Must(t, err)
	_ = g

	extended := w.ask(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"extend"}`)})
	_, err = w.Extend(ctx, w.owner, extended.ID, w.clock.Now().Add(20*time.Minute))
	storetest.Must(t, err)
	_, err = w.AskBack(ctx, w.owner, extended.ID, "Why?")
	storetest.Must(t, err)
	step()
	_, _, err = w.AnswerNote(ctx, w.agent, extended.ID, "Because.")
	storetest.Must(t, err)
	_, err = w.AskBack(ctx, w.owner, w.ask(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"paused"}`)}).ID, "And this?")
	storetest.Must(t, err)
	cancelled := w.ask(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"cancel"}`)})
	_, err = w.Cancel(ctx, w.agent, cancelled.ID)
	storetest.Must(t, err)

	conv, _, err := w.OpenRun(ctx, w.agent, models.RunInput{RunID: "batch", Title: "A batch", OnReject: models.OnRejectCascade, EnergyBudget: new(int64(50))})
	storetest.Must(t, err)
	loose := w.ask(t, models.AskInput{ToolName: "Bash", ToolUseID: "adopted", Input: []byte(`{"command":"adopt"}`)})
	first := w.ask(t, models.AskInput{ToolName: "Bash", ToolUseID: "one", RunID: "batch", Input: []byte(`{"command":"one"}`)})
	w.ask(t, models.AskInput{ToolName: "Bash", ToolUseID: "two", RunID: "batch", Input: []byte(`{"command":"two"}`)})
	w.report(t, conv.ID, reported("one", "Bash", `{"command":"one"}`), reported("two", "Bash", `{"command":"two"}`), reported("three", "Bash", `{}`),
		reported("adopted", "Bash", `{"command":"adopt"}`), models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "A person said this."})
	decide(w.owner, first, no("All of it."))
	_ = loose
	w.report(t, conv.ID, result("three"))
	_, err = w.ChangeBudget(ctx, w.owner, conv.ID, models.BudgetChange{Set: new(int64(80))}, "More.")
	storetest.Must(t, err)
	_, err = w.Rename(ctx, w.owner, conv.ID, "Another title")
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.Steer(ctx, w.owner, conv.ID, models.SteerPause)))
	_, err = w.Respond(ctx, w.agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindProposal, Content: "I would."})
	storetest.Must(t, err)
	_, err = w.Respond(ctx, w.agent, models.ResponseInput{ConversationID: conv.ID, Kind: models.KindReply, Content: "I did."})
	storetest.Must(t, err)
	_, err = w.Say(ctx, w.owner, models.MessageInput{ConversationID: conv.ID, Content: "Go on."})
	storetest.Must(t, err)

	out := w.taken(t, call("out-1", "", "order", `{"n":1}`))
	w.vote(t, out, yes())
	w.deliver(t, out, models.DeliveryTaken)
	w.taken(t, contact("out-2", "", "May I?"))
	storetest.Must(t, w.SetUpstreamKey(ctx, w.admin, w.up.ID, "another"))

	resting, _ := storetest.AgentToken(t, w.Store, w.owner, "resting")
	working, _ := storetest.AgentToken(t, w.Store, w.owner, "working")
	lifted, _, err := w.Stop(ctx, w.admin, working.AgentID(), "Looks odd.")
	storetest.Must(t, err)
	step()
	storetest.Must(t, w.Lift(ctx, w.admin, lifted.ID, "It was fine."))
	step()
	storetest.Must(t, storetest.Err3(w.Stop(ctx, w.owner, resting.AgentID(), "Runs wild.")))

	late := w.ask(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"late"}`), TimeoutSeconds: new(int64(5))})
	w.clock.Step(10 * time.Second)
	_, err = w.ExpireDue(ctx, 10)
	storetest.Must(t, err)
	w.standsAs(t, late.ID, models.StatusExpired)
	w.policy(t, `{"undo_seconds":{"high":20},"rules":[]}`)
	return w
}

// hooks has endpoints in every state in which they can be.
func (w *outsideWorld) hooks(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	hook := func(name string) models.WebhookID {
		t.Helper()
		h, _, err := w.Webhooks.Add(ctx, w.admin, models.WebhookInput{Name: name, URL: "https://hooks.example.com/x", Types: []string{"approval.approved"}})
		storetest.Must(t, err)
		w.clock.Step(time.Second)
		return h.ID
	}
	running, paused, failing, removed := hook("running"), hook("paused"), hook("failing"), hook("removed")
	storetest.Must(t, w.Webhooks.Change(ctx, w.admin, running, models.WebhookInput{Name: "copy", URL: "https://other.example.com/x", Types: []string{"approval.approved", "user.added"}}))
	storetest.Must(t, storetest.Err(w.Webhooks.Rotate(ctx, w.admin, running)))
	storetest.Must(t, w.Webhooks.RetireOldKey(ctx, w.admin, running))
	for range 2 {
		storetest.Must(t, w.Webhooks.Pause(ctx, w.admin, running))
		storetest.Must(t, w.Webhooks.Resume(ctx, w.admin, running))
		w.clock.Step(time.Second)
	}
	storetest.Must(t, w.Webhooks.Pause(ctx, w.admin, paused))
	refused := models.WebhookAnswer{Seq: 2, Type: "user.added", Class: models.SendUnavailable, Status: 503}
	lease, all := w.lease(t, "webhooks"), []webhooks.Progress{{ID: failing, Cursor: 3, Pause: models.PausedFailing, Refuse: refused}}
	for _, id := range []models.WebhookID{running, removed} {
		at, err := w.Webhooks.Endpoints(ctx)
		storetest.Must(t, err)
		for _, e := range at {
			if e.ID == id {
				all = append(all, webhooks.Progress{ID: id, Position: e.Position, Cursor: 3, Blocked: []models.WebhookBlockRow{{
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
		storetest.Must(t, w.Webhooks.Skip(ctx, w.admin, id, 2, "It can't be read."))
	}
	storetest.Must(t, w.Webhooks.Replay(ctx, w.admin, running, models.WebhookFrom{Seq: 1}))
	storetest.Must(t, w.Webhooks.Remove(ctx, w.admin, removed))
	w.clock.Step(time.Second)
}
