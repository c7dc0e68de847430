package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/people"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

// told is what a feed tells after a number, a word each: "asked A".
func told(t *testing.T, s *store.Store, actor models.Actor, after int64) []string {
	t.Helper()
	var out []string
	last := after
	next, err := s.Requests.Feed(t.Context(), actor, after, func(h *requests.FeedEvent) error {
		if h.Seq <= last {
			t.Errorf("entry %d is told after %d", h.Seq, last)
		}
		last = h.Seq
		out = append(out, string(h.Kind)+" "+h.Approval.ToolName)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next < last {
		t.Errorf("told up to %d, but says %d", last, next)
	}
	return out
}

func TestFeedTellsWhatTheReaderMaySee(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	routed := storetest.Reviewer(t, b.Store, "routed@example.com")
	second, _ := storetest.AgentToken(t, b.Store, b.Owner, "second")
	b.UsePolicy(t, `{"rules":[{"name":"deny","tools":["Denied"],"effect":"deny"},{"name":"allow","tools":["Allowed"],"effect":"allow"},
		{"name":"route","tools":["Routed"],"effect":"require","reviewers":["routed@example.com"]}]}`)
	start := storetest.LedgerAt(t, b.Store)

	yes, no := storetest.Yes(), storetest.No("no")
	decide := func(a *models.Approval, by models.Actor, in models.DecisionInput) {
		t.Helper()
		_, err := b.Decide(t.Context(), by, a.ID, in)
		storetest.Must(t, err)
	}
	decide(b.AskFor(t, models.AskInput{ToolName: "A"}), b.Owner, yes)
	b.AskFor(t, models.AskInput{ToolName: "Denied"})
	b.AskFor(t, models.AskInput{ToolName: "Allowed"})
	decide(b.AskFor(t, models.AskInput{ToolName: "Routed"}), routed, no)
	withdrawn := b.AskFor(t, models.AskInput{ToolName: "B"})
	_, err := b.Cancel(t.Context(), b.Agent, withdrawn.ID)
	storetest.Must(t, err)
	_, err = b.Ask(t.Context(), b.Other, models.AskInput{ToolName: "Foreign", Explicit: true})
	storetest.Must(t, err)
	_, err = b.Ask(t.Context(), second, models.AskInput{ToolName: "Second", Explicit: true})
	storetest.Must(t, err)
	b.Clock.Step(24 * time.Hour)
	_, err = b.ExpireDue(t.Context(), 100)
	storetest.Must(t, err)

	own := []string{"asked A", "settled A", "turned_away Denied", "asked Routed", "settled Routed", "asked B", "settled B"}
	all := slices.Concat(own, []string{"asked Foreign", "asked Second", "expired Foreign", "expired Second"})
	reviewer := b.Admin
	reviewer.Admin = false // a reviewer's token of an admin
	for _, tt := range []struct {
		who   string
		actor models.Actor
		want  []string
	}{
		{"the agent", b.Agent, own},
		{"the owner", b.Owner, slices.Concat(own, []string{"asked Second", "expired Second"})},
		{"another agent of the owner's", second, []string{"asked Second", "expired Second"}},
		{"whom it was routed to", routed, []string{"asked Routed", "settled Routed"}},
		{"a stranger", b.Stranger, []string{"asked Foreign", "expired Foreign"}},
		{"an admin", b.Admin, all},
		{"an admin with a reviewer's token", reviewer, nil},
	} {
		storetest.SameStrings(t, tt.who, told(t, b.Store, tt.actor, start), tt.want)
	}
	if _, err := b.Requests.Feed(t.Context(), models.System("x"), 0, nil); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("the system reads a feed: %v", err)
	}
	stop := errors.New("enough")
	at, err := b.Requests.Feed(t.Context(), b.Agent, start, func(h *requests.FeedEvent) error {
		if h.Kind == requests.TurnedAway {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("an error of tell is lost: %v", err)
	}
	storetest.SameStrings(t, "the rest", told(t, b.Store, b.Agent, at), own[2:])
}

// Who is not concerned is not even woken.
func TestFeedsWakeThoseWhoAreConcerned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	routed := storetest.Reviewer(t, b.Store, "routed@example.com")
	second, _ := storetest.AgentToken(t, b.Store, b.Owner, "second")
	b.UsePolicy(t, `{"rules":[{"name":"deny","tools":["Denied"],"effect":"deny"},{"name":"allow","tools":["Allowed"],"effect":"allow"},
		{"name":"route","tools":["Routed"],"effect":"require","reviewers":["routed@example.com"]}]}`)
	readers := map[string]models.Actor{
		"agent": b.Agent, "owner": b.Owner, "routed": routed, "admin": b.Admin, "stranger": b.Stranger, "other": b.Other, "second": second,
	}
	subs := map[string]*events.Subscription{}
	for name, actor := range readers {
		subs[name] = b.Bus().Subscribe(100, requests.FeedTopics(actor)...)
		defer subs[name].Close()
	}
	var a *models.Approval
	for _, step := range []struct {
		what  string
		do    func() error
		wakes []string
	}{
		{"ask", func() error { a = b.AskFor(t, models.AskInput{ToolName: "A"}); return nil }, []string{"admin", "agent", "owner"}},
		{"decide", func() error { return storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())) }, []string{"admin", "agent", "owner"}},
		{"ask what is denied", func() error { b.AskFor(t, models.AskInput{ToolName: "Denied"}); return nil }, []string{"admin", "agent", "owner"}},
		{"ask what is allowed", func() error { b.AskFor(t, models.AskInput{ToolName: "Allowed"}); return nil }, nil},
		{"ask what is routed", func() error { a = b.AskFor(t, models.AskInput{ToolName: "Routed"}); return nil }, []string{"admin", "agent", "owner", "routed"}},
		{"withdraw it", func() error { return storetest.Err(b.Cancel(t.Context(), b.Agent, a.ID)) }, []string{"admin", "agent", "owner", "routed"}},
		{"revoke", func() error {
			_, token, err := b.People.AddToken(t.Context(), storetest.Operator(), people.NewToken{Scope: models.ScopeReviewer, Name: "x", UserID: b.Stranger.OwnerID})
			if err != nil {
				return err
			}
			return b.People.RevokeToken(t.Context(), storetest.Operator(), token.ID)
		}, []string{"admin", "agent", "other", "owner", "routed", "second", "stranger"}},
	} {
		storetest.Must(t, step.do())
		var woken []string
		for name, sub := range subs {
			if len(sub.C) > 0 {
				woken = append(woken, name)
			}
			for len(sub.C) > 0 {
				<-sub.C
			}
		}
		slices.Sort(woken)
		storetest.SameStrings(t, step.what, woken, step.wakes)
	}
}

