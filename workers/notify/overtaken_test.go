package notify_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// begun puts a message on its way, and begins to send it.
func (p *place) begun(t *testing.T) *models.Sending {
	t.Helper()
	_, err := p.notices().Take(t.Context(), p.lease)
	storetest.Must(t, err)
	due, _, err := p.notices().Due(t.Context(), 10)
	storetest.Must(t, err)
	if len(due) != 1 {
		t.Fatalf("%d messages are due", len(due))
	}
	sending, err := p.notices().Begin(t.Context(), p.lease, due[0].ID)
	storetest.Must(t, err)
	return sending
}

// What is decided while a message about it is under way is told behind it, but not to who
// decided; a message that was not begun is not sent.
func TestAnOutcomeOvertakesItsMessage(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"ann", "admin"} {
		p := newPlace(t)
		ann := storetest.Reviewer(t, p.Store, "ann@example.com")
		p.mail(t, ann)
		p.settings(t, ann, onlyAtOnce)
		p.rule(t, models.RiskMedium, 60, ann.Name)
		a := p.ask(t)
		sending := p.begun(t)
		decider := map[string]models.Actor{"ann": ann, "admin": p.admin}[by]
		_, err := p.Decide(t.Context(), decider, a.ID, decision(false))
		storetest.Must(t, err)
		storetest.Must(t, p.notices().End(t.Context(), p.lease, sending, models.SendResult{Class: models.SendSent}))
		p.wait(t, time.Hour)
		if by == "ann" {
			wantKinds(t, p.post.take())
		} else {
			wantKinds(t, p.post.take(), "ann settled")
		}

		b := p.ask(t)
		_, err = p.notices().Take(t.Context(), p.lease)
		storetest.Must(t, err)
		_, err = p.Decide(t.Context(), p.admin, b.ID, decision(false))
		storetest.Must(t, err)
		p.wait(t, time.Hour)
		wantKinds(t, p.post.take())
	}
}

// While a decision may still be undone nobody is asked for another; then it waits again.
func TestNobodyIsToldOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.settings(t, ann, func(s *models.NotificationSettings) { s.Moments[models.RiskMedium] = models.Moments{Half: true} })
	_, err := p.ApplyPolicy(t.Context(), p.admin, []byte(`{"approval_enabled":true,"undo_seconds":{"medium":30},
	 "rules":[{"name":"all","tools":["/.*/"],"effect":"require","risk":"medium","timeout_minutes":10,"reviewers":["ann@example.com"]}]}`), "test", 0)
	storetest.Must(t, err)
	a := p.ask(t)
	p.wait(t, 4*time.Minute+50*time.Second)
	held, err := p.Decide(t.Context(), p.admin, a.ID, decision(true))
	if err != nil || held.HeldUntil == nil {
		t.Fatalf("%+v, %v", held, err)
	}
	p.wait(t, 15*time.Second)
	wantKinds(t, p.post.take())
	_, err = p.Undo(t.Context(), p.admin, a.ID)
	storetest.Must(t, err)
	p.wait(t, time.Minute)
	wantKinds(t, p.post.take(), "ann half")
}

// Who leaves a group before a message about its requests is sent, or its outcome, is told
// neither.
func TestWhoLeavesAGroupIsToldNoMore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	p.group(t, "finance", ann, bo)
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 60, "group:finance")
	a := p.ask(t)
	p.wait(t, 0)
	wantKinds(t, p.post.take(), "ann waiting")
	p.clock.Step(models.NoticePause)
	p.ask(t)
	_, err := p.notices().Take(t.Context(), p.lease)
	storetest.Must(t, err)
	storetest.Must(t, p.People.LeaveGroup(t.Context(), p.admin, "finance", ann.UserID()))
	_, err = p.Decide(t.Context(), p.admin, a.ID, decision(false))
	storetest.Must(t, err)
	p.wait(t, time.Hour)
	wantKinds(t, p.post.take())
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM notified WHERE waiting`); n != 0 {
		t.Errorf("%d are still counted as waiting", n)
	}
}
