package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// A request is told at once, at half and at a tenth of its time, and what became of it; each
// message belongs to the request, and has nothing of what the agent sent.
func TestARequestIsToldAndItsOutcome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskHigh, 10, ann.Name)
	a := p.ask(t)
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
	p.wait(t, 5*time.Minute)
	wantKinds(t, p.post.take(), "ann half")
	p.wait(t, 4*time.Minute)
	got := p.post.take()
	wantKinds(t, got, "ann tenth")
	n := got[0].Notice
	if n.Request != a.ID || n.Agent != "bot" || n.Tool != "Bash" || n.Risk != models.RiskHigh || n.Left != time.Minute || n.URL == "" || n.SettingsURL == "" ||
		strings.Join(n.Deciders, " ") != p.admin.Name+" "+ann.Name {
		t.Errorf("%+v", n)
	}
	_, err := p.Decide(t.Context(), p.admin, a.ID, decision(false))
	storetest.Must(t, err)
	p.wait(t, 0)
	got = p.post.take()
	wantKinds(t, got, "ann settled")
	if got[0].Outcome != "rejected" || got[0].By != p.admin.Name || got[0].Request != a.ID {
		t.Errorf("%+v", got[0])
	}
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take())
}

func TestWhoDecidedIsNotToldOfIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 10, ann.Name)
	a := p.ask(t)
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
	_, err := p.Decide(t.Context(), ann, a.ID, decision(false))
	storetest.Must(t, err)
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take())
}

// What is moved in time moves its moments; what stops the clock stops them.
func TestMomentsMoveWithTheDeadline(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskHigh, 10, ann.Name)
	a := p.ask(t)
	begun := p.Now()
	p.wait(t, time.Minute)
	wantKinds(t, p.post.take(), "ann waiting")
	_, err := p.Extend(t.Context(), ann, a.ID, begun.Add(20*time.Minute))
	storetest.Must(t, err)
	p.until(t, begun.Add(9*time.Minute))
	wantKinds(t, p.post.take())
	p.until(t, begun.Add(10*time.Minute))
	wantKinds(t, p.post.take(), "ann half")
	p.until(t, begun.Add(18*time.Minute))
	wantKinds(t, p.post.take(), "ann tenth")
}

// More than three that are due together are one message, and a channel that was told waits.
func TestABurstIsOneMessage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, onlyAtOnce)
	p.rule(t, models.RiskMedium, 10, ann.Name)
	for range 3 {
		p.ask(t)
	}
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting", "ann waiting", "ann waiting")
	for range 500 {
		p.ask(t)
	}
	p.wait(t, 59*time.Second)
	wantKinds(t, p.post.take())
	p.wait(t, time.Second)
	got := p.post.take()
	wantKinds(t, got, "ann burst")
	if got[0].Count != 503 || got[0].First != 9*time.Minute || got[0].Request != "" {
		t.Errorf("%+v", got[0])
	}
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take(), "ann settled", "ann settled", "ann settled")
}

// Who is active at the desk is sent nothing; what still waits when they have left is told then.
func TestWhoIsAtTheDeskIsSentNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	p.mail(t, ann)
	p.mail(t, bo)
	p.settings(t, ann, onlyAtOnce)
	p.settings(t, bo, onlyAtOnce)
	p.rule(t, models.RiskCritical, 60, ann.Name, bo.Name)
	for range 10 {
		storetest.Must(t, p.AtDesk(t.Context(), ann))
		a := p.ask(t)
		p.wait(t, 30*time.Second)
		_, err := p.Decide(t.Context(), p.admin, a.ID, decision(false))
		storetest.Must(t, err)
	}
	for _, m := range p.post.take() {
		if m.to == ann.Name {
			t.Fatalf("told at the desk: %v", m)
		}
	}
	p.wait(t, 2*models.NoticePause)
	p.post.take()
	storetest.Must(t, p.AtDesk(t.Context(), ann))
	p.ask(t)
	p.wait(t, models.ActiveFor-time.Second)
	wantKinds(t, p.post.take(), "bo waiting")
	p.wait(t, 2*time.Second)
	wantKinds(t, p.post.take(), "ann waiting")
	if err := p.AtDesk(t.Context(), p.agent); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("an agent is at the desk: %v", err)
	}
}

