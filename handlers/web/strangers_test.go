package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models/storetest"
)

// answerless is an answer that leads nowhere.
type answerless struct{ http.ResponseWriter }

func (answerless) SetReadDeadline(time.Time) error { return nil }

// Long forms of those who have not signed in are read a few at a time. Signing in needs none
// of these places, and who has signed in neither.
func TestLongFormsOfStrangersAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := url.Values{"reason": {strings.Repeat("x", 8<<10)}}
	leave, err := w.strangers.Enter(answerless{})
	if err != nil {
		t.Fatal(err)
	}
	p := w.visitor()
	p.post("/signin", long).is(http.StatusTooManyRequests)
	p.post("/policy/check", long).is(http.StatusTooManyRequests)
	p.post("/signin", credentials(ownerEmail, storetest.Password)).redirects("/")
	if got := p.post("/policy/check", long); got.status == http.StatusTooManyRequests {
		t.Error("who has signed in waits for strangers")
	}
	leave()
	if got := w.visitor().post("/signin", long); got.status == http.StatusTooManyRequests {
		t.Error("the place that was given back is taken")
	}
}
