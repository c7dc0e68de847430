package drafts

import (
	"context"

	"countersign/models"
)

// SuggestionsOf is Suggestions with fewer calls.
func (d *Drafts) SuggestionsOf(ctx context.Context, actor models.Actor, calls, rejections int) (*Suggestions, error) {
	return d.suggestions(ctx, actor, reach{calls, rejections})
}
