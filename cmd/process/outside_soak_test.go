package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
	"countersign/workers/upstream/upstreamtest"
)

// outsideWorld is a server process with two upstreams, one of each dialect, that live
// in this process.
type outsideWorld struct {
	*process.Victim

	upstreams [2]*upstreamtest.Server
}

func newOutsideWorld(t *testing.T, plan func(upstreamtest.Request) upstreamtest.Fault, settings ...string) *outsideWorld {
	t.Helper()
	w := &outsideWorld{Victim: process.NewVictim(t, settings...)}
	for i, dialect := range []string{"plain", "cloud"} {
		w.upstreams[i] = upstreamtest.New(t, upstreamtest.Options{Cloud: dialect == "cloud", Key: "key-of-" + dialect, Plan: plan})
		process.Must(t, "key-of-"+dialect+"\n", "upstream", "add", dialect, "--data", w.Dir, "--url", w.upstreams[i].URL, "--dialect", dialect, "--owner", storetest.AdminEmail)
	}
	return w
}

// of is the upstream of the nth request.
func (w *outsideWorld) of(n int) *upstreamtest.Server { return w.upstreams[n%2] }

func callID(n int) string { return fmt.Sprintf("c%d", n) }

// ask has an upstream ask for the nth approval: half for calls of a run, one in
// ten a question.
func (w *outsideWorld) ask(n int) {
	switch {
	case n%10 == 9:
		w.of(n).AskHuman(upstreamtest.Contact{CallID: callID(n), Msg: fmt.Sprintf("%d: how many?", n)})
	case ofRun(n):
		w.of(n).Ask(upstreamtest.Call{CallID: callID(n), RunID: runOf(n), Fn: "bash", Kwargs: fmt.Sprintf(`{"n":%d}`, n)})
	default:
		w.of(n).Ask(upstreamtest.Call{CallID: callID(n), Fn: "write", Kwargs: fmt.Sprintf(`{"n":%d}`, n)})
	}
}

func ofRun(n int) bool { return n%10 < 5 }

func runOf(n int) string { return fmt.Sprintf("run %d", n/100) }

// elsewhere are those that somebody settles in the upstream; nobody votes on them
// here.
func elsewhere(n int) bool { return n%20 == 3 || n%20 == 6 }

// numberOf is which request it is.
func numberOf(kind models.Kind, input, description string) (n int) {
	if kind == models.KindQuestion {
		input = `{"n":` + description
	}
	if _, err := fmt.Sscanf(input, `{"n":%d`, &n); err != nil {
		return -1
	}
	return n
}

// soak is what people did and what they were told.
type soak struct {
	*outsideWorld

	mu       sync.Mutex
	accepted map[int]models.Verdict // acknowledged verdicts

	armed atomic.Bool // the next verdict that arrives kills who told it
	shot  chan error
}

// decide is one person who decides what waits, as a coin and the person fall; the
// other one is of another opinion.
func (s *soak) decide(ctx context.Context, t *testing.T, token string, person int) {
	t.Helper()
	c := s.Client(token)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		pending, err := s.waits(ctx, token)
		if err != nil {
			continue // it was killed
		}
		for _, a := range pending {
			n := numberOf(models.Kind(a.Kind), string(a.Input), a.Description)
			if a.Held != nil {
				continue
			}
			if elsewhere(n) {
				s.of(n).Settle(callID(n), n%2 == 0, "settled there")
				continue
			}
			verdict, in := opinion(models.Kind(a.Kind), n, person)
			_, err := c.Respond(ctx, a.ApprovalID, in)
			if err == nil {
				s.mu.Lock()
				if was, ok := s.accepted[n]; ok && was != verdict {
					t.Errorf("%d: two verdicts were accepted: %s and %s", n, was, verdict)
				}
				s.accepted[n] = verdict
				s.mu.Unlock()
			}
		}
	}
}