func TestFeedsGoOnFromANumberOrTheHead(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	start := storetest.LedgerAt(t, b.Store)
	b.UsePolicy(t, `{"rules":[{"name":"allow","tools":["Allowed"],"effect":"allow"}]}`)
	ask := func(n int, by models.Actor) {
		t.Helper()
		var group sync.WaitGroup
		for worker := range min(n, 250) { // together, so that they share commits
			group.Go(func() {
				for i := worker; i < n; i += 250 {
					if _, err := b.Ask(t.Context(), by, models.AskInput{ToolName: "Allowed", ToolUseID: fmt.Sprint(i)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
	}
	ask(requests.MaxReplay-2, b.Agent) // and the policy, and the conversation
	from := func(actor models.Actor, after int64) (int64, bool) {
		t.Helper()
		at, reset, err := b.Requests.FeedFrom(t.Context(), actor, after)
		storetest.Must(t, err)
		return at, reset
	}
	if at, reset := from(b.Admin, start); at != start || reset {
		t.Errorf("%d entries behind: from %d, reset %v", requests.MaxReplay, at, reset)
	}
	ask(1, b.Other)
	head := storetest.LedgerAt(t, b.Store)
	for _, tt := range []struct {
		who   string
		actor models.Actor
		after int64
		want  int64
		reset bool
	}{
		{"an admin who is too far behind", b.Admin, start, head, true},
		{"an agent whose own are few enough", b.Agent, start, start, false},
		{"a person whose own are few enough", b.Owner, start, start, false},
		{"a stranger with nothing between", b.Stranger, start, start, false},
		{"at the head", b.Agent, head, head, false},
		{"beyond the head", b.Agent, head + 1, head, true},
	} {
		if at, reset := from(tt.actor, tt.after); at != tt.want || reset != tt.reset {
			t.Errorf("%s: from %d, reset %v; want %d, %v", tt.who, at, reset, tt.want, tt.reset)
		}
	}
}

// However far the ledger is indexed, and wherever a reader goes on, the same is told.
func TestFeedTellsTheSameHoweverFarTheLedgerIsIndexed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t, storetest.WithDir(folderOf46(t)), storetest.WithClock(afterDump()))
	const actions = ` AND l.action GLOB 'approval.*' AND l.action <> 'approval.let_through'`
	agent := models.Actor{Kind: models.ActorAgent, ID: storetest.Scalar[string](t, s, `SELECT agent_id FROM responses ORDER BY number LIMIT 1`)}
	agent.OwnerID = models.UserID(storetest.Scalar[string](t, s, `SELECT owner_id FROM agents WHERE id = ?`, agent.ID))
	routed := models.Actor{Kind: models.ActorUser, ID: storetest.Scalar[string](t, s, `SELECT user_id FROM reviewers ORDER BY user_id LIMIT 1`)}
	last := storetest.LedgerAt(t, s)
	for who, tt := range map[string]struct {
		actor models.Actor
		want  int
	}{
		"the agent":             {agent, storetest.Scalar[int](t, s, `SELECT count(*) FROM ledger l JOIN responses r ON r.id = l.response_id WHERE r.agent_id = ?`+actions, agent.ID)},
		"whom it was routed to": {routed, storetest.Scalar[int](t, s, `SELECT count(*) FROM ledger l WHERE (l.owner_id = ? OR l.response_id IN (SELECT response_id FROM reviewers WHERE user_id = ?))`+actions, routed.ID, routed.ID)},
	} {
		var all []string
		for _, indexed := range []int64{0, last / 3, last - 1, last} {
			storetest.IndexLedger(t, s, indexed)
			got := told(t, s, tt.actor, 0)
			if len(got) != tt.want || tt.want == 0 || all != nil && !slices.Equal(got, all) {
				t.Errorf("%s is told %q, want %d; the ledger is indexed up to %d", who, got, tt.want, indexed)
			}
			all = got
			for after := range last {
				if rest := told(t, s, tt.actor, after); !slices.Equal(rest, all[len(all)-len(rest):]) || after == 0 && len(rest) != len(all) {
					t.Errorf("%s is told %q after %d; the ledger is indexed up to %d", who, rest, after, indexed)
				}
			}
		}
	}
}
