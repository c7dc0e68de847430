package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"countersign/handlers"
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

// listDescription tells what ends a page early.
const listDescription = "A page ends at its limit or after 1 MiB, with at least one entry: go on with its cursor until there is none."

// listProblems are the codes that every list may answer with.
var listProblems = []models.Code{models.CodeTooManyRequests}

// beginList takes one of the places of those who list; it is given back when the
// answer was sent. CodeTooManyRequests if none is free in time.
func (a *API) beginList(ctx context.Context, in *caller) error {
	select {
	case a.lists <- struct{}{}:
	default:
		end := time.NewTimer(listPatience)
		defer end.Stop()
		select {
		case a.lists <- struct{}{}:
		case <-end.C:
			return &models.Error{Code: models.CodeTooManyRequests, RetryAfterSeconds: 1, Text: "Too many lists are being read. Try again in 1 s."}
		case <-ctx.Done():
			return ctx.Err() //nolint:wrapcheck // the caller's own
		}
	}
	in.from.lists = true
	handlers.WriteWithin(humaecho.Unwrap(in.from).Response(), listTimeout)
	return nil
}

func (a *API) endList(c *signedIn) {
	if c.lists {
		<-a.lists
	}
}
