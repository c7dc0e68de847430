package store_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func TestNumbersFollowWhatHappens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	start := b.Clock.Now()
	first := b.AskFor(t, models.AskInput{ToolUseID: "1"})
	b.Clock.Step(time.Minute)
	second := b.AskFor(t, models.AskInput{ToolUseID: "2"})
	want := func(pending int, oldest time.Time) {
		t.Helper()
		n, err := upkeep.New(b.Store).Numbers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		head, err := b.Ledger.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.Pending != pending || !n.Oldest.Equal(oldest) || n.Waiters != 0 || n.LedgerSeq != head.Seq || n.LedgerSeq == 0 {
			t.Errorf("%+v, want %d pending since %v and entry %d", n, pending, oldest, head.Seq)
		}
	}
	want(2, start)
	if _, err := b.Decide(t.Context(), b.Owner, first.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	want(1, start.Add(time.Minute))
	b.Clock.Step(second.ApprovalTimeoutAt.Sub(b.Clock.Now())) // past its deadline, not yet written down (I3)
	want(0, time.Time{})
}

// TestWhatWaitsIsCountedByAge has requests of two risks grow old.
func TestWhatWaitsIsCountedByAge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"default_timeout_minutes": 600, "rules":[{"name":"drop","tools":["drop"],"effect":"require","risk":"critical"}]}`)
	for _, step := range []time.Duration{2 * time.Hour, 59 * time.Minute, 9 * time.Minute, 0} {
		b.AskFor(t, models.AskInput{ToolUseID: step.String(), ToolName: "drop"})
		b.AskFor(t, models.AskInput{ToolUseID: step.String() + " too", ToolName: "other"})
		b.Clock.Step(step)
	}
	b.Clock.Step(30 * time.Second)
	n, err := upkeep.New(b.Store).Numbers(t.Context())
	storetest.Must(t, err)
	got := map[string]int{}
	for _, one := range n.ByAge {
		got[string(one.Risk)+" "+one.Age] = one.Count
	}
	// Asked 3 h 8 min ago, 1 h 8 min, 9 min and half a minute.
	for what, want := range map[string]int{
		"critical over_1h": 2, "critical 10m_to_1h": 0, "critical 1m_to_10m": 1, "critical under_1m": 1, "medium over_1h": 2, "medium under_1m": 1, "low over_1h": 0,
	} {
		if count, ok := got[what]; !ok || count != want {
			t.Errorf("%s: %d, want %d", what, count, want)
		}
	}
	if len(got) != len(models.Risks())*len(models.PendingAges()) {
		t.Errorf("counted %v", got)
	}
}

func TestOutcomesAreToldOnceWithTheirCause(t *testing.T) {
	t.Parallel()
	var told []models.Outcome // the store is used by one goroutine here
	b := newBench(t, func(o *store.Options) { o.ObserveOutcome = func(x models.Outcome) { told = append(told, x) } })
	b.UsePolicy(t, `{"rules":[{"name":"ls","tools":["ls"],"effect":"allow"},{"name":"rm","tools":["rm"],"effect":"deny"}]}`)
	decided := b.AskFor(t, models.AskInput{ToolUseID: "1"})
	b.AskFor(t, models.AskInput{ToolUseID: "2", ToolName: "ls"})
	b.AskFor(t, models.AskInput{ToolUseID: "2", ToolName: "ls"}) // the same request: no second outcome
	b.AskFor(t, models.AskInput{ToolUseID: "3", ToolName: "rm"})
	b.AskFor(t, models.AskInput{ToolUseID: "4"})
	b.Clock.Step(30 * time.Second)
	if _, err := b.Decide(t.Context(), b.Owner, decided.ID, storetest.No("not today")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Decide(t.Context(), b.Owner, decided.ID, storetest.Yes()); err == nil {
		t.Fatal("decided twice")
	}
	b.Clock.Step(time.Hour)
	if n, err := b.ExpireDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	want := []models.Outcome{
		{Status: models.StatusNone, Cause: models.CausePolicy},
		{Status: models.StatusRejected, Cause: models.CausePolicy},
		{Status: models.StatusRejected, Cause: models.CauseReviewer, Wait: 30 * time.Second},
		{Status: models.StatusExpired, Cause: models.CauseTimeout, Wait: 5 * time.Minute},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v,\nwant %+v", told, want)
	}
}

func TestJudgementsAreLoggedWithoutInputs(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]int{slog.LevelDebug: 3, slog.LevelInfo: 0} {
		log := new(bytes.Buffer)
		b := newBench(t, func(o *store.Options) { o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level})) })
		b.UsePolicy(t, `{"rules":[{"name":"hold rm","tools":["rm"],"effect":"require"}]}`)
		a := b.AskFor(t, models.AskInput{ToolUseID: "1", ToolName: "rm", Input: []byte(`{"path":"hush-hush"}`), Explanation: models.Explanation{Description: "hush-hush", Context: "hush-hush"}})
		b.AskFor(t, models.AskInput{ToolUseID: "2", ToolName: "deploy"})
		edit := storetest.Yes()
		edit.Input = []byte(`{"path":"also hush-hush"}`)
		if _, err := b.Decide(t.Context(), b.Owner, a.ID, edit); err != nil {
			t.Fatal(err)
		}
		text := log.String()
		if got := strings.Count(text, `msg="policy judged"`); got != want {
			t.Errorf("%v: %d judgements are logged, want %d:\n%s", level, got, want, text)
		}
		if want > 0 && (!strings.Contains(text, `rule="hold rm"`) || !strings.Contains(text, "digest="+a.Digest)) {
			t.Errorf("rule or digest is missing:\n%s", text)
		}
		if strings.Contains(text, "hush-hush") {
			t.Errorf("the log holds what was sent:\n%s", text)
		}
	}
}

func BenchmarkNumbers(b *testing.B) {
	s := storetest.New(b, func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 })
	agent, _ := storetest.AgentToken(b, s, storetest.Admin(b, s), "bot")
	for range 10_000 {
		if _, err := s.Ask(b.Context(), agent, models.AskInput{ToolName: "Bash", Explicit: true}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := upkeep.New(s).Numbers(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// figuresOf are an agent's, as an actor reads them.
func (b *bench) figuresOf(t *testing.T, actor models.Actor, agent models.AgentID) (models.AgentFigures, bool) {
	t.Helper()
	all, err := b.AgentFigures(t.Context(), actor, []models.AgentID{agent})
	storetest.Must(t, err)
	f, ok := all.Of[agent]
	return f, ok
}

// The requests of an agent are counted by the day that they came, in UTC, for those who may see it.
func TestRequestsOfAnAgentByDay(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	id := b.Agent.AgentID()
	if f, ok := b.figuresOf(t, b.Owner, id); !ok || f != (models.AgentFigures{}) {
		t.Errorf("of an agent that never asked: %+v, %v", f, ok)
	}
	b.Clock.Step(24*time.Hour - b.Clock.Now().Sub(b.Clock.Now().Truncate(24*time.Hour))) // to midnight
	asks := []int{2, 0, 3, 1, 0, 0, 4, 5, 1}
	for day, n := range asks {
		for i := range n {
			a := b.AskFor(t, models.AskInput{ToolName: "pay"})
			if i == 0 {
				_, err := b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "pay", Explicit: true})
				storetest.Must(t, err)
			}
			if day == len(asks)-1 && !a.CreatedAt.Equal(b.Clock.Now()) {
				t.Errorf("it came at %s", a.CreatedAt)
			}
		}
		if day < len(asks)-1 {
			b.Clock.Step(24 * time.Hour)
		}
	}
	f, _ := b.figuresOf(t, b.Owner, id)
	if f.Days != [models.AgentDays]int{3, 1, 0, 0, 4, 5, 1} || f.LastAskAt == nil || !f.LastAskAt.Equal(b.Clock.Now()) {
		t.Errorf("%+v", f)
	}
	b.Clock.Step(24*time.Hour - time.Second)
	if f, _ := b.figuresOf(t, b.Admin, id); f.Days != [models.AgentDays]int{3, 1, 0, 0, 4, 5, 1} {
		t.Errorf("a second before midnight: %v", f.Days)
	}
	b.Clock.Step(time.Second)
	if f, _ := b.figuresOf(t, b.Admin, id); f.Days != [models.AgentDays]int{1, 0, 0, 4, 5, 1, 0} {
		t.Errorf("a day later: %v", f.Days)
	}
	if f, ok := b.figuresOf(t, b.Stranger, id); ok {
		t.Errorf("a stranger reads %+v", f)
	}
	wantCode(t, storetest.Err(b.AgentFigures(t.Context(), b.Agent, []models.AgentID{id})), models.CodeForbidden)
}
