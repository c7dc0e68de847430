package drafts_test

import (
	"maps"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/storetest"
)

func TestCallsOfRulesAreCounted(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "one")
	_, err := s.ApplyPolicy(t.Context(), admin, []byte(`{"rules": [{"name": "reads", "tools": ["read"], "effect": "allow"}, {"name": "pays", "tools": ["pay"], "effect": "require"}]}`), "test", 0)
	storetest.Must(t, err)
	ask := func(tool string) {
		t.Helper()
		storetest.Must(t, storetest.Err(s.Ask(t.Context(), agent, models.AskInput{ToolName: tool})))
	}
	ask("pay")
	clock.Step(8 * 24 * time.Hour)
	for range 3 {
		ask("read")
	}
	ask("pay")
	got, whole, err := d.RecentCalls(t.Context(), admin, s.Now().Add(-7*24*time.Hour))
	storetest.Must(t, err)
	if !maps.Equal(got, map[string]int{"reads": 3, "pays": 1}) || !whole {
		t.Errorf("%v, whole %v", got, whole)
	}
	for _, who := range storetest.WhoMayNot(t, s) {
		_, _, err := d.RecentCalls(t.Context(), who, s.Now())
		wantCode(t, err, models.CodeForbidden)
	}
}
