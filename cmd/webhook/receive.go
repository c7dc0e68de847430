package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"countersign/cmd/terminal"
	"countersign/models"
)

const (
	// maxEvent is how much is read of an event: far more than the server sends.
	maxEvent = 4 << 20
	// maxSeenEvents is how many ids are kept, to say which events come again.
	maxSeenEvents = 10_000
)

// webhookReceiver prints events that are signed with its secret.
type webhookReceiver struct {
	hook     *webhooks.Webhook
	status   int // that verified events are answered with
	out, say io.Writer

	mu    sync.Mutex // one event is printed at a time
	seen  map[string]int
	order []string // of seen, oldest first
}

// ServeHTTP verifies an event, prints it and answers. It prints nothing of an event that fails verification: anybody on
// the machine may have sent it.
func (r *webhookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	status, why := r.receive(w, req)
	if why != "" {
		r.mu.Lock()
		fmt.Fprintf(r.say, "refused with %d: %s\n", status, why)
		r.mu.Unlock()
		http.Error(w, why, status)
		return
	}
	w.WriteHeader(status)
}

// receive gives the status to answer with, and why it is none of a verified event.
func (r *webhookReceiver) receive(w http.ResponseWriter, req *http.Request) (status int, why string) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "events come by POST"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxEvent))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge, "the event is larger than 4 MiB"
	} else if err != nil {
		return http.StatusBadRequest, "the event could not be read to its end"
	}
	if err := r.hook.Verify(body, req.Header); err != nil {
		return http.StatusUnauthorized, unverified(err)
	}
	if err := r.print(req.Header.Get(webhooks.HeaderWebhookID), body); err != nil {
		return http.StatusInternalServerError, "the event could not be printed"
	}
	return r.status, ""
}

// unverified says why an event was not verified, and what to do.
func unverified(err error) string {
	switch {
	case errors.Is(err, webhooks.ErrRequiredHeaders):
		return "it is not signed"
	case errors.Is(err, webhooks.ErrMessageTooOld), errors.Is(err, webhooks.ErrMessageTooNew):
		return "it was signed more than 5 minutes ago or ahead: compare the clocks of both machines"
	case errors.Is(err, webhooks.ErrNoMatchingSignature):
		return "it is not signed with this secret: use the secret of this endpoint"
	}
	return "its signature cannot be read"
}

// print writes one event, as text that a terminal may show (I13).
func (r *webhookReceiver) print(id string, body []byte) error {
	var event struct {
		Type string `json:"type"`
	}
	var text bytes.Buffer
	if json.Unmarshal(body, &event) != nil || json.Indent(&text, body, "", "  ") != nil {
		text.Reset()
		text.Write(body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	again := ""
	if n := r.count(id); n > 1 {
		again = fmt.Sprintf(", sent %d times", n)
	}
	_, err := fmt.Fprintf(r.out, "%s  %s  %s  verified, answered %d%s\n%s\n\n",
		time.Now().Format(time.TimeOnly), models.RevealName(event.Type), models.RevealName(id), r.status, again,
		terminal.Plain(text.String()))
	return err
}

// count notes that an event came, and says how often it has.
func (r *webhookReceiver) count(id string) int {
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if r.seen[id]++; r.seen[id] == 1 {
		if r.order = append(r.order, id); len(r.order) > maxSeenEvents {
			delete(r.seen, r.order[0])
			r.order = r.order[1:]
		}
	}
	return r.seen[id]
}
