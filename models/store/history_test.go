package store_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// mixed is a conversation of n entries of every kind in turn.
func mixed(t *testing.T, n int) *talk {
	t.Helper()
	c := newTalk(t, storetest.NoLimits)
	for i := range n {
		switch i % 5 {
		case 0:
			c.Replies(t, "x")
		case 1:
			c.Says(t, fmt.Sprintf("message %d", i), nil)
		case 2:
			c.SetsBudget(t, c.Owner, int64(1000+i))
		case 3:
			c.Proposes(t, "Shall I?")
		case 4:
			c.AskFor(t, c.In(models.AskInput{ToolName: "Bash"}))
		}
	}
	return c
}

func (c *talk) history(t *testing.T, q requests.HistoryQuery) *models.History {
	t.Helper()
	h, err := c.Requests.History(t.Context(), c.Agent, c.Conv, q)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func sequences(h *models.History) []int64 {
	var out []int64
	for _, e := range h.Entries {
		out = append(out, e.Sequence)
	}
	return out
}

func TestHistoryPagesBothWays(t *testing.T) {
	t.Parallel()
	const n = 23
	c := mixed(t, n)
	all := c.history(t, requests.HistoryQuery{Limit: models.MaxPage})
	if len(all.Entries) != n || all.Before != 0 || all.After != n {
		t.Fatalf("%d entries, before %d, after %d", len(all.Entries), all.Before, all.After)
	}
	for i, e := range all.Entries {
		kinds := map[bool]int{}
		kinds[e.Message != nil]++
		kinds[e.Response != nil]++
		kinds[e.Budget != nil]++
		if e.Sequence != int64(i+1) || e.At.IsZero() || kinds[true] != 1 {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	for _, limit := range []int{1, 2, 3, 7, 22, 23, 24} {
		var back []int64
		for q := (requests.HistoryQuery{Limit: limit}); ; {
			h := c.history(t, q)
			back = append(sequences(h), back...)
			if q.Before = h.Before; q.Before == 0 {
				break
			}
		}
		if !slices.Equal(back, sequences(all)) {
			t.Errorf("backwards by %d: %v", limit, back)
		}
		var on []int64
		for q := (requests.HistoryQuery{After: requests.FromStart, Limit: limit}); ; {
			h := c.history(t, q)
			if len(h.Entries) > limit || (len(h.Entries) == 0 && h.After != q.After) {
				t.Fatalf("forwards by %d: %d entries, after %d", limit, len(h.Entries), h.After)
			}
			if q.After = h.After; len(h.Entries) == 0 {
				break
			}
			on = append(on, sequences(h)...)
		}
		if !slices.Equal(on, sequences(all)) {
			t.Errorf("forwards by %d: %v", limit, on)
		}
	}
	if h := c.history(t, requests.HistoryQuery{After: 10, Limit: 3}); !slices.Equal(sequences(h), []int64{11, 12, 13}) || h.Before != 11 {
		t.Errorf("after 10: %v, before %d", sequences(h), h.Before)
	}
	if h := c.history(t, requests.HistoryQuery{Before: 4}); !slices.Equal(sequences(h), []int64{1, 2, 3}) || h.Before != 0 {
		t.Errorf("before 4: %v, before %d", sequences(h), h.Before)
	}
}

// TestI3HistoryTellsWhatHolds: an approval whose time is up has expired.
func TestI3HistoryTellsWhatHolds(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	c.AskFor(t, c.In(models.AskInput{ToolName: "Bash", TimeoutSeconds: new(int64(60))}))
	c.Clock.Step(time.Minute)
	if got := c.history(t, requests.HistoryQuery{}).Entries[0].Response; got.Status() != models.StatusExpired || got.Cause != models.CauseTimeout {
		t.Errorf("it is %s", got.Status())
	}
}

func TestAwaitHistoryTellsOfWhatComes(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	after := c.history(t, requests.HistoryQuery{}).After
	if h, err := c.AwaitHistory(t.Context(), c.Agent, c.Conv, 0, 10, time.Minute); err != nil || len(h.Entries) != int(after) {
		t.Fatalf("after 0: %+v, %v", h, err)
	}
	if h, err := c.AwaitHistory(t.Context(), c.Agent, c.Conv, 0, 1, time.Minute); err != nil || !slices.Equal(sequences(h), []int64{1}) {
		t.Fatalf("after 0, one of them: %+v, %v", h, err)
	}
	if h, err := c.AwaitHistory(t.Context(), c.Agent, c.Conv, after, 10, time.Millisecond); err != nil || len(h.Entries) != 0 || h.After != after {
		t.Errorf("nothing came: %+v, %v", h, err)
	}
	for name, do := range map[string]func(){
		"a message":  func() { c.Says(t, "Hello.", nil) },
		"a reply":    func() { c.Replies(t, "Hello.") },
		"a proposal": func() { c.Proposes(t, "Shall I?") },
		"an ask":     func() { c.AskFor(t, c.In(models.AskInput{ToolName: "Bash"})) },
		"a budget":   func() { c.ChangesBudget(t, c.Owner, delta(7)) },
		"a request":  func() { c.Exhausts(t) },
	} {
		type result struct {
			h   *models.History
			err error
		}
		got := make(chan result, 1)
		from := c.history(t, requests.HistoryQuery{}).After
		topic := events.Conversation(string(c.Conv))
		go func() {
			h, err := c.AwaitHistory(t.Context(), c.Agent, c.Conv, from, 10, 10*time.Second) // less than the 15 s after which a wait reads again
			got <- result{h, err}
		}()
		for c.Bus().Subscribers(topic) == 0 {
			runtime.Gosched()
		}
		do()
		if r := <-got; r.err != nil || len(r.h.Entries) != 1 || r.h.Entries[0].Sequence != from+1 {
			t.Errorf("%s: %+v, %v", name, r.h, r.err)
		}
	}
}

func TestAwaitHistoryEndsWithItsCredentialAndTheServer(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	wait := func() chan error {
		failed := make(chan error, 1)
		go func() {
			h, err := c.AwaitHistory(t.Context(), c.Agent, c.Conv, 2, 10, time.Minute)
			if err == nil && len(h.Entries) != 0 {
				err = fmt.Errorf("it ended with %d entries", len(h.Entries))
			}
			failed <- err
		}()
		for c.Bus().Subscribers(events.Conversation(string(c.Conv))) == 0 {
			runtime.Gosched()
		}
		return failed
	}
	first := wait()
	storetest.Must(t, c.People.RevokeToken(t.Context(), storetest.Operator(), c.Agent.TokenID))
	wantCode(t, <-first, models.CodeUnauthenticated)
	c.Agent, _ = storetest.AgentToken(t, c.Store, c.Owner, "bot")
	last := wait()
	c.EndWaits()
	storetest.Must(t, <-last)
}

// TestWhoIsWokenByAConversation: those who look at it, its agent, and those who
// are told of its status.
func TestWhoIsWokenByAConversation(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	proposal := c.Proposes(t, "Shall I?")
	agent, record, conv := events.Agent(c.Agent.ID), events.RecordOf(c.Owner.ID), events.Conversation(string(c.Conv))
	for _, tt := range []struct {
		name string
		do   func()
		want []events.Topic
	}{
		{"a reply", func() { c.Replies(t, "x") }, []events.Topic{conv}},
		{"an ask", func() { c.AskFor(t, c.In(models.AskInput{ToolName: "Bash"})) }, []events.Topic{conv, agent}},
		{"a message", func() { c.Says(t, "Hello.", nil) }, []events.Topic{conv, agent}},
		{"a budget", func() { c.ChangesBudget(t, c.Owner, delta(1)) }, []events.Topic{conv, agent}},
		{"a budget by the agent", func() { c.ChangesBudget(t, c.Agent, delta(-1)) }, []events.Topic{conv, agent}},
		{"a decision", func() { c.DecidesIn(t, c.Owner, storetest.Approving(proposal.ID)) }, []events.Topic{conv, agent}},
		{"a proposal", func() { c.Proposes(t, "Shall I?") }, []events.Topic{conv, agent}},
		{"a stop", func() { c.Steers(t, models.SteerStop) }, []events.Topic{conv, agent, record, events.RecordOfAdmins}},
		{"a pause", func() { c.Steers(t, models.SteerPause) }, []events.Topic{conv}},
		{"another title", func() { storetest.Must(t, storetest.Err(c.Rename(t.Context(), c.Owner, c.Conv, "x"))) }, []events.Topic{conv}},
	} {
		sub := c.Bus().Subscribe(100, conv, agent, record, events.RecordOfAdmins)
		tt.do()
		sub.Close()
		told := map[events.Topic]bool{}
		for len(sub.C) > 0 {
			told[<-sub.C] = true
		}
		for _, topic := range tt.want {
			if !told[topic] {
				t.Errorf("%s does not wake %s", tt.name, topic)
			}
			delete(told, topic)
		}
		if len(told) > 0 {
			t.Errorf("%s wakes %v too", tt.name, told)
		}
	}
}

// TestFeedTellsAConversationsStatus to its owner, its agent and the admins.
func TestFeedTellsAConversationsStatus(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	sibling, _ := storetest.AgentToken(t, c.Store, c.Owner, "sibling")
	noAdmin := c.Admin
	noAdmin.Admin = false
	c.UsePolicy(t, `{"rules":[{"name":"route","tools":["respond_with_approval"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	at := storetest.LedgerAt(t, c.Store)
	c.Proposes(t, "Shall I?")
	c.DecidesIn(t, c.Owner, storetest.Approving(""))
	c.Steers(t, models.SteerStop)
	c.Says(t, "Go on.", nil)
	all := []string{"running waiting_input", "waiting_input running", "running failed", "failed running"}
	for name, tt := range map[string]struct {
		who  models.Actor
		want []string
	}{
		"its agent": {c.Agent, all}, "its owner": {c.Owner, all}, "an admin": {c.Admin, all}, "another agent of the owner": {sibling, nil},
		"whom the proposal was routed to": {c.Stranger, nil}, "a stranger's agent": {c.Other, nil}, "a reviewer's token of an admin": {noAdmin, nil},
	} {
		var got []string
		_, err := c.Requests.Feed(t.Context(), tt.who, at, func(h *requests.FeedEvent) error {
			for _, change := range h.Changes {
				if change.Conversation != c.Conv || (h.Kind == requests.StatusChanged) != (h.Approval == nil) {
					t.Errorf("told: %+v", h)
				}
				got = append(got, string(change.Old)+" "+string(change.New))
			}
			return nil
		})
		storetest.Must(t, err)
		storetest.SameStrings(t, name, got, tt.want)
	}
}
