package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// answerless is an answer that leads nowhere.
type answerless struct{ http.ResponseWriter }

func (answerless) SetReadDeadline(time.Time) error { return nil }

// Long forms of those who have not signed in are read a few at a time. Signing in needs none
// of these places, and who has signed in neither.
func TestLongFormsOfStrangersAreReadAFewAtATime(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	long := url.Values{"reason": {strings.Repeat("x", 8<<10)}}
	leave, err := w.Strangers.Enter(answerless{})
	if err != nil {
		t.Fatal(err)
	}
	p := w.Visitor()
	p.Post("/signin", long).Is(http.StatusTooManyRequests)
	p.Post("/policy/check", long).Is(http.StatusTooManyRequests)
	p.Post("/signin", webtest.Credentials(webtest.OwnerEmail, storetest.Password)).Redirects("/")
	if got := p.Post("/policy/check", long); got.Status == http.StatusTooManyRequests {
		t.Error("who has signed in waits for strangers")
	}
	leave()
	if got := w.Visitor().Post("/signin", long); got.Status == http.StatusTooManyRequests {
		t.Error("the place that was given back is taken")
	}
}
