package insights_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/figures"
	"countersign/models/insights"
	"countersign/models/store"
	"countersign/models/storetest"
)

// Contents that are removed while their day is summed are not in the sum.
func TestWhatIsOutdatedMeanwhileIsNotKept(t *testing.T) {
	t.Parallel()
	var meanwhile func()
	b := storetest.NewBench(t, func(o *store.Options) {
		o.BeforeRead = func(text string) {
			if do := meanwhile; do != nil && strings.Contains(text, "FROM responses r") {
				meanwhile = nil
				do()
			}
		}
	})
	a := b.AskFor(t, models.AskInput{ToolName: "pay", RunID: "run"})
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.No("My salary is 4,711."))))
	b.Clock.Step(24 * time.Hour)
	reasons := func() int {
		return storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE figures LIKE '%4,711%'`)
	}
	sum := func() bool {
		done, err := b.Insights.SumNext(t.Context(), time.UTC)
		storetest.Must(t, err)
		return done
	}
	meanwhile = func() { storetest.Purge(t, b.Store, models.PurgeQuery{Before: b.Store.Now()}) }
	for sum() {
	}
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE about = 'tool:pay'`); meanwhile != nil || n != 1 || reasons() != 0 {
		t.Errorf("summed %d, with the reason: %d", n, reasons())
	}
}

// A day that is outdated after the next was chosen leaves no sum that goes on from what it said.
func TestADayIsNotSummedAfterAnOutdatedOne(t *testing.T) {
	t.Parallel()
	var meanwhile func()
	clock := storetest.NewClock()
	b := storetest.NewBench(t, func(o *store.Options) {
		o.Now = func() time.Time {
			if do := meanwhile; do != nil {
				meanwhile = nil
				do()
			}
			return clock.Now()
		}
	})
	b.AskFor(t, models.AskInput{ToolName: "pay"})
	first := clock.Now()
	clock.Step(50 * time.Hour)
	sum := func() {
		done, err := b.Insights.SumNext(t.Context(), time.UTC)
		if storetest.Must(t, err); !done {
			t.Error("nothing was due")
		}
	}
	sums := func() int {
		return storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE span = 'day' AND about = '' AND figures <> ''`)
	}
	sum()
	meanwhile = func() {
		storetest.Must(t, b.DB().Write(t.Context(), func(t *db.Tx) error { return insights.Outdate(t, first, t.Now) }))
	}
	sum()
	if n := sums(); meanwhile != nil || n != 0 {
		t.Errorf("%d days are summed, and the first is outdated", n)
	}
	sum()
	sum()
	if n := sums(); n != 2 {
		t.Errorf("%d days are summed again, want both", n)
	}
}

// Contents that are removed later leave the sums in the same transaction, and the days are summed again.
func TestARemovedReasonLeavesTheSums(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	a := b.AskFor(t, models.AskInput{ToolName: "pay", RunID: "run"})
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.No("My salary is 4,711."))))
	b.Clock.Step(40 * 24 * time.Hour) // a month ends too
	sum := func() {
		for done := true; done; {
			var err error
			done, err = b.Insights.SumNext(t.Context(), time.UTC)
			storetest.Must(t, err)
		}
	}
	with := func(part string) int {
		return storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE about IN ('', 'tool:pay') AND figures LIKE ?`, "%"+part+"%")
	}
	sum()
	if n := with("4,711"); n != 4 {
		t.Errorf("%d sums have the reason, want those of the day and the month", n)
	}
	storetest.Purge(t, b.Store, models.PurgeQuery{Before: b.Store.Now()})
	if n := with("4,711"); n != 0 {
		t.Errorf("%d sums have it still", n)
	}
	report := func() *figures.Report {
		got, err := b.Insights.Report(t.Context(), b.Admin, insights.Query{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC), Zone: time.UTC})
		storetest.Must(t, err)
		return got
	}
	if got := report(); got.Missing != 1 {
		t.Errorf("%d days are missing, want the outdated one", got.Missing)
	}
	sum()
	if got := report(); got.Missing != 0 || got.Total.Requests() != 1 || len(got.Total.Reasons) != 0 {
		t.Errorf("summed again: %+v", got)
	}
}

