package cmd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// victim is a server process that is killed, and started again on the same
// folder and port.
type victim struct {
	*process

	dir, addr              string
	settings               []string
	person                 models.Actor
	agent, reviewer, admin string         // tokens
	session                []*http.Cookie // of the admin, once a page was read
}

// newVictim makes the people and starts the server. Nobody but the server has
// the database open afterwards: a kill leaves it as a crash would.
func newVictim(t *testing.T, settings ...string) *victim {
	t.Helper()
	return newVictimIn(t, storetest.Dir(t), settings...)
}

func newVictimIn(t *testing.T, dir string, settings ...string) *victim {
	t.Helper()
	v := &victim{dir: dir, addr: freeAddr(t), settings: settings}
	s := storetest.New(t, storetest.WithDir(v.dir))
	v.person = storetest.Admin(t, s)
	_, v.agent = storetest.AgentToken(t, s, v.person, "bot")
	_, v.reviewer = storetest.ReviewerToken(t, s, v.person)
	_, v.admin = storetest.AdminToken(t, s, v.person)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	v.start(t)
	return v
}

func (v *victim) start(t *testing.T) {
	t.Helper()
	args := []string{"serve", "--data", v.dir, "--addr", v.addr, "--log-level", "error", "--limit-asks-per-minute", "0"}
	v.process = start(t, nil, append(args, v.settings...)...)
	eventually(t, "the server is ready", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.addr+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// kill is kill -9.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	if err := v.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-v.done
}

func (v *victim) client(token string) *client.Client {
	return client.New("http://"+v.addr, token)
}

// get reads one JSON answer for the admin.
func (v *victim) get(t *testing.T, path string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+v.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// waiting waits until n callers are blocked.
func (v *victim) waiting(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d blocked callers", n), func() bool {
		var stats struct {
			ResolversCount int `json:"resolversCount"`
		}
		v.get(t, "/v1/approvals/stats", &stats)
		return stats.ResolversCount == n
	})
}

// pending are the deadlines of all that waits for a decision.
func (v *victim) pending(t *testing.T) map[models.ResponseID]time.Time {
	t.Helper()
	all := map[models.ResponseID]time.Time{}
	for next := ""; ; {
		var page struct {
			Pending []wire.Approval `json:"pending"`
			Next    string          `json:"next"`
		}
		v.get(t, "/v1/approvals/pending?limit=100&cursor="+next, &page)
		for _, a := range page.Pending {
			all[models.ResponseID(a.ApprovalID)] = *a.TimeoutAt
		}
		if next = page.Next; next == "" {
			return all
		}
	}
}

func TestKillWith200AgentsWaitingI8(t *testing.T) {
	const clients, processes = 180, 20
	v := newVictim(t)
	outcomes := make(chan *wire.Approval, clients)
	for i := range clients {
		go func() {
			got, err := v.client(v.agent).AskUntilDecided(t.Context(),
				wire.AskRequest{ToolName: "deploy", Input: fmt.Appendf(nil, `{"n":%d}`, i)}, client.WaitOptions{Connect: patience})
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
			outcomes <- got
		}()
	}
	env := []string{"COUNTERSIGN_SERVER=http://" + v.addr, "COUNTERSIGN_TOKEN=" + v.agent}
	asks := make([]*process, processes)
	for i := range asks {
		asks[i] = start(t, env, "ask", "deploy", "--description", fmt.Sprint("process ", i))
	}
	v.waiting(t, clients+processes)
	before := v.pending(t)
	if len(before) != clients+processes {
		t.Fatalf("%d pending, want %d", len(before), clients+processes)
	}

	v.kill(t)
	v.start(t)
	after := v.pending(t)
	for id, deadline := range before {
		if !after[id].Equal(deadline) {
			t.Errorf("%s stands until %v after the kill, want %v", id, after[id], deadline)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d pending after the kill, want %d", len(after), len(before))
	}
	v.waiting(t, clients+processes)

	approved := func(id models.ResponseID) bool { return id[len(id)-1]%2 == 0 }
	for id := range after {
		if _, err := v.client(v.reviewer).Respond(t.Context(), wire.ResponseID(id), wire.RespondRequest{Approved: new(approved(id))}); err != nil {
			t.Fatalf("respond: %v", err)
		}
	}
	for range clients {
		if got := <-outcomes; got != nil && got.Decision.Approved != approved(models.ResponseID(got.ApprovalID)) {
			t.Errorf("%s was told %+v, want approved: %v", got.ApprovalID, got.Decision, approved(models.ResponseID(got.ApprovalID)))
		}
	}
	for _, p := range asks {
		line := p.says(t, p.err, "waiting for a decision at ")
		id, code := models.ResponseID(line[len(line)-36:]), p.exit(t)
		if want := map[bool]int{true: 0, false: 1}[approved(id)]; code != want {
			t.Errorf("ask for %s: exit %d, want %d", id, code, want)
		}
	}
	must(t, "", "audit", "verify", "--data", v.dir)
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
func (l *load) write(ctx context.Context, v *victim) {
	agent, reviewer := v.client(v.agent), v.client(v.reviewer)
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
	v := newVictim(t)
	l := &load{sent: map[models.ResponseID]bool{}, asked: map[models.ResponseID]bool{}, decided: map[models.ResponseID]models.Status{}}
	for round := range rounds {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() { l.write(t.Context(), v) })
		}
		goal := l.acks.Load() + 20 + rand.Int64N(100)
		eventually(t, "a load of writes", func() bool { return l.acks.Load() >= goal })
		v.kill(t)
		wg.Wait()
		if _, said, code := run(t, "", "audit", "verify", "--data", v.dir); code != 0 {
			t.Fatalf("after kill %d: audit verify: exit %d: %s", round+1, code, said)
		}
		v.start(t)
		l.repeat(t, v)
	}
	t.Logf("%d asks and %d decisions acknowledged over %d kills", len(l.asked), len(l.decided), rounds)
	l.check(t, v)
}

// repeat sends again, as clients do, what was never acknowledged: the same
// request, whether or not the server had stored it.
func (l *load) repeat(t *testing.T, v *victim) {
	t.Helper()
	for id := range l.sent {
		if l.asked[id] {
			continue
		}
		if _, err := v.client(v.agent).Ask(t.Context(), wire.AskRequest{ApprovalID: string(id), ToolName: "deploy"}, 0); err != nil {
			t.Fatalf("repeat: %v", err)
		}
		l.asked[id] = true
	}
}

// check reads everything back: what was acknowledged is there, and whatever is
// there is there once.
func (l *load) check(t *testing.T, v *victim) {
	t.Helper()
	v.kill(t)
	s := storetest.New(t, storetest.WithDir(v.dir))
	found, entries := map[models.ResponseID]models.Status{}, map[string]int{}
	for cursor := ""; ; {
		page, err := s.Approvals(t.Context(), v.person, store.ListQuery{Cursor: cursor, Limit: 100})
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
		page, err := s.Trail(t.Context(), v.person, store.TrailQuery{Before: before, Limit: 100})
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
