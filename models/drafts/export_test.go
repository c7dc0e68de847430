package drafts

import (
	"context"

	"countersign/models"
	"countersign/models/suggest"
)

// SuggestionsOf is Suggestions with fewer calls.
func (d *Drafts) SuggestionsOf(ctx context.Context, actor models.Actor, calls, rejections int) (*suggest.Report, error) {
	return d.suggestions(ctx, actor, reach{calls, rejections})
}
