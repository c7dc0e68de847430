package drafts_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/drafts"
	"countersign/models/headline"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// patience is far more than reading samples takes, also on a machine that is busy.
const patience = time.Minute

// Samples are the newest calls of the tools that a rule covers, over all agents, with what a condition reads of them.
func TestSamplesOfTools(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	one, _ := storetest.AgentToken(t, s, admin, "one")
	two, _ := storetest.AgentToken(t, s, storetest.Reviewer(t, s, "bo@example.com"), "two")
	ask := func(who models.Actor, tool, input string) {
		t.Helper()
		_, err := s.Ask(t.Context(), who, models.AskInput{ToolName: tool, Input: []byte(input)})
		storetest.Must(t, err)
		clock.Step(time.Second)
	}
	for i := range 6 {
		ask(one, "pay.send", fmt.Sprintf(`{"amount":%d}`, i))
		ask(two, "pay.list", fmt.Sprintf(`{"page":%d}`, i))
		ask(two, "pay.send", fmt.Sprintf(`{"amount":"1%d"}`, i))
		ask(one, "shell.run", `{"command":"ls"}`)
	}
	_, err := s.Ask(t.Context(), one, models.AskInput{Kind: models.KindQuestion, Explicit: true, Explanation: models.Explanation{Description: "Which?"}})
	storetest.Must(t, err)
	for _, tt := range []struct {
		query drafts.SampleQuery
		calls int
		want  string // the first three
	}{
		{drafts.SampleQuery{}, 24, `shell.run one, pay.send two, pay.list two`},
		{drafts.SampleQuery{Tools: []string{"pay.send"}}, 12, `pay.send two, pay.send one, pay.send two`},
		{drafts.SampleQuery{Tools: []string{`/^pay\./`}, Last: 7}, 7, `pay.send two, pay.list two, pay.send one`},
		{drafts.SampleQuery{Tools: []string{`/list/`, "shell.run"}}, 12, `shell.run one, pay.list two, shell.run one`},
		{drafts.SampleQuery{Tools: []string{`/list/`}, Allow: true}, 0, ``}, // it must match the whole name
		{drafts.SampleQuery{Tools: []string{`/(/`, "pay.list"}, Last: 2}, 2, `pay.list two, pay.list two`},
		{drafts.SampleQuery{Tools: []string{"other"}}, 0, ``},
	} {
		tt.query.Within = patience
		got, err := d.Samples(t.Context(), admin, tt.query)
		storetest.Must(t, err)
		var first []string
		for i, c := range got.Calls {
			if i < 3 {
				first = append(first, c.Tool+" "+c.Agent)
			}
			if i > 0 && got.Calls[i-1].Number <= c.Number {
				t.Errorf("%+v: %d is not before %d", tt.query, got.Calls[i-1].Number, c.Number)
			}
		}
		if len(got.Calls) != tt.calls || strings.Join(first, ", ") != tt.want || got.Stopped != "" {
			t.Errorf("%+v: %d calls, %s, %q", tt.query, len(got.Calls), first, got.Stopped)
		}
	}
	got, err := d.Samples(t.Context(), admin, drafts.SampleQuery{Tools: []string{"pay.send"}, Last: 1, Within: patience})
	storetest.Must(t, err)
	c := got.Calls[0]
	a, err := s.Requests.Approval(t.Context(), admin, c.ID)
	storetest.Must(t, err)
	if c.Owner != "bo@example.com" || string(c.Input) != `{"amount":"15"}` || c.At.IsZero() || c.Conversation == "" || c.Removed != nil {
		t.Errorf("%+v", c)
	}
	if says := headline.Shown(c.Response()).Text(); says == "" || says != headline.Shown(&a.Response).Text() {
		t.Errorf("its headline is %q, the request's %q", says, headline.Shown(&a.Response).Text())
	}
	wantCode(t, storetest.Err(d.Samples(t.Context(), admin, drafts.SampleQuery{Last: drafts.MaxSamples + 1})), models.CodeInvalid)
	for name, who := range storetest.WhoMayNot(t, s) {
		wantCode(t, storetest.Err(d.Samples(t.Context(), who, drafts.SampleQuery{})), models.CodeForbidden)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// A condition is true of some calls, false of others, and of some that can't be told, with why.
func TestAConditionIsJudgedOverSamples(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "one")
	ids := map[models.ResponseID]string{}
	ask := func(input string) {
		t.Helper()
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "pay", Input: []byte(input)})
		storetest.Must(t, err)
		ids[a.ID] = input
	}
	ask(`{"amount":"7"}`)
	clock.Step(2 * time.Hour)
	p, err := upkeep.New(s).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: clock.Now().Add(-time.Hour)})
	storetest.Must(t, err)
	_, err = p.All(t.Context())
	storetest.Must(t, err)
	for _, input := range []string{`{"amount":"103.50"}`, `{"amount":101}`, `{"amount":"99.99"}`, `{"amount":"1,000"}`, `{}`} {
		ask(input)
	}
	got, err := d.Samples(t.Context(), admin, drafts.SampleQuery{Tools: []string{"pay"}, Within: patience})
	storetest.Must(t, err)
	if members := condition.Members(got.Inputs()); len(got.Inputs()) != 5 || len(members) != 1 || members[0].In != 4 {
		t.Errorf("%+v", members)
	}
	judge := func(ctx context.Context, source string) (string, drafts.SampleResults) {
		t.Helper()
		c, err := condition.Compile(source)
		storetest.Must(t, err)
		out := got.Judge(ctx, c, time.UTC)
		var says []string
		for _, m := range out.Matches {
			says = append(says, "yes "+ids[m.ID])
		}
		for _, m := range out.Others {
			says = append(says, "no "+ids[m.ID])
		}
		for _, m := range out.Unjudged {
			says = append(says, "? "+ids[m.ID]+": "+m.Why)
		}
		return strings.Join(says, "\n"), out
	}
	const want = `yes {"amount":101}
yes {"amount":"103.50"}
no {"amount":"99.99"}
? {}: a member that it reads is missing
? {"amount":"1,000"}: a text is not written as a number
? {"amount":"7"}: the contents of the call were removed`
	if says, out := judge(t.Context(), `decimal(input.amount) > decimal("100")`); says != want || out.Stopped != "" {
		t.Errorf("%s", says)
	}
	if _, out := judge(t.Context(), `agent == "one" && owner == "`+got.Calls[0].Owner+`" && tool == "pay" && now < timestamp("2100-01-01T00:00:00Z")`); len(out.Matches) != 6 {
		t.Errorf("of the call: %+v", out)
	}
	if out := got.Judge(t.Context(), nil, time.UTC); len(out.Matches) != 6 {
		t.Errorf("no condition: %+v", out)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if says, out := judge(ended, `tool == "pay"`); says != "" || out.Stopped != "the time was up" {
		t.Errorf("it goes on: %s, %q", says, out.Stopped)
	}
}

