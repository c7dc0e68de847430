package notify_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// noon is the time at which the clock begins: quiet hours are put around it.
func quietAroundNoon(s *models.NotificationSettings) {
	onlyAtOnce(s)
	s.QuietFrom, s.QuietTo = "11:00", "13:00"
}

func TestQuietHoursPutOffWhatIsNotCritical(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
	noon := p.Now()
	p.mail(t, ann)
	p.mail(t, bo)
	p.clock.Step(24*time.Hour - p.Now().Sub(noon))
	p.settings(t, ann, quietAroundNoon)
	p.settings(t, bo, onlyAtOnce)
	p.rule(t, models.RiskHigh, 240, ann.Name, bo.Name)
	a := p.ask(t)
	for range 4 {
		p.ask(t)
	}
	_, err := p.Decide(t.Context(), bo, a.ID, decision(false))
	storetest.Must(t, err)
	p.wait(t, 59*time.Minute)
	wantKinds(t, p.post.take(), "bo burst")
	p.wait(t, time.Minute)
	got := p.post.take()
	wantKinds(t, got, "ann burst")
	if got[0].Count != 4 {
		t.Errorf("%d wait, though one is decided", got[0].Count)
	}
}

func TestCriticalBreaksThroughUnlessItMayNot(t *testing.T) {
	t.Parallel()
	for _, breaks := range []bool{true, false} {
		p := newPlace(t)
		ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
		noon := p.Now()
		p.mail(t, ann)
		p.mail(t, bo)
		p.clock.Step(24*time.Hour - p.Now().Sub(noon))
		p.settings(t, bo, onlyAtOnce)
		p.settings(t, ann, func(s *models.NotificationSettings) {
			quietAroundNoon(s)
			s.CriticalBreaksThrough = breaks
		})
		p.rule(t, models.RiskCritical, 10, ann.Name, bo.Name)
		p.ask(t)
		p.wait(t, 0)
		want := []string{"bo waiting"}
		if breaks {
			want = []string{"ann waiting", "bo waiting"}
		}
		wantKinds(t, p.post.take(), want...)
	}
}

// Where nobody would hear of a request before its deadline, it is told in quiet hours; who is
// awake for a minute of it is enough that it is not.
func TestWhatNobodyWouldHearOfBreaksThrough(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		minutes int
		other   func(*models.NotificationSettings) // nil: they have no channel
		want    []string
	}{
		{"all are quiet", 60, quietAroundNoon, []string{"ann breakthrough", "bo breakthrough"}},
		{"quiet hours end before the deadline", 61, quietAroundNoon, nil},
		{"the other is not quiet", 60, onlyAtOnce, []string{"bo waiting"}},
		{"the other has no channel", 60, nil, []string{"ann breakthrough"}},
		{"the other wants to be told nothing", 60, func(s *models.NotificationSettings) { s.Moments = nil }, []string{"ann breakthrough"}},
		{"the other's quiet hours end in time", 60, func(s *models.NotificationSettings) {
			quietAroundNoon(s)
			s.QuietTo = "12:59"
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			ann, bo := storetest.Reviewer(t, p.Store, "ann@example.com"), storetest.Reviewer(t, p.Store, "bo@example.com")
			noon := p.Now()
			p.mail(t, ann)
			if test.other != nil {
				p.mail(t, bo)
				p.settings(t, bo, test.other)
			}
			p.settings(t, ann, quietAroundNoon)
			p.clock.Step(24*time.Hour - p.Now().Sub(noon))
			p.rule(t, models.RiskMedium, test.minutes, ann.Name, bo.Name)
			p.ask(t)
			p.wait(t, 0)
			wantKinds(t, p.post.take(), test.want...)
		})
	}
}

// An outcome wakes nobody.
func TestOutcomesWaitForTheEndOfQuietHours(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	noon := p.Now()
	p.mail(t, ann)
	p.clock.Step(23*time.Hour - p.Now().Sub(noon) - time.Minute)
	p.settings(t, ann, quietAroundNoon)
	p.rule(t, models.RiskMedium, 600, ann.Name)
	a := p.ask(t)
	p.wait(t, 2*time.Minute)
	wantKinds(t, p.post.take(), "ann waiting")
	_, err := p.Decide(t.Context(), p.admin, a.ID, decision(false))
	storetest.Must(t, err)
	p.wait(t, 118*time.Minute)
	wantKinds(t, p.post.take())
	p.wait(t, time.Minute)
	wantKinds(t, p.post.take(), "ann settled")
}
