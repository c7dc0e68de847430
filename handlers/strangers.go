package handlers

import (
	"net/http"
	"time"

	"countersign/models"
)

const (
	// StrangersAtOnce is how many bodies are read at a time whose senders have not said who
	// they are, over all surfaces.
	StrangersAtOnce = 32
	// StrangersTime is how long each of them may take to arrive.
	StrangersTime = 2 * time.Second
	// BriefBody is how long a body may be that is read without one of the places: no longer than what a connection has
	// in its buffer anyway. So a caller who fills the places keeps no person from signing in.
	BriefBody = 4 << 10
)

// Strangers are the places of those whose bodies are read before it is known who they are.
// The memory that they take together is bounded by this, and not by their number.
type Strangers struct {
	places chan struct{}
	time   time.Duration
}

// NewStrangers has most places free, each for so long.
func NewStrangers(most int, time time.Duration) *Strangers {
	return &Strangers{places: make(chan struct{}, most), time: time}
}

// Enter takes a place to read a body, and bounds the time for it; leave gives the place
// back. CodeTooManyRequests, at once, if none is free: who waits takes memory, too.
func (s *Strangers) Enter(w http.ResponseWriter) (leave func(), err error) {
	select {
	case s.places <- struct{}{}:
	default:
		return nil, &models.Error{
			Code: models.CodeTooManyRequests, RetryAfterSeconds: 2,
			Text: "Too many requests without a sign-in are being read. Try again in 2 s.",
		}
	}
	done := s.Brief(w)
	return func() { done(); <-s.places }, nil
}

// Brief bounds the time of a body that is short enough to need no place.
func (s *Strangers) Brief(w http.ResponseWriter) (done func()) {
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(after(s.time))
	// Who is gone is noticed by reading on.
	return func() { _ = rc.SetReadDeadline(after(ReadTimeout)) }
}

// ReadWithin gives a body the time that each has whose sender is known.
func ReadWithin(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(after(BodyTimeout))
}
