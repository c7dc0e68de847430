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

func TestAStoppingServerTellsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", `{"approvalId":"`+uuid+`1","toolName":"rm"}`)
	got := w.waiting(w.reviewer, "GET", "/v1/approvals/"+uuid+"1?wait=50s", "")
	w.store.EndWaits()
	(<-asked).want(t, 202, map[string]any{"status": "pending"})
	(<-got).want(t, 200, map[string]any{"status": "pending"})
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