// Samples end by size and by time, and say so; with no one waiting they are an error.
func TestSamplesAreBounded(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := drafts.New(s)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "one")
	storetest.Seed(t, s, agent, storetest.Rows{Settled: 60, Pad: 500 << 10})
	got, err := d.Samples(t.Context(), admin, drafts.SampleQuery{Within: patience})
	storetest.Must(t, err)
	if got.Stopped != "they have more than 20 MiB" || len(got.Calls) < 20 || len(got.Calls) > 45 {
		t.Errorf("%d calls, %q", len(got.Calls), got.Stopped)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if got, err := d.Samples(late, admin, drafts.SampleQuery{}); err != nil || got.Stopped != "the time was up" || len(got.Calls) > 0 {
		t.Errorf("after its time: %+v, %v", got, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := d.Samples(ended, admin, drafts.SampleQuery{}); !errors.Is(err, context.Canceled) {
		t.Errorf("no one waits: %v", err)
	}
}

// The newest 500 of a hundred thousand calls.
func BenchmarkSamples(b *testing.B) {
	s := storetest.New(b)
	d := drafts.New(s)
	admin := storetest.Admin(b, s)
	agent, _ := storetest.AgentToken(b, s, admin, "builder")
	storetest.Seed(b, s, agent, storetest.Rows{Settled: 100_000, Pad: 2000})
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		got, err := d.Samples(b.Context(), admin, drafts.SampleQuery{Tools: []string{`/./`}})
		if err != nil || len(got.Calls) != drafts.MaxSamples {
			b.Fatal(got, err)
		}
	}
}
