package notify_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// What would end the same way again is given up at once, and counts towards a channel that
// fails; what asks for patience, or broke on the way, is tried again.
func TestWhatIsFinalIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		result models.SendResult
		tries  int // within a minute: at once, after 5 and 25 seconds
	}{
		{models.SendResult{Class: models.SendRefusedHost}, 1},
		{models.SendResult{Class: models.SendRedirect, Status: 302}, 1},
		{models.SendResult{Class: models.SendTooLarge, Status: 200}, 1},
		{models.SendResult{Class: models.SendNotConfigured}, 1},
		{models.SendResult{Class: models.SendRejected, Status: 400}, 1},
		{models.SendResult{Class: models.SendRejected, Status: 408}, 3},
		{models.SendResult{Class: models.SendRejected, Status: 425}, 3},
		{models.SendResult{Class: models.SendRejected, Status: 429}, 3},
		{models.SendResult{Class: models.SendNameNotFound}, 3},
		{models.SendResult{Class: models.SendConnect}, 3},
		{models.SendResult{Class: models.SendCertificate}, 3},
		{models.SendResult{Class: models.SendTimeout}, 3},
		{models.SendResult{Class: models.SendUnavailable, Status: 503}, 3},
	} {
		t.Run(fmt.Sprintf("%s %d", tt.result.Class, tt.result.Status), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ann := storetest.Reviewer(t, p.Store, "ann@example.com")
			p.mail(t, ann)
			p.settings(t, ann, onlyAtOnce)
			p.rule(t, models.RiskMedium, 60, ann.Name)
			p.post.fails[ann.Name] = tt.result
			p.ask(t)
			p.wait(t, time.Minute)
			if got := p.post.take(); len(got) != tt.tries {
				t.Fatalf("tried %d times, want %d", len(got), tt.tries)
			}
			for range models.FailuresUntilKnown {
				p.ask(t)
				p.wait(t, models.NoticePause)
			}
			if mine, err := p.People.Channels(t.Context(), ann); err != nil || mine[0].FailingSince == nil {
				t.Errorf("after %d failures it is not said to fail: %+v, %v", models.FailuresUntilKnown, mine, err)
			}
		})
	}
}

// A channel that has much to send and is slow keeps no other from its turn.
func TestASlowChannelIsOneOfTheDue(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	p.mail(t, ann)
	p.mail(t, bo)
	p.settings(t, ann, onlyAtOnce)
	p.settings(t, bo, onlyAtOnce)
	p.rule(t, models.RiskMedium, 600, ann.Name)
	for range 20 {
		p.ask(t)
		_, err := p.notices().Take(t.Context(), p.lease)
		storetest.Must(t, err)
		p.clock.Step(models.NoticePause)
	}
	p.rule(t, models.RiskMedium, 600, bo.Name)
	a := p.ask(t)
	_, err := p.notices().Take(t.Context(), p.lease)
	storetest.Must(t, err)
	due, _, err := p.notices().Due(t.Context(), 2)
	if err != nil || len(due) != 2 || due[1].ResponseID != a.ID {
		t.Errorf("due are %+v, %v", due, err)
	}
}

// A browser is told as long as the session lasts with which it was added, and of one person.
func TestABrowserEndsWithItsSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	target := models.ChannelTarget{
		URL: "https://push.example/one", P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg",
	}
	push := models.ChannelInput{Kind: models.ChannelWebPush, Target: target}
	kept := func(who models.Actor) (n int) {
		mine, err := p.People.Channels(t.Context(), who)
		storetest.Must(t, err)
		return len(mine)
	}
	session, _ := storetest.Session(t, p.Store, ann.Name)
	p.add(t, session, push)
	p.settings(t, ann, onlyAtOnce)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	p.ask(t)
	p.wait(t, 0)
	if got := p.post.take(); len(got) != 1 {
		t.Fatalf("told %v", got)
	}
	p.clock.Step(15 * 24 * time.Hour) // longer than a session
	p.ask(t)
	p.wait(t, 0)
	if got := p.post.take(); len(got) != 0 || kept(ann) != 0 {
		t.Fatalf("told %v, by %d channels, when the session was over", got, kept(ann))
	}

	again, _ := storetest.Session(t, p.Store, ann.Name)
	p.add(t, again, push)
	p.clock.Step(15 * 24 * time.Hour)
	storetest.Session(t, p.Store, bo.Name) // which forgets the sessions that are over
	if n := kept(ann); n != 0 {
		t.Errorf("%d browsers outlive their sessions", n)
	}

	first, _ := storetest.Session(t, p.Store, ann.Name)
	p.add(t, first, push)
	second, _ := storetest.Session(t, p.Store, ann.Name)
	p.add(t, second, push)
	storetest.Must(t, p.People.EndSession(t.Context(), second, first.SessionID))
	if n := kept(ann); n != 1 {
		t.Errorf("%d browsers of who has signed in again", n)
	}
	other, _ := storetest.Session(t, p.Store, bo.Name)
	p.add(t, other, push)
	if kept(ann) != 0 || kept(bo) != 1 {
		t.Errorf("%d and %d browsers, of one with which somebody else has signed in", kept(ann), kept(bo))
	}
}

