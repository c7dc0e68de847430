package models

import "slices"

// PageView is what a page's reader has looked at when they decide there. Callers
// without a page have none, and are judged by their digest alone.
type PageView struct {
	Folds   []string // the parts of the request that its page folds
	SeenEnd bool     // the last line of what is decided was in view
}

// Unopened are the folded parts that somebody has not opened yet.
func Unopened(folds, opened []string) []string {
	var out []string
	for _, part := range folds {
		if !slices.Contains(opened, part) {
			out = append(out, part)
		}
	}
	return out
}

// CheckOpened refuses to let through what can do much harm while a part of it is
// still folded. CodeInvalid.
func (r *Response) CheckOpened(folds, opened []string) error {
	if !r.Risk.NeedsDigest() {
		return nil
	}
	switch n := len(Unopened(folds, opened)); n {
	case 0:
		return nil
	case 1:
		return Errorf(CodeInvalid, "Nothing was decided: a part of this is folded. Open it first, then approve.")
	default:
		return Errorf(CodeInvalid, "Nothing was decided: %d parts of this are folded. Open them first, then approve.", n)
	}
}

// CheckLooked refuses to let through what can do much harm before all of it was
// opened and its last line was seen. CodeInvalid.
func (r *Response) CheckLooked(v PageView, opened []string) error {
	if !r.Risk.NeedsDigest() {
		return nil
	}
	if err := r.CheckOpened(v.Folds, opened); err != nil {
		return err
	}
	if !v.SeenEnd {
		return Errorf(CodeInvalid, "Nothing was decided: the end of this request was not shown yet. Scroll to the end first, then approve.")
	}
	return nil
}