func opinion(kind models.Kind, n, person int) (models.Verdict, wire.RespondRequest) {
	switch {
	case kind == models.KindQuestion:
		return models.VerdictAnswer, wire.RespondRequest{Answer: new(fmt.Sprintf("%d of person %d", n, person))}
	case (n/10+person)%2 == 0:
		return models.VerdictApprove, wire.RespondRequest{Approved: new(true)}
	}
	return models.VerdictReject, wire.RespondRequest{Approved: new(false), Reason: fmt.Sprintf("not %d", n)}
}

// waits is what waits for a verdict; nothing while the server is away.
func (w *outsideWorld) waits(ctx context.Context, token string) (out []wire.Approval, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.Addr+"/v1/approvals/pending?limit=100", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var page struct {
		Pending []wire.Approval `json:"pending"`
	}
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		return nil, err
	}
	return page.Pending, nil
}

func (s *soak) settled(asked int) int {
	return asked - len(s.upstreams[0].Waiting()) - len(s.upstreams[1].Waiting())
}

// TestThousandApprovalsThroughFaultsAndKills: whatever goes wrong on the way to
// two upstreams, and with the server killed three times, every verdict arrives,
// none is told two, and nothing is taken for settled elsewhere that is not.
func TestThousandApprovalsThroughFaultsAndKills(t *testing.T) {
	const all, open, kills = 1000, 240, 3
	verdicts := upstreamtest.Random(11, upstreamtest.Rates{Status500: 0.06, Lost500: 0.08, Hang: 0.01, Drop: 0.06, Lost: 0.08})
	reads := upstreamtest.Random(12, upstreamtest.Rates{Status500: 0.02, Hang: 0.005, Drop: 0.02, Cut: 0.03, Half: 0.02, Duplicate: 0.05, Skip: 0.05})
	var s *soak
	plan := func(r upstreamtest.Request) upstreamtest.Fault {
		switch {
		case r.Act.Responds() && s.armed.CompareAndSwap(true, false):
			// The verdict arrives, and who told it does not live to know.
			return upstreamtest.Fault{Drop: true, Handled: true, Then: func(*upstreamtest.Server) { s.shot <- s.Process.Kill() }}
		case r.Act.Responds():
			return verdicts(r)
		}
		return reads(r)
	}
	s = &soak{shot: make(chan error), outsideWorld: newOutsideWorld(t, plan, "--poll-every", "100ms", "--upstream-timeout", "500ms", "--takeover-after", "500ms"), accepted: map[int]models.Verdict{}}
	s.report(t, all)

	ctx, stop := context.WithCancel(t.Context())
	var people sync.WaitGroup
	people.Go(func() { s.decide(ctx, t, s.Reviewer, 0) })
	people.Go(func() { s.decide(ctx, t, s.Admin, 1) })
	defer people.Wait()
	defer stop()

	began := time.Now()
	asked, killed := 0, 0
	for done := 0; done < all; {
		for asked < all && asked-done < open {
			s.ask(asked)
			asked++
		}
		goal := min(done+20, all)
		process.Eventually(t, "more is settled", func() bool { return s.settled(asked) >= goal })
		done = s.settled(asked)
		if killed < kills && done >= (killed+1)*all/(kills+1) {
			killed++
			s.armed.Store(true)
			if err := <-s.shot; err != nil {
				t.Fatal(err)
			}
			<-s.Done
			process.Must(t, "", "audit", "verify", "--data", s.Dir)
			s.Start(t)
		}
	}
	process.Eventually(t, "the server has heard of all", func() bool {
		pending, err := s.waits(t.Context(), s.Reviewer)
		return err == nil && len(pending) == 0
	})
	stop()
	people.Wait()
	t.Logf("%d approvals in %v, killed %d times; %d attempts to tell %d verdicts", all, time.Since(began).Round(time.Millisecond), killed, s.attempts(), all-all/10)
	s.Kill(t)
	process.Must(t, "", "audit", "verify", "--data", s.Dir)
	s.check(t, all)
}

