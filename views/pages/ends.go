package pages

import (
	"slices"

	"countersign/models"
	"countersign/views/ui"
)

// endsOf names the ends of what a request decides. Other content has another name,
// so what was seen of one is not taken for the other.
func endsOf(r *models.Response) string { return string(r.ID) + " " + r.Digest }

// markEnds marks the last lines that must have been in view before a request that
// can do much harm is approved.
func (v *Approval) markEnds(r *models.Response) {
	if !v.Arms || !v.Pending {
		return
	}
	v.Ends = endsOf(r)
	parts := models.PageParts{Source: part(v.Whole, true), Other: part(v.Other, v.Other.Text != ""), Beside: part(v.Beside, v.Beside.Text != "")}
	drawn := []*ui.Code{&v.Whole, &v.Other, &v.Beside}
	for i := range v.Blocks {
		parts.Blocks = append(parts.Blocks, models.PagePart{Name: v.Blocks[i].Part})
		drawn = append(drawn, &v.Blocks[i].Code)
	}
	see := parts.ToSee()
	for _, c := range drawn {
		if slices.Contains(see, c.Part) {
			c.End = v.end(c.Part)
		}
	}
}

// end names the end of a part; empty: nobody has to see it.
func (v Approval) end(part string) string {
	if v.Ends == "" {
		return ""
	}
	return v.Ends + " " + part
}
