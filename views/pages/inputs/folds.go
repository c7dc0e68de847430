package inputs

import (
	"countersign/models"
	"countersign/views/ui"
)

// SeenEndField is the field that says "1" where the last line was in view, or all was shown
// above the button.
const SeenEndField = "seen_end"

// Folds are the names of the parts of a request that its page collapses and that must be opened: see models.PageParts.
// beside is the data that another system sends beside the input. Empty if nothing is collapsed.
func Folds(r *models.Response, beside string) []string {
	return partsOf(r, beside).ToOpen()
}

// partsOf are the parts of a request as its page draws them before any was opened.
func partsOf(r *models.Response, beside string) models.PageParts {
	var parts models.PageParts
	if c, ok := BesideInput(r, beside, ""); ok {
		parts.Beside = PartOf(c, true)
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		parts.Source = PartOf(ui.Code{Part: models.PartSource, Text: r.Content}, true)
		return parts
	}
	canonical := CanonicalInput(r)
	whole := ui.Code{Part: models.PartSource, Text: Indent(canonical)}
	parts.Source = PartOf(whole, sourceShown(r, whole))
	if other, ok := OtherInput(r, ""); ok {
		parts.Other = PartOf(other, true)
		return parts
	}
	var blocks []ui.Block
	blocks, _, _ = Blocks(r, canonical)
	for _, b := range blocks {
		parts.Blocks = append(parts.Blocks, models.PagePart{Name: b.Part, Fold: b.Folds()})
	}
	return parts
}

// PartOf is a part of a page; nil where it is not drawn.
func PartOf(c ui.Code, drawn bool) *models.PagePart {
	if !drawn {
		return nil
	}
	return &models.PagePart{Name: c.Part, Fold: c.Folds()}
}

// sourceShown reports whether the page shows the source of the input or content:
// it does but for a budget request, which it says in words, and a question that
// has no input.
func sourceShown(r *models.Response, whole ui.Code) bool {
	return r.Kind != models.KindBudget && (r.Kind != models.KindQuestion || whole.Text != "{}")
}
