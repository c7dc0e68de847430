package drafts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/models/requests"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

func parsedPolicy(tb testing.TB, doc string) *policy.Policy {
	tb.Helper()
	p, err := policy.Parse([]byte(doc))
	storetest.Must(tb, err)
	return p
}

// A replay tells of each real call of which the other policy says something else, and
// agrees with judging them one by one.
func TestAReplayAgreesWithJudgingOneByOne(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, storetest.Reviewer(t, s, "owner@example.com"), "bot")
	storetest.Reviewer(t, s, "bo@example.com")
	ask := func(in models.AskInput) {
		t.Helper()
		_, err := s.Ask(t.Context(), agent, in)
		storetest.Must(t, err)
	}
	const stands = `{"required_approval_tools":["Bash"],"rules":[{"name":"small","tools":["pay"],"when":"input.amount < 10","effect":"allow"},{"name":"pay","tools":["pay"],"effect":"require","risk":"low"}]}`
	_, err := s.ApplyPolicy(t.Context(), admin, []byte(stands), "test", 0)
	storetest.Must(t, err)
	for i := range 40 {
		ask(models.AskInput{ToolName: "pay", Input: fmt.Appendf(nil, `{"amount":%d}`, i*5)})
		ask(models.AskInput{ToolName: "Bash", Input: fmt.Appendf(nil, `{"command":"ls %d"}`, i)})
		ask(models.AskInput{ToolName: "read"})
	}
	ask(models.AskInput{ToolName: "pay", Input: []byte(`{"amount":"5"}`)})
	ask(models.AskInput{Kind: models.KindQuestion, Explicit: true, Explanation: models.Explanation{Description: "Which?"}}) // no call
	const draft = `{"required_approval_tools":[],"rules":[{"name":"large","tools":["pay"],"when":"input.amount > 100","effect":"require","risk":"high","reviewers":["bo@example.com"]},{"name":"look","tools":["Bash"],"when":"command(input).program == \"ls\" && owner == \"ann@example.com\" && agent != \"\"","effect":"allow"}]}`
	old, next := parsedPolicy(t, stands), parsedPolicy(t, draft)
	var progress []int
	got, err := d.Replay(t.Context(), admin, old, next, drafts.ReplayQuery{}, func(n int) { progress = append(progress, n) })
	storetest.Must(t, err)

	var want policy.Tally
	shifts := map[models.ResponseID]policy.Shift{}
	page, err := s.Requests.Approvals(t.Context(), admin, requests.ListQuery{Limit: 200})
	storetest.Must(t, err)
	for _, row := range page.Items {
		if row.Kind != models.KindToolCall {
			continue
		}
		a, err := s.Requests.Approval(t.Context(), admin, row.ID)
		storetest.Must(t, err)
		call, err := s.CallOf(t.Context(), a)
		storetest.Must(t, err)
		shift, changed, judged := policy.Compare(old, next, call)
		want.Add(a.ToolName, shift, changed, judged)
		if changed {
			shifts[a.ID] = shift
		}
	}
	if got.Calls != 121 || got.Calls != want.Calls || got.Changed != want.Changed || got.Effects != want.Effects || len(got.Changes) != len(shifts) || got.Changed < 30 {
		t.Errorf("replayed %+v, one by one %+v", got.Tally, want)
	}
	for i, c := range got.Changes {
		if shifts[c.ID] != c.Shift || i > 0 && got.Changes[i-1].Number <= c.Number || c.Tool == "read" || c.AgentName == "" || c.At.IsZero() {
			t.Errorf("%d: %+v, one by one %+v", i, c, shifts[c.ID])
		}
	}
	groups := got.Groups()
	if fmt.Sprint(groups) != fmt.Sprint(want.Groups()) || groups[0].SameEffect() || !groups[len(groups)-1].SameEffect() {
		t.Errorf("%+v\n%+v", groups, want.Groups())
	}
	if len(progress) == 0 || progress[len(progress)-1] != 121 || got.Oldest.IsZero() {
		t.Errorf("%v, %v", progress, got.Oldest)
	}
}

// A replay is over as many calls as it was asked for, over a span of time, and ends when
// nobody waits for it; what was removed is counted and not guessed.
func TestHowFarAReplayGoes(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "builder")
	const stands = `{"unmatched":"allow"}`
	for i := range 10 {
		_, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "pay", Input: fmt.Appendf(nil, `{"amount":%d}`, i)})
		storetest.Must(t, err)
		clock.Step(time.Hour)
	}
	old, next := parsedPolicy(t, stands), parsedPolicy(t, `{"rules":[{"name":"x","tools":["pay"],"when":"input.amount >= 5","effect":"deny"}]}`)
	replay := func(q drafts.ReplayQuery) *drafts.Replay {
		t.Helper()
		got, err := d.Replay(t.Context(), admin, old, next, q, func(int) {})
		storetest.Must(t, err)
		return got
	}
	if got := replay(drafts.ReplayQuery{}); got.Calls != 10 || got.Effects != 5 {
		t.Errorf("%+v", got.Tally)
	}
	if got := replay(drafts.ReplayQuery{Last: 3}); got.Calls != 3 || got.Effects != 3 || !got.Oldest.Equal(clock.Now().Add(-3*time.Hour)) {
		t.Errorf("%+v of %s", got.Tally, got.Oldest)
	}
	if got := replay(drafts.ReplayQuery{Since: clock.Now().Add(-4*time.Hour - time.Minute)}); got.Calls != 4 {
		t.Errorf("%+v", got.Tally)
	}
	p, err := upkeep.New(s).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: clock.Now().Add(-6*time.Hour - time.Minute)})
	storetest.Must(t, err)
	_, err = p.All(t.Context())
	storetest.Must(t, err)
	if got := replay(drafts.ReplayQuery{}); got.Calls != 10 || got.Unjudged != 4 || got.Effects != 5 {
		t.Errorf("after contents were removed: %+v", got.Tally)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Replay(ended, admin, old, next, drafts.ReplayQuery{}, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	wantCode(t, storetest.Err(d.Replay(t.Context(), admin, old, next, drafts.ReplayQuery{Last: drafts.MaxReplayed + 1}, func(int) {})), models.CodeInvalid)
	for name, who := range storetest.WhoMayNot(t, s) {
		wantCode(t, storetest.Err(d.Replay(t.Context(), who, old, next, drafts.ReplayQuery{}, func(int) {})), models.CodeForbidden)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// Ten thousand calls of 2 KiB, under two policies with conditions.
func BenchmarkReplay(b *testing.B) {
	s := storetest.New(b)
	d := drafts.New(s)
	admin := storetest.Admin(b, s)
	agent, _ := storetest.AgentToken(b, s, admin, "builder")
	storetest.Seed(b, s, agent, storetest.Rows{Settled: drafts.MaxReplayed, Pad: 2000})
	old := parsedPolicy(b, `{"rules":[{"name":"large","tools":["Bash"],"when":"input.amount > 5000","effect":"require"}]}`)
	next := parsedPolicy(b, `{"rules":[{"name":"large","tools":["Bash"],"when":"input.amount > 100","effect":"require","risk":"high"},{"name":"rest","tools":["Bash"],"when":"command(input).program == \"make\"","effect":"allow"}]}`)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		got, err := d.Replay(b.Context(), admin, old, next, drafts.ReplayQuery{}, func(int) {})
		if err != nil || got.Calls != drafts.MaxReplayed || got.Changed < 4000 {
			b.Fatal(got, err)
		}
	}
}
