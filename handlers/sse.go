package handlers

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// eventStream is the type of an answer that only its reader ends.
const eventStream = "text/event-stream"

// StreamHead begins every stream. It tells its reader to connect again a second after the stream ends, as it does
// when the server stops: another server may be there by then.
const StreamHead = ": open\nretry: 1000\n\n"

// EventStream writes server-sent events. Every call is on the wire when it
// returns; an error means that the reader is gone or too slow.
type EventStream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// Event is one message of a stream; without a name it is what readers call a
// plain message. None of its parts may hold a line break.
type Event struct{ ID, Name, Data string }

// NewEventStream sends the head of a stream's answer, which caches keep as little as w's
// headers say, or not at all.
func NewEventStream(w http.ResponseWriter) (*EventStream, error) {
	h := w.Header()
	h.Set("Content-Type", eventStream)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	s := &EventStream{w: w, rc: http.NewResponseController(w)}
	return s, s.write(StreamHead)
}

// String is the event as it is sent.
func (e Event) String() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e Event) write(b *strings.Builder) {
	if e.ID != "" {
		b.WriteString("id: " + e.ID + "\n")
	}
	if e.Name != "" {
		b.WriteString("event: " + e.Name + "\n")
	}
	b.WriteString("data: " + e.Data + "\n\n")
}

// Send writes events together, so that they arrive together.
func (s *EventStream) Send(events ...Event) error {
	var b strings.Builder
	for _, e := range events {
		e.write(&b)
	}
	return s.write(b.String())
}

// Comment writes a line that readers skip: it keeps the connection open and finds out when its reader is gone.
func (s *EventStream) Comment(text string) error { return s.write(": " + text + "\n\n") }

// From tells a reader who has heard of nothing yet where to continue, should the
// stream be cut before its first event.
func (s *EventStream) From(id string) error { return s.write(": from here on\nid: " + id + "\n\n") }

func (s *EventStream) write(text string) error {
	// A reader that takes nothing is given up, and so is a stream that its surface
	// has forgotten.
	_ = s.rc.SetReadDeadline(after(quietStream))
	_ = s.rc.SetWriteDeadline(after(slowReader))
	if _, err := io.WriteString(s.w, text); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := s.rc.Flush(); err != nil {
		return fmt.Errorf("flush event: %w", err)
	}
	return nil
}
