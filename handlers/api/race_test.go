package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

func TestI1SixtyFourDecidersHaveOneWinner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		winner  string
		losers  []answer
		start   = make(chan struct{})
		answers = []string{`{"approved":true,"reason":"by %d"}`, `{"approved":false,"reason":"by %d"}`}
	)
	for i := range 64 {
		wg.Go(func() {
			<-start
			body := fmt.Sprintf(answers[i%2], i)
			got, err := w.try(w.reviewer, http.MethodPost, "/v1/approvals/"+id+"/respond", body, "")
			if err != nil {
				t.Errorf("decider %d: %v", i, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case got.status == http.StatusOK && winner == "":
				winner = got.text("response.reason")
			case got.status == http.StatusConflict:
				losers = append(losers, got)
			default:
				t.Errorf("decider %d: %d %s", i, got.status, got.body)
			}
		})
	}
	close(start)
	wg.Wait()
	if len(losers) != 63 {
		t.Errorf("%d were told of the conflict, want 63", len(losers))
	}
	for _, got := range losers {
		got.want(t, http.StatusConflict, map[string]any{"code": "already_decided", "approval.decision.reason": winner})
	}
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"rm"}`).want(t, http.StatusOK, map[string]any{"decision.reason": winner})
}
