package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// I1: each of two proposals is decided once, and a message whose verdict came too
// late is not stored either.
func TestI1SixtyFourMessagesDecideEachProposalOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proposals := map[any]string{w.propose("first").at("responseId"): "", w.propose("second").at("responseId"): ""}
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		start = make(chan struct{})
	)
	for i := range 64 {
		wg.Go(func() {
			<-start
			words := fmt.Sprintf("number %d", i)
			body := fmt.Sprintf(`{"content":%q,"id":%q,"approvalResponse":{"approved":%t,"newBudget":%d,"feedback":%q}}`, words, run, i%2 == 0, 100+i, words)
			got, err := w.try(w.reviewer, http.MethodPost, "/message", body, "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("message %d: %v", i, err)
				return
			}
			if got.status != http.StatusAccepted {
				got.want(t, http.StatusConflict, map[string]any{"code": "no_pending_approval"})
				return
			}
			id := got.at("approval.responseId")
			if before, known := proposals[id]; !known || before != "" {
				t.Errorf("message %d decided %v, which was %q", i, id, before)
			}
			proposals[id] = words
		})
	}
	close(start)
	wg.Wait()
	messages, steps := 0, 0
	for _, e := range w.stands().entries("entries") {
		switch e.text("type") {
		case "message":
			messages++
			if want := proposals[e.at("message.responseId")]; e.text("message.content") != want {
				t.Errorf("%v was decided with %q, and %q was stored", e.at("message.responseId"), want, e.text("message.content"))
			}
		case "budget":
			steps++
		case "response":
			if want := proposals[e.at("response.responseId")]; want == "" || e.text("response.decision.reason") != want {
				t.Errorf("%v stands with %q, want %q", e.at("response.responseId"), e.text("response.decision.reason"), want)
			}
		}
	}
	if messages != 2 || steps != 2 {
		t.Errorf("%d messages and %d changes of the budget are stored, want 2 and 2", messages, steps)
	}
}
