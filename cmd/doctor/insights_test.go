package doctor_test

import (
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// Sums that are wrong are found, and made again from the rows.
func TestSumsAreMadeAnew(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, storetest.Reviewer(t, s, "owner@example.com"), "bot")
	storetest.Must(t, storetest.Err(s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Explicit: true})))
	clock.Step(48 * time.Hour)
	for done := true; done; {
		var err error
		done, err = s.Insights.SumNext(t.Context(), time.UTC)
		storetest.Must(t, err)
	}
	storetest.Must(t, s.Close())
	fix := func() string { return process.Must(t, "", "doctor", "--fix", "insights", "--data", dir) }
	if said := fix(); !strings.HasSuffix(said, " Those that there were are the same.\n") {
		t.Error(said)
	}
	process.Infect(t, dir, `UPDATE insights SET figures = '{}' WHERE span = 'day' AND about = 'tool:deploy' AND begins_at LIKE '2026-03-02%'`)
	if said := fix(); !strings.Contains(said, "Those that begin at 2026-03-02 00:00 were wrong.") {
		t.Error(said)
	}
	if said := fix(); !strings.HasSuffix(said, " Those that there were are the same.\n") {
		t.Error(said)
	}
	if _, said, code := process.Run(t, "", "doctor", "--fix", "everything", "--data", dir); code == 0 || !strings.Contains(said, "--fix: want insights") {
		t.Errorf("%d: %s", code, said)
	}
}