// report tells of the runs, as their agents would.
func (s *soak) report(t *testing.T, all int) {
	t.Helper()
	for first := 0; first < all; first += 100 {
		c := s.Client(s.Agent)
		conv, err := c.OpenConversation(t.Context(), wire.OpenRequest{RunID: runOf(first)})
		if err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		for n := first; n < first+100; n++ {
			if ofRun(n) {
				fmt.Fprintf(&lines, `{"type":"tool_call","toolUseId":"u%d","toolName":"bash","input":{"n":%d},"batchId":"b"}`+"\n", n, n)
			}
		}
		if got, err := c.Report(t.Context(), conv.ID, lines.Bytes()); err != nil || got.Failed != 0 {
			t.Fatalf("report: %+v, %v", got, err)
		}
	}
}

func (s *soak) attempts() (n int) {
	for _, u := range s.upstreams {
		for _, v := range u.Verdicts() {
			if !v.Here {
				n++
			}
		}
	}
	return n
}

// check compares what stands here with what the upstreams were told.
func (s *soak) check(t *testing.T, all int) {
	t.Helper()
	db := storetest.New(t, storetest.WithDir(s.Dir))
	seen := map[int]bool{}
	for cursor := ""; ; {
		page, err := db.Requests.Approvals(t.Context(), s.Person, requests.ListQuery{Cursor: cursor, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			a := &page.Items[i]
			n := numberOf(a.Kind, a.ToolInputJSON, a.Description)
			if n < 0 || seen[n] {
				t.Errorf("%d stands twice, or nobody asked for it: %s", n, a.ID)
			}
			seen[n] = true
			s.compare(t, n, a)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if len(seen) != all {
		t.Errorf("%d stand, want %d", len(seen), all)
	}
	if s.attempts() < all {
		t.Errorf("only %d attempts: nothing went wrong", s.attempts())
	}
}

// compare is about one approval.
func (s *soak) compare(t *testing.T, n int, a *models.Approval) {
	t.Helper()
	there, settled := s.of(n).Outcome(callID(n))
	if !settled {
		t.Errorf("%d is not settled there", n)
	}
	told := map[string]bool{}
	for _, v := range s.of(n).VerdictsOn(callID(n)) {
		if !v.Here {
			told[v.Raw] = true
		}
	}
	if elsewhere(n) {
		if a.Status() != models.StatusResolved || a.Cause != models.CauseElsewhere || !there.Here || len(told) > 0 {
			t.Errorf("%d was settled elsewhere, and is %s (%s), told %v", n, a.Status(), a.Cause, told)
		}
		return
	}
	if len(told) != 1 || there.Here {
		t.Errorf("%d was told %d different verdicts: %v", n, len(told), told)
	}
	if a.Cause != models.CauseReviewer || a.Vote == nil || a.VoteID == nil {
		t.Errorf("%d is %s (%s)", n, a.Status(), a.Cause)
		return
	}
	if ofRun(n) != (a.ToolUseID != nil && *a.ToolUseID == fmt.Sprintf("u%d", n)) {
		t.Errorf("%d was matched with %v", n, a.ToolUseID)
	}
	v := a.Vote
	same := there.Approved == (v.Verdict == models.VerdictApprove) && there.Reason == v.Reason && a.Status() == map[bool]models.Status{true: models.StatusApproved, false: models.StatusRejected}[there.Approved]
	if a.Kind == models.KindQuestion {
		same = v.Answer != nil && there.Response == *v.Answer && a.Status() == models.StatusApproved
	}
	if !same {
		t.Errorf("%d is %s by %s, the upstream has %+v", n, a.Status(), v.Verdict, there)
	}
	if was, ok := s.accepted[n]; ok && was != v.Verdict {
		t.Errorf("%d was acknowledged as %s and stands as %s", n, was, v.Verdict)
	}
}
