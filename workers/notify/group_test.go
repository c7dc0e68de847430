package notify_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func (p *place) group(t *testing.T, name string, members ...models.Actor) models.GroupID {
	t.Helper()
	storetest.Must(t, p.People.AddGroup(t.Context(), p.admin, name, ""))
	for _, m := range members {
		storetest.Must(t, p.People.JoinGroup(t.Context(), p.admin, name, m.Name))
	}
	g, _, err := p.People.Group(t.Context(), p.admin, name)
	storetest.Must(t, err)
	return g.ID
}

// A group is told of what a rule asks its members, and its members by their own channels; who
// joins is told of what waits, and who leaves no more.
func TestAGroupIsToldOfWhatItsMembersAreAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	id := p.group(t, "finance", ann)
	p.mail(t, ann)
	p.mail(t, bo)
	p.add(t, p.admin, models.ChannelInput{Group: id, Kind: models.ChannelWebhook, Label: "finance", Target: models.ChannelTarget{URL: "https://hook.example/finance"}})
	p.rule(t, models.RiskMedium, 60, "group:finance")
	p.ask(t)
	p.wait(t, 0)
	if got := byAddress(p.post.take()); got["ann@example.com"] != 1 || got["https://hook.example/finance"] != 1 || len(got) != 2 {
		t.Fatalf("told %v", got)
	}
	storetest.Must(t, p.People.JoinGroup(t.Context(), p.admin, "finance", bo.Name))
	storetest.Must(t, p.People.LeaveGroup(t.Context(), p.admin, "finance", ann.UserID()))
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "bo waiting")
	p.wait(t, 55*time.Minute)
	if got := byAddress(p.post.take()); got["ann@example.com"] != 0 || got["bo@example.com"] != 1 || got["https://hook.example/finance"] != 1 {
		t.Fatalf("told %v", got)
	}
}

func byAddress(got []message) map[string]int {
	out := map[string]int{}
	for _, m := range got {
		out[m.to]++
	}
	return out
}

// An edit that others must approve is told to these, and not again to whom it waits for anyway.
func TestAnEditIsToldToWhomItIsHanded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	p.mail(t, ann)
	p.mail(t, bo)
	doc := `{"approval_enabled":true,"rules":[
	 {"name":"large","tools":["pay"],"when":"input.amount > 100","effect":"require","risk":"medium","reviewers":["bo@example.com"],"reviewers_only":true},
	 {"name":"all","tools":["pay"],"effect":"require","risk":"medium","timeout_minutes":60,"reviewers":["ann@example.com"]}]}`
	_, err := p.ApplyPolicy(t.Context(), p.admin, []byte(doc), "test", 0)
	storetest.Must(t, err)
	a, err := p.Ask(t.Context(), p.agent, models.AskInput{ToolName: "pay", Input: []byte(`{"amount":1}`), AcceptsEdits: true})
	storetest.Must(t, err)
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
	edit := decision(true)
	edit.Input = []byte(`{"amount":1000}`)
	if a, err = p.Decide(t.Context(), ann, a.ID, edit); err != nil || a.Vote == nil || a.Vote.WaitsFor == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	p.wait(t, 2*time.Minute)
	wantKinds(t, p.post.take(), "bo waiting")
}

// Who is disabled is told nothing more, and the browsers of who signs out neither.
func TestSigningOutAndDisablingForgetBrowsers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	first, _ := storetest.Session(t, p.Store, ann.Name)
	second, _ := storetest.Session(t, p.Store, ann.Name)
	push := func(who models.Actor, url string) {
		p.add(t, who, models.ChannelInput{Kind: models.ChannelWebPush, Target: models.ChannelTarget{
			URL: url, P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg",
		}})
	}
	push(first, "https://push.example/first")
	push(second, "https://push.example/second")
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	storetest.Must(t, p.People.EndSession(t.Context(), second, first.SessionID))
	p.ask(t)
	p.wait(t, 0)
	if got := byAddress(p.post.take()); got["https://push.example/first"] != 0 || got["https://push.example/second"] != 1 || got[ann.Name] != 1 {
		t.Fatalf("told %v", got)
	}
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM channels WHERE kind = 'web_push' AND target_sealed IS NOT NULL`); n != 1 {
		t.Errorf("%d subscriptions are kept, want that of the open session", n)
	}
	p.clock.Step(30 * 24 * time.Hour) // all sessions are over
	fourth, _ := storetest.Session(t, p.Store, ann.Name)
	push(fourth, "https://push.example/fourth")
	storetest.Must(t, storetest.Err(p.People.EndOtherSessions(t.Context(), fourth)))
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM channels WHERE kind = 'web_push' AND target_sealed IS NOT NULL AND session_id = ?`, fourth.SessionID); n != 1 {
		t.Error("the browser that ended the others is forgotten")
	}
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM channels WHERE kind = 'web_push' AND target_sealed IS NOT NULL`); n != 1 {
		t.Errorf("%d subscriptions are kept, want one: those of sessions that were over go too", n)
	}
	p.ask(t)
	_, err := p.People.DisableUser(t.Context(), p.admin, ann.UserID())
	storetest.Must(t, err)
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take())
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM channels WHERE kind = 'web_push' AND target_sealed IS NOT NULL`); n != 0 {
		t.Errorf("%d subscriptions of a disabled person are kept", n)
	}
}
