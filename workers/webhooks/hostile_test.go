package webhooks_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/webhooks"
)

// Endpoints that drip, never end, redirect or are dead stop no other, are bounded, and each says
// what is wrong with it.
func TestHostileEndpointsStopNoOther(t *testing.T) {
	t.Parallel()
	p, good := newPlace(t), newReceiver(t)
	inside := newReceiver(t) // where a redirect would lead
	inside.key(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	ended := make(chan struct{})
	bad := map[models.SendClass]http.HandlerFunc{
		models.SendTimeout: func(w http.ResponseWriter, r *http.Request) { // a byte now and then
			for {
				if _, err := w.Write([]byte("x")); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-ended:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		},
		models.SendTooLarge: func(w http.ResponseWriter, _ *http.Request) { // 1 GiB
			for range 1 << 10 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		},
		models.SendRedirect: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL+"/inside", http.StatusTemporaryRedirect)
		},
	}
	state := map[models.SendClass]models.WebhookID{}
	for class, handler := range bad {
		r := newReceiver(t)
		r.Config.Handler = handler
		h := p.add(t, r, models.WebhookInput{Name: string(class)})
		state[class] = h.ID
	}
	t.Cleanup(func() { close(ended) })
	dead := storetest.ClosedPort(t)
	storetest.Must(t, p.People.AllowHost(t.Context(), p.admin, dead))
	h, _, err := p.Webhooks.Add(t.Context(), p.admin, models.WebhookInput{Name: "dead", URL: "http://" + dead})
	storetest.Must(t, err)
	state[models.SendConnect] = h.ID
	h, _, err = p.Webhooks.Add(t.Context(), p.admin, models.WebhookInput{Name: "not allowed", URL: "http://" + net.JoinHostPort("localhost", "1")})
	storetest.Must(t, err)
	state[models.SendRefusedHost] = h.ID
	g := p.add(t, good, models.WebhookInput{Name: "good"})
	p.runs(t, func(o *webhooks.Options) { o.Out = p.out(time.Second) })
	for i := range 20 {
		p.ask(t, fmt.Sprint("run ", i), fmt.Sprint(i))
	}
	good.await(t, "the good one gets all", func() bool { return p.state(t, g.ID).Behind == 0 })
	for class, id := range state {
		good.await(t, "each says what is wrong: "+string(class), func() bool {
			s := p.state(t, id)
			return s.Last != nil && s.Last.Class == class && s.BlockCount > 0
		})
		answers, err := p.Webhooks.Answers(t.Context(), p.admin, id)
		storetest.Must(t, err)
		for _, a := range answers {
			if len(a.Body) > 1<<10 || strings.Contains(string(a.Body), "input-") {
				t.Errorf("%s: %d bytes are kept", class, len(a.Body))
			}
		}
		if s := p.state(t, id); s.BlockCount > models.WebhookDownAfter+4 {
			t.Errorf("%s: %d streams are blocked; it is down", class, s.BlockCount)
		}
	}
	if len(inside.tried())+len(inside.bad) > 0 {
		t.Error("a redirect was followed")
	}
}
