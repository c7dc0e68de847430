package handlers

import (
	"context"
	"net/http"
	"time"

	"countersign/models"
)

const (
	// listsAtOnce is how many lists are read, built and sent at a time: each takes
	// some times store.MaxListBytes until its reader has it.
	listsAtOnce = 8
	// listPatience is how long one more waits for its turn.
	listPatience = time.Second
	// listTimeout is how long a reader may take for a list.
	listTimeout = 10 * time.Second
)

// Lists are the places of those who list for programs, over all surfaces.
type Lists struct{ places chan struct{} }

// NewLists has all places free.
func NewLists() *Lists { return &Lists{places: make(chan struct{}, listsAtOnce)} }

// Begin takes a place, to be given back by End when the answer was sent to w.
// CodeTooManyRequests if none is free in time.
func (l *Lists) Begin(ctx context.Context, w http.ResponseWriter) error {
	select {
	case l.places <- struct{}{}:
	default:
		end := time.NewTimer(listPatience)
		defer end.Stop()
		select {
		case l.places <- struct{}{}:
		case <-end.C:
			return &models.Error{
				Code: models.CodeTooManyRequests, RetryAfterSeconds: 1, Text: "Too many lists are being read. Try again in 1 s.",
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	WriteWithin(w, listTimeout)
	return nil
}

// End gives a place back.
func (l *Lists) End() { <-l.places }
