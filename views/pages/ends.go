package pages

import "countersign/models"

// endsOf names the ends of what a request decides. Other content has another name,
// so what was seen of one is not taken for the other.
func endsOf(r *models.Response) string { return string(r.ID) + " " + r.Digest }

// markEnds marks the last lines that must have been in view before a request that
// can do much harm is approved: of the blocks if they hold all of the input, else of
// its source too; and of what another system sends beside it.
func (v *Approval) markEnds(r *models.Response, all bool) {
	if !v.Arms || !v.Pending {
		return
	}
	v.Ends = endsOf(r)
	for i := range v.Blocks {
		v.Blocks[i].End = v.end(v.Blocks[i].Part)
	}
	if v.Other.Text != "" {
		v.Other.End = v.end(partOther) // which is what runs
	} else if !all {
		v.Whole.End = v.end(partSource)
	}
	if v.Beside.Text != "" {
		v.Beside.End = v.end(partBeside)
	}
}

// end names the end of a part; empty: nobody has to see it.
func (v Approval) end(part string) string {
	if v.Ends == "" {
		return ""
	}
	return v.Ends + " " + part
}