// A clock that was ahead, and is right again, keeps nobody from being told.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, onlyAtOnce)
	p.rule(t, models.RiskMedium, 600, ann.Name)
	a := p.ask(t)
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
	storetest.Must(t, p.Saw(t.Context(), ann, a.ID))
	if _, err := storetest.Beside(t, p.Store).ExecContext(t.Context(), `UPDATE channels SET told_at = '2099-01-01 00:00:00+00:00'`); err != nil {
		t.Fatal(err)
	}
	b := p.ask(t)
	storetest.Must(t, p.Saw(t.Context(), ann, b.ID))
	for _, table := range []string{"seen", "desk_active"} {
		if _, err := storetest.Beside(t, p.Store).ExecContext(t.Context(), `UPDATE `+table+` SET active_at = '2099-01-01 00:00:00+00:00'`); err != nil {
			t.Fatal(err)
		}
	}
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
}

// What was put off to the end of quiet hours is looked at again when the deadline comes to be
// before it, and when the quiet hours change.
func TestWhatIsPutOffIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *place, models.Actor, *models.Approval){
		"a question is answered, and the clock goes on": func(t *testing.T, p *place, _ models.Actor, a *models.Approval) {
			t.Helper()
			_, _, err := p.AnswerNote(t.Context(), p.agent, a.ID, "Because.")
			storetest.Must(t, err)
		},
		"no more quiet hours": func(t *testing.T, p *place, ann models.Actor, _ *models.Approval) {
			t.Helper()
			p.settings(t, ann, onlyAtOnce)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ann := storetest.Reviewer(t, p.Store, "ann@example.com")
			noon := p.Now()
			p.mail(t, ann)
			p.settings(t, ann, quietAroundNoon)
			p.clock.Step(24*time.Hour - p.Now().Sub(noon))
			_, err := p.ApplyPolicy(t.Context(), p.admin, fmt.Appendf(nil, `{"approval_enabled":true,"max_pause_minutes":120,"rules":[
			 {"name":"all","tools":["/.*/"],"effect":"require","risk":"medium","timeout_minutes":50,"reviewers":[%q]}]}`, ann.Name), "test", 0)
			storetest.Must(t, err)
			a := p.ask(t)
			a, err = p.AskBack(t.Context(), p.admin, a.ID, "Why?") // which stops its clock
			storetest.Must(t, err)
			p.wait(t, 5*time.Minute)
			wantKinds(t, p.post.take())
			change(t, p, ann, a)
			p.wait(t, 0)
			if got := p.post.take(); len(got) != 1 || got[0].Request != a.ID {
				t.Errorf("told %v", got)
			}
		})
	}
}

// Whose agent asks is told, and is not among those who may approve where the rule says so:
// their being awake keeps nobody asleep.
func TestWhoMayNotApproveIsNotNamed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	noon := p.Now()
	p.mail(t, ann)
	p.mail(t, p.admin) // who owns the agent
	p.settings(t, p.admin, onlyAtOnce)
	p.settings(t, ann, quietAroundNoon)
	p.clock.Step(24*time.Hour - p.Now().Sub(noon))
	_, err := p.ApplyPolicy(t.Context(), p.admin, fmt.Appendf(nil, `{"approval_enabled":true,"rules":[
	 {"name":"all","tools":["/.*/"],"effect":"require","risk":"medium","timeout_minutes":30,"reviewers":[%q],"self_approval":"never"}]}`, ann.Name), "test", 0)
	storetest.Must(t, err)
	p.ask(t)
	p.wait(t, 0)
	got := p.post.take()
	if len(got) != 2 {
		t.Fatalf("told %v", got)
	}
	for _, m := range got {
		if len(m.Deciders) != 1 || m.Deciders[0] != ann.Name {
			t.Errorf("%s: %v may approve", m, m.Deciders)
		}
		if want := map[string]models.NoticeKind{ann.Name: models.NoticeBreakthrough, p.admin.Name: models.NoticeWaiting}[m.to]; m.Kind != want {
			t.Errorf("%s, want %s", m, want)
		}
	}
}

// The digest comes again when somebody who was disabled may sign in again.
func TestTheDigestOutlivesADisabling(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, func(s *models.NotificationSettings) { s.Moments, s.DigestAt = nil, "07:30" })
	_, err := p.People.DisableUser(t.Context(), p.admin, ann.UserID())
	storetest.Must(t, err)
	p.wait(t, 48*time.Hour)
	storetest.Must(t, p.People.EnableUser(t.Context(), p.admin, ann.UserID()))
	p.rule(t, models.RiskMedium, 24*60, ann.Name)
	p.ask(t)
	p.wait(t, 24*time.Hour)
	wantKinds(t, p.post.take(), "ann digest")
}

// Which requests a burst told of is noted when it was sent.
func TestABurstIsNotedWhenItWasSent(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, onlyAtOnce)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	for range 5 {
		p.ask(t)
	}
	sent := func() int {
		return storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM notified WHERE sent_at IS NOT NULL`)
	}
	sending := p.begun(t)
	if n := sent(); n != 0 {
		t.Errorf("%d are noted as told before that was sent", n)
	}
	storetest.Must(t, p.notices().End(t.Context(), p.lease, sending, models.SendResult{Class: models.SendSent}))
	if n := sent(); n != 5 {
		t.Errorf("%d are noted as told, want 5", n)
	}
}