// Of many that come all the time there is a message when they have doubled or a worse one
// comes, not one a minute; it names the worst risk.
func TestManyAreToldAsTheyGrow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, onlyAtOnce)
	p.rule(t, models.RiskMedium, 600, ann.Name)
	minute := func(n int) []message {
		for range n {
			p.ask(t)
		}
		p.wait(t, time.Minute+time.Second)
		return p.post.take()
	}
	got := minute(8)
	wantKinds(t, got, "ann burst")
	if got[0].Count != 8 || got[0].Risk != models.RiskMedium {
		t.Errorf("%+v", got[0])
	}
	wantKinds(t, minute(4)) // 4 more are not as many again
	got = minute(4)
	wantKinds(t, got, "ann burst")
	if got[0].Count != 16 {
		t.Errorf("%+v", got[0])
	}
	wantKinds(t, minute(5))
	p.rule(t, models.RiskHigh, 600, ann.Name)
	got = minute(1)
	wantKinds(t, got, "ann burst")
	if got[0].Count != 22 || got[0].Risk != models.RiskHigh {
		t.Errorf("%+v", got[0])
	}
	wantKinds(t, minute(5))
	p.wait(t, models.BurstPause)
	wantKinds(t, p.post.take(), "ann burst") // what is left of them, once
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take())
}

// A channel without threads gets one message for each request.
func TestAChannelWithoutThreadsIsToldOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.add(t, ann, models.ChannelInput{Kind: models.ChannelSlack, Target: models.ChannelTarget{URL: "https://hooks.slack.example/services/T0/B0/x"}})
	p.rule(t, models.RiskHigh, 10, ann.Name)
	p.ask(t)
	p.wait(t, time.Hour)
	if got := p.post.take(); len(got) != 1 || got[0].Kind != models.NoticeWaiting {
		t.Errorf("%v", got)
	}
}

// Nobody is told of what they have before them, nor reminded of what they have looked at.
func TestWhoLooksAtItIsNotTold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, func(s *models.NotificationSettings) {
		s.Moments[models.RiskMedium] = models.Moments{AtOnce: true, UnseenMinutes: 3, Half: true}
	})
	p.rule(t, models.RiskMedium, 10, ann.Name)
	a, begun := p.ask(t), p.Now()
	storetest.Must(t, p.Saw(t.Context(), ann, a.ID))
	p.until(t, begun.Add(4*time.Minute))
	wantKinds(t, p.post.take())
	p.until(t, begun.Add(5*time.Minute))
	wantKinds(t, p.post.take(), "ann half") // not active for a minute
	b, begun := p.ask(t), p.Now()
	p.until(t, begun.Add(3*time.Minute))
	wantKinds(t, p.post.take(), "ann waiting", "ann unseen")
	p.clock.Step(time.Minute + 30*time.Second)
	storetest.Must(t, p.Saw(t.Context(), ann, b.ID))
	p.until(t, begun.Add(6*time.Minute))
	for _, m := range p.post.take() {
		if m.Request == b.ID {
			t.Errorf("told of what they have before them: %v", m)
		}
	}
}

func TestTheDigestComesEachMorningThatSomethingWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, func(s *models.NotificationSettings) {
		s.Moments, s.DigestAt, s.Zone = nil, "07:30", "Europe/Vienna"
	})
	p.rule(t, models.RiskMedium, 24*60, ann.Name)
	begun := p.Now()
	p.until(t, begun.Add(36*time.Hour))
	wantKinds(t, p.post.take()) // nothing waits
	p.ask(t)
	p.ask(t)
	p.until(t, begun.Add(60*time.Hour))
	got := p.post.take()
	wantKinds(t, got, "ann digest")
	if at := got[0].when.Format("15:04"); at != "06:30" || got[0].Count != 2 {
		t.Errorf("at %s UTC: %+v", at, got[0])
	}
}

// Whatever an agent sends beside the names of itself and its tool is in no message.
func TestNoMessageHasAnythingOfTheRequest(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, func(s *models.NotificationSettings) { s.DigestAt = "00:00" })
	p.rule(t, models.RiskHigh, 10, ann.Name)
	for range 5 {
		p.ask(t)
	}
	p.wait(t, 24*time.Hour)
	sent := p.post.take()
	if len(sent) == 0 {
		t.Fatal("nothing was sent")
	}
	for _, m := range sent {
		raw, err := json.Marshal(m.Notice)
		storetest.Must(t, err)
		if strings.Contains(string(raw), secret) || m.Headline != "" {
			t.Errorf("a message tells more than it may: %s", raw)
		}
	}
}
