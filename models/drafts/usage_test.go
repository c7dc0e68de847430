package drafts_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// The tools that were seen are those of all agents in the last 90 days, each once.
func TestTheUsageOfAnInstallation(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	one, _ := storetest.AgentToken(t, s, admin, "one")
	two, _ := storetest.AgentToken(t, s, admin, "two")
	storetest.Reviewer(t, s, "bo@example.com")
	ask := func(who models.Actor, tool string) {
		t.Helper()
		_, err := s.Ask(t.Context(), who, models.AskInput{ToolName: tool})
		storetest.Must(t, err)
	}
	if got, err := d.Usage(t.Context(), admin); err != nil || len(got.Tools) > 0 || len(got.People) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	ask(one, "old")
	ask(one, "both")
	clock.Step(policy.UsageDays*24*time.Hour + time.Hour)
	for range 3 {
		ask(one, "pay")
		ask(two, "both")
	}
	ask(two, "read")
	got, err := d.Usage(t.Context(), admin)
	storetest.Must(t, err)
	if fmt.Sprint(got.Tools) != "[both pay read]" || got.More || got.People == nil {
		t.Errorf("%+v", got)
	}
	for name, who := range storetest.WhoMayNot(t, s) {
		wantCode(t, storetest.Err(d.Usage(t.Context(), who)), models.CodeForbidden)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
