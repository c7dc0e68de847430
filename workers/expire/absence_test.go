package expire_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

// The worker wakes when an absence begins and when it ends.
func TestOnceBeginsAndEndsAbsences(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	ann, eve := storetest.Reviewer(t, s, "ann@example.com"), storetest.Reviewer(t, s, "eve@example.com")
	agent, _ := storetest.AgentToken(t, s, ann, "bot")
	sub, err := s.AskSubstitute(t.Context(), ann, ann.UserID(), eve.UserID())
	storetest.Must(t, err)
	storetest.Must(t, s.AcceptSubstitute(t.Context(), admin, sub.ID))
	ask(t, s, agent, 3600)
	from := s.Now().Add(30 * time.Second)
	storetest.Must(t, storetest.Err(s.PlanAbsence(t.Context(), ann, models.AbsenceInput{UserID: ann.UserID(), From: from, Until: from.Add(20 * time.Second), Substitute: eve.UserID()})))
	for _, step := range []struct {
		passes, sleeps time.Duration
		has            int
	}{
		{0, 30 * time.Second, 0},
		{30 * time.Second, 20 * time.Second, 1},
		{19 * time.Second, time.Second, 1},
		{time.Second, time.Minute, 0},
	} {
		clock.Step(step.passes)
		sleep, err := expire.Once(t.Context(), s)
		n := storetest.Scalar[int](t, s, `SELECT count(*) FROM deciders WHERE user_id = ?`, eve.UserID())
		if err != nil || sleep != step.sleeps || n != step.has {
			t.Errorf("%v later: sleeps %v, %v, has %d; want %+v", step.passes, sleep, err, n, step)
		}
	}
}
