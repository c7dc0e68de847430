package process_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func TestKillWith200AgentsWaitingI8(t *testing.T) {
	const clients, processes = 180, 20
	v := process.NewVictim(t)
	outcomes := make(chan *wire.Approval, clients)
	for i := range clients {
		go func() {
			got, err := v.Client(v.Agent).AskUntilDecided(t.Context(),
				wire.AskRequest{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, i)}, client.WaitOptions{Connect: process.Patience})
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			outcomes <- got
		}()
	}
	env := []string{"COUNTERSIGN_SERVER=http://" + v.Addr, "COUNTERSIGN_TOKEN=" + v.Agent}
	asks := make([]*process.Program, processes)
	for i := range asks {
		asks[i] = process.Start(t, env, "ask", "deploy", "--description", fmt.Sprint("process ", i))
	}
	v.Waiting(t, clients+processes)
	before := v.Pending(t)
	if len(before) != clients+processes {
		t.Fatalf("%d pending, want %d", len(before), clients+processes)
	}

	v.Kill(t)
	v.Start(t)
	after := v.Pending(t)
	for id, deadline := range before {
		if !after[id].Equal(deadline) {
			t.Errorf("%s stands until %v after the kill, want %v", id, after[id], deadline)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d pending after the kill, want %d", len(after), len(before))
	}
	v.Waiting(t, clients+processes)

	approved := func(id models.ResponseID) bool { return id[len(id)-1]%2 == 0 }
	for id := range after {
		if _, err := v.Client(v.Reviewer).Respond(t.Context(), wire.ResponseID(id), wire.RespondRequest{Approved: new(approved(id))}); err != nil {
			t.Fatalf("respond: %v", err)
		}
	}
	for range clients {
		if got := <-outcomes; got != nil && got.Decision.Approved != approved(models.ResponseID(got.ApprovalID)) {
			t.Errorf("%s was told %+v, want approved: %v", got.ApprovalID, got.Decision, approved(models.ResponseID(got.ApprovalID)))
		}
	}
	for _, p := range asks {
		line := p.Says(t, p.Err, "waiting for a decision at ")
		id, code := models.ResponseID(line[len(line)-36:]), p.Exit(t)
		if want := map[bool]int{true: 0, false: 1}[approved(id)]; code != want {
			t.Errorf("ask for %s: exit %d, want %d", id, code, want)
		}
	}
	process.Must(t, "", "audit", "verify", "--data", v.Dir)
}

// load is what was sent, and what of it the server has acknowledged.
type load struct {
	mu      sync.Mutex
	sent    map[models.ResponseID]bool          // asks
	asked   map[models.ResponseID]bool          // acknowledged asks
	decided map[models.ResponseID]models.Status // acknowledged decisions
	acks    atomic.Int64
}

// write asks and decides until the server is gone.
func (l *load) write(ctx context.Context, v *process.Victim) {
	agent, reviewer := v.Client(v.Agent), v.Client(v.Reviewer)
	for ctx.Err() == nil {
		id := models.NewID[models.ResponseID]()
		l.note(func() { l.sent[id] = true })
		if _, err := agent.Ask(ctx, wire.AskRequest{ApprovalID: string(id), ToolName: "deploy"}, 0); err != nil {
			return
		}
		l.note(func() { l.asked[id] = true })
		l.acks.Add(1)
		if id[len(id)-1]%4 == 0 {
			continue // stays pending
		}
		out, err := reviewer.Respond(ctx, wire.ResponseID(id), wire.RespondRequest{Approved: new(id[len(id)-1]%2 == 0)})
		if err != nil {
			return
		}
		l.note(func() { l.decided[id] = models.Status(out.Status) })
		l.acks.Add(1)
	}
}

func (l *load) note(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func TestTwentyKillsUnderWriteLoadI2(t *testing.T) {
	const rounds, writers = 20, 8
	v := process.NewVictim(t)
	l := &load{sent: map[models.ResponseID]bool{}, asked: map[models.ResponseID]bool{}, decided: map[models.ResponseID]models.Status{}}
	for round := range rounds {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() { l.write(t.Context(), v) })
		}
		goal := l.acks.Load() + 20 + rand.Int64N(100)
		process.Eventually(t, "a load of writes", func() bool { return l.acks.Load() >= goal })
		v.Kill(t)
		wg.Wait()
		if _, said, code := process.Run(t, "", "audit", "verify", "--data", v.Dir); code != 0 {
			t.Fatalf("after kill %d: audit verify: exit %d: %s", round+1, code, said)
		}
		v.Start(t)
		l.repeat(t, v)
	}
	t.Logf("%d asks and %d decisions acknowledged over %d kills", len(l.asked), len(l.decided), rounds)
	l.check(t, v)
}

// repeat sends again, as clients do, what was never acknowledged: the same
// request, whether or not the server had stored it.
func (l *load) repeat(t *testing.T, v *process.Victim) {
	t.Helper()
	for id := range l.sent {
		if l.asked[id] {
			continue
		}
		if _, err := v.Client(v.Agent).Ask(t.Context(), wire.AskRequest{ApprovalID: string(id), ToolName: "deploy"}, 0); err != nil {
			t.Fatalf("repeat: %v", err)
		}
		l.asked[id] = true
	}
}

// check reads everything back: what was acknowledged is there, and whatever is
// there is there once.
func (l *load) check(t *testing.T, v *process.Victim) {
	t.Helper()
	v.Kill(t)
	s := storetest.New(t, storetest.WithDir(v.Dir))
	found, entries := map[models.ResponseID]models.Status{}, map[string]int{}
	for cursor := ""; ; {
		page, err := s.Requests.Approvals(t.Context(), v.Person, requests.ListQuery{Cursor: cursor, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			if _, twice := found[a.ID]; twice || !l.sent[a.ID] {
				t.Errorf("%s is listed twice, or nobody asked for it", a.ID)
			}
			found[a.ID] = a.Status()
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for id := range l.asked {
		if _, ok := found[id]; !ok {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	for id, status := range l.decided {
		if found[id] != status {
			t.Errorf("%s was acknowledged as %s and stands as %q", id, status, found[id])
		}
	}
	for before := int64(0); ; {
		page, err := s.Requests.Trail(t.Context(), v.Person, requests.TrailQuery{Before: before, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if e.ResponseID != "" {
				entries[e.Action+" "+string(e.ResponseID)]++
			}
			before = e.Seq
		}
		if len(page.Entries) == 0 || before <= 1 {
			break
		}
	}
	for entry, n := range entries {
		if n != 1 {
			t.Errorf("the ledger has %d entries of %s", n, entry)
		}
	}
	if len(entries) < len(l.asked)+len(l.decided) {
		t.Errorf("the ledger has %d entries about requests, want at least %d", len(entries), len(l.asked)+len(l.decided))
	}
}
