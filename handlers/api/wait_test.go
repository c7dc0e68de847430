package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// waiting sends a request that waits, and hands its answer on.
func (w *world) waiting(token, method, path, body string) <-chan answer {
	told := make(chan answer, 1)
	before := w.store.Waiters()
	go func() {
		a, err := w.try(token, method, path, body, "")
		if err != nil {
			a.body = err.Error()
		}
		told <- a
	}()
	w.blocked(before + 1)
	return told
}

// blocked returns once so many callers wait.
func (w *world) blocked(n int) {
	w.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for w.store.Waiters() != n {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.tb.Fatalf("%d callers wait, want %d", w.store.Waiters(), n)
		}
	}
}

func TestAWaitEndsWithTheDecision(t *testing.T) {
	t.Parallel()
	t.Run("among few", func(t *testing.T) {
		t.Parallel()
		aWaitEndsWithTheDecision(t, newWorld(t))
	})
	t.Run("among many", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.api.AsIfManyWaited()
		aWaitEndsWithTheDecision(t, w)
	})
}

func aWaitEndsWithTheDecision(t *testing.T, w *world) {
	t.Helper()
	body := `{"approvalId":"` + uuid + `1","toolName":"rm"}`
	asked := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", body)
	got := w.waiting(w.agent, "GET", "/v1/approvals/"+uuid+"1?wait=50", "")
	watched := w.waiting(w.reviewer, "GET", "/v1/approvals/"+uuid+"1?wait=50s", "")
	stats := w.call(w.admin, "GET", "/v1/approvals/stats", "")
	stats.want(t, 200, map[string]any{"pendingCount": jsonNumber("1"), "responsesCount": jsonNumber("0")})
	w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/respond", `{"approved":true,"reason":"go"}`).want(t, 200, nil)
	for _, told := range []<-chan answer{asked, got, watched} {
		(<-told).want(t, 200, map[string]any{"status": "approved", "decision.reason": "go", "decision.by.name": "owner@example.com"})
	}
	w.blocked(0) // the answer is sent first
	w.call(w.admin, "GET", "/v1/approvals/stats", "").
		want(t, 200, map[string]any{"pendingCount": jsonNumber("0"), "resolversCount": jsonNumber("0"), "responsesCount": jsonNumber("1")})
}

func TestAWaitThatIsOverTellsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"approvalId":"` + uuid + `1","toolName":"rm"}`
	w.call(w.agent, "POST", "/v1/approvals?wait=5ms", body).want(t, 202, map[string]any{"status": "pending"})
	w.call(w.agent, "GET", "/v1/approvals/"+uuid+"1?wait=5ms", "").want(t, 200, map[string]any{"status": "pending"})
	for _, wait := range []string{"-1s", "-1", "soon", "1h30", "5%20s", "99999999999999999999"} {
		w.call(w.agent, "POST", "/v1/approvals?wait="+wait, body).want(t, 422, map[string]any{"code": "invalid"})
		w.call(w.agent, "GET", "/v1/approvals/"+uuid+"1?wait="+wait, "").want(t, 422, map[string]any{"code": "invalid"})
	}
}

// A stopping server tells all who wait that it is pending, and when to come back; nobody else hears the latter.
func TestAStoppingServerTellsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const ask, one = `{"approvalId":"` + uuid + `1","toolName":"rm"}`, "/v1/approvals/" + uuid + "1"
	const propose = `{"responseId":"` + uuid + `2","kind":"proposal","content":"Shall I?"}`
	w.policy(`{"required_approval_tools":["rm"]}`)
	w.request("tu", "rm", "s")
	w.call(w.agent, "POST", "/v1/approvals?wait=1ms", ask).wantRetry(t, 202, "")
	w.blocked(0) // the answer is sent first
	asked := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", ask)
	got := w.waiting(w.reviewer, "GET", one+"?wait=50s", "")
	proposed := w.waiting(w.agent, "POST", "/conversations/"+run+"/responses?wait=50s", propose)
	call := w.waiting(w.agent, "GET", "/api/approval/invocation/tu?wait=50s", "")
	w.store.EndWaits()
	for _, tt := range []struct {
		told   <-chan answer
		status int
		shown  string
	}{{asked, 202, "pending"}, {got, 200, "pending"}, {proposed, 202, "pending"}, {call, 200, "PENDING"}} {
		told := <-tt.told
		told.wantRetry(t, tt.status, "1")
		told.want(t, tt.status, map[string]any{"status": tt.shown})
	}
	w.call(w.agent, "POST", "/v1/approvals?wait=50s", ask).wantRetry(t, 202, "1") // came after the stop began
	w.call(w.agent, "GET", one, "").wantRetry(t, 200, "")                         // does not wait
	w.decide(uuid+"1", "true")
	w.call(w.agent, "POST", "/v1/approvals?wait=50s", ask).wantRetry(t, 200, "") // is settled
}

// wantRetry checks a status, and when to send the same again; empty: nothing is said of it.
func (a answer) wantRetry(tb testing.TB, status int, after string) {
	tb.Helper()
	if got := a.header.Get("Retry-After"); a.status != status || got != after {
		tb.Errorf("%d, Retry-After %q, want %d and %q: %s", a.status, got, status, after, a.body)
	}
}

func TestARevokedTokenEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", `{"toolUseId":"1","toolName":"rm"}`)
	actor, err := w.store.People.AuthenticateToken(t.Context(), w.agent)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.People.RevokeToken(t.Context(), w.adminAs, actor.TokenID); err != nil {
		t.Fatal(err)
	}
	(<-asked).want(t, 401, map[string]any{"code": "unauthenticated"})
}

func TestACallerThatLeavesLeavesTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/approvals?wait=50s", strings.NewReader(`{"approvalId":"`+uuid+`1","toolName":"rm"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.agent)
	done := make(chan error, 1)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			err = res.Body.Close()
		}
		done <- err
	}()
	w.blocked(1)
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that left heard: %v", err)
	}
	w.blocked(0)
	w.call(w.agent, "GET", "/v1/approvals/"+uuid+"1", "").want(t, 200, map[string]any{"status": "pending"})
}
