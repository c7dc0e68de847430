package pages

import (
	"countersign/models"
	"countersign/views/ui"
)

// Folds are the names of the parts of what is decided that its page folds: those
// who approve a request of high or critical risk must have opened all of them.
// beside is what another system sends beside the input. Empty if nothing is folded.
func Folds(r *models.Response, beside string) []string {
	var blocks []ui.Block
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		blocks = append(blocks, ui.Block{Code: ui.Code{Part: partSource, Text: r.Content}})
	} else {
		canonical := canonicalInput(r)
		if other, ok := otherInput(r, ""); ok {
			blocks = append(blocks, ui.Block{Code: other})
		} else {
			blocks, _, _ = inputBlocks(r, canonical)
		}
		if whole := (ui.Code{Part: partSource, Text: indent(canonical)}); sourceShown(r, whole) {
			blocks = append(blocks, ui.Block{Code: whole})
		}
	}
	if c, ok := besideInput(r, beside, ""); ok {
		blocks = append(blocks, ui.Block{Code: c})
	}
	var out []string
	for _, b := range blocks {
		if b.Folds() {
			out = append(out, b.Part)
		}
	}
	return out
}

// sourceShown reports whether the page shows the source of the input or content:
// it does but for a budget request, which it says in words, and a question that
// has no input.
func sourceShown(r *models.Response, whole ui.Code) bool {
	return r.Kind != models.KindBudget && (r.Kind != models.KindQuestion || whole.Text != "{}")
}