// A sum is there whole, or not at all: whatever statement fails, it is made later.
func TestASumIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	b.AskFor(t, models.AskInput{ToolName: "pay"})
	b.Clock.Step(48 * time.Hour)
	for _, when := range []string{"NEW.about = ''", "NEW.about = 'tool:pay'"} {
		mend := dbtest.Break(t, storetest.Beside(t, b.Store), "INSERT", "insights", when, "the disk is gone")
		_, err := b.Insights.SumNext(t.Context(), time.UTC)
		if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE span <> ''`); err == nil || n != 0 {
			t.Errorf("%s: %v, %d rows", when, err, n)
		}
		mend()
	}
	storetest.Must(t, storetest.Err(b.Insights.SumNext(t.Context(), time.UTC)))
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM insights WHERE span = 'day' AND about = 'tool:pay'`); n != 1 {
		t.Errorf("mended: %d rows", n)
	}
}

// Days are those of the policy's zone: another sums all again, and until then no day is said.
func TestAnotherZoneSumsAnew(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	b.AskFor(t, models.AskInput{ToolName: "pay"})
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	storetest.Must(t, err)
	b.Clock.Step(48 * time.Hour)
	sum := func(zone *time.Location) {
		for done := true; done; {
			done, err = b.Insights.SumNext(t.Context(), zone)
			storetest.Must(t, err)
		}
	}
	sum(time.UTC)
	of := func(zone *time.Location) *figures.Report {
		got, err := b.Insights.Report(t.Context(), b.Admin, insights.Query{From: time.Date(2026, 3, 1, 0, 0, 0, 0, zone), To: time.Date(2026, 3, 4, 23, 0, 0, 0, zone), Zone: zone})
		storetest.Must(t, err)
		return got
	}
	if got := of(time.UTC); got.Missing != 0 || got.Total.Hours[12].Asked != 1 {
		t.Errorf("UTC: %+v", got)
	}
	if got := of(tokyo); got.Missing != 4 {
		t.Errorf("before it is summed: %+v", got)
	}
	sum(tokyo)
	if got := of(tokyo); got.Missing != 0 || got.Total.Hours[21].Asked != 1 {
		t.Errorf("Tokyo: %+v", got)
	}
	zones := storetest.Column(t, b.Store, `SELECT DISTINCT zone FROM insights WHERE span <> ''`)
	if !slices.Equal(zones, []string{"Asia/Tokyo"}) {
		t.Errorf("zones %q", zones)
	}
}

// Whoever oversees nothing looks back on their own agents and on what they decided.
func TestPeopleLookBackOnTheirOwn(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	b.AskFor(t, models.AskInput{ToolName: "pay"})
	rule := "r"
	for name, q := range map[string]struct {
		q       insights.Query
		allowed []models.Actor
	}{
		"all":          {insights.Query{}, []models.Actor{b.Admin}},
		"own agent":    {insights.Query{Agent: b.Agent.AgentID()}, []models.Actor{b.Admin, b.Owner}},
		"own agents":   {insights.Query{Agents: []models.AgentID{b.Agent.AgentID()}}, []models.Actor{b.Admin, b.Owner}},
		"others' too":  {insights.Query{Agents: []models.AgentID{b.Agent.AgentID(), b.Other.AgentID()}}, []models.Actor{b.Admin}},
		"a tool":       {insights.Query{Tool: "pay"}, []models.Actor{b.Admin}},
		"a rule":       {insights.Query{Rule: &rule}, []models.Actor{b.Admin}},
		"oneself":      {insights.Query{Person: b.Owner.UserID()}, []models.Actor{b.Admin, b.Owner}},
		"a group":      {insights.Query{People: []models.UserID{b.Owner.UserID()}}, []models.Actor{b.Admin}},
		"an empty one": {insights.Query{People: []models.UserID{}}, []models.Actor{b.Admin}},
	} {
		q.q.From, q.q.To, q.q.Zone = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), time.UTC
		for _, who := range []models.Actor{b.Admin, b.Owner, b.Stranger, b.Agent, {}} {
			_, err := b.Insights.Report(context.Background(), who, q.q)
			may := slices.ContainsFunc(q.allowed, func(a models.Actor) bool { return a.ID == who.ID })
			if may != (err == nil) || err != nil && models.ErrorCode(err) != models.CodeForbidden {
				t.Errorf("%s by %q: %v", name, who.Name, err)
			}
		}
	}
}
