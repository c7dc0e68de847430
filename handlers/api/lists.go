package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"countersign/models"
)

// What ends a page early.
const (
	listDescription = "A page ends at its limit or after 1 MiB, with at least one entry: go on with its cursor until there is none."
	// How many rows are searched is the store's to say.
	filteredDescription = "A page ends at its limit, after 1 MiB, or after some thousand requests were searched. If few of them match, the page may be short or empty: go on with its cursor until there is none."
)

// listProblems are the codes that every list may answer with.
var listProblems = []models.Code{models.CodeTooManyRequests}

// beginList takes one of the places of those who list; it is given back when the
// answer was sent. CodeTooManyRequests if none is free in time.
func (a *API) beginList(ctx context.Context, in *caller) error {
	if err := a.kit.Lists.Begin(ctx, humaecho.Unwrap(in.from).Response()); err != nil {
		return err //nolint:wrapcheck // ours, or the caller's own
	}
	in.from.lists = true
	return nil
}

func (a *API) endList(c *signedIn) {
	if c.lists {
		a.kit.Lists.End()
	}
}
