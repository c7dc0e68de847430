package expire_test

import (
	"testing"
	"time"

	"countersign/models/storetest"
	"countersign/workers/expire"
)

// The worker wakes at each step of an escalation, and steps that came while it did not run are
// taken at once.
func TestOnceAsksFurtherPeopleAtTheirTime(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	eve := storetest.Reviewer(t, s, "eve@example.com")
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	storetest.Must(t, storetest.Err(s.ApplyPolicy(t.Context(), admin, []byte(`{"rules":[{"name":"r","tools":["deploy"],"effect":"require","timeout_minutes":60,
 "escalate":[{"after_minutes":1,"to":["admin@example.com"]},{"after_minutes":2,"to":["eve@example.com"]}]}]}`), "test", 0)))
	ask(t, s, agent, 3600)
	asked := func() int {
		return storetest.Scalar[int](t, s, `SELECT count(*) FROM deciders WHERE user_id = ?`, eve.UserID())
	}
	for _, step := range []struct {
		passes, sleeps time.Duration
		asked          int
	}{
		{0, time.Minute, 0},
		{59 * time.Second, time.Second, 0},
		{time.Second, time.Minute, 0},
		{2 * time.Minute, time.Minute, 1},
	} {
		clock.Step(step.passes)
		sleep, err := expire.Once(t.Context(), s)
		if n := asked(); err != nil || sleep != step.sleeps || n != step.asked {
			t.Errorf("%v later: sleeps %v, %v, asked %d; want %+v", step.passes, sleep, err, n, step)
		}
	}
}
