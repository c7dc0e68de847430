package models

import "slices"

// The names of the parts of a request on its page, beside the blocks that are made of
// its input.
const (
	PartSource = "source" // the whole input, or the content
	PartOther  = "other"  // the input that another system asks with, and runs
	PartBeside = "beside" // what it sends beside that
)

// PagePart is a part of the content to decide on, as a page draws it.
type PagePart struct {
	Name string
	Fold bool // something of it is out of sight until somebody opens it
}

// PageParts are all parts of the content to decide on, as a page draws them; nil: it has none.
type PageParts struct {
	Blocks []PagePart // made of the input, for its kind
	Source *PagePart
	Other  *PagePart
	Beside *PagePart
}

// ToOpen names the folded parts that must be opened before an approval that can do
// much harm. Of a call that another system runs, the blocks do not count: its input
// is the one that runs.
func (p PageParts) ToOpen() []string {
	var out []string
	for _, part := range slices.Concat(p.mainParts(), listed(p.Source), listed(p.Beside)) {
		if part.Fold {
			out = append(out, part.Name)
		}
	}
	return out
}

// ToSee names the parts whose last lines must have been in view before such an
// approval: the blocks and the source, for it is the source that runs. Of a call that
// another system runs, it is the input that it sends.
func (p PageParts) ToSee() []string {
	source := p.Source
	if p.Other != nil {
		source = nil
	}
	var out []string
	for _, part := range slices.Concat(p.mainParts(), listed(source), listed(p.Beside)) {
		out = append(out, part.Name)
	}
	return out
}

// mainParts are the blocks, or the input that runs in their place.
func (p PageParts) mainParts() []PagePart {
	if p.Other != nil {
		return []PagePart{*p.Other}
	}
	return p.Blocks
}

func listed(part *PagePart) []PagePart {
	if part == nil {
		return nil
	}
	return []PagePart{*part}
}

// PageView is what a page's reader has looked at when they decide there. A decision
// without one counts as made on a page where nothing was looked at; those that come
// from no page say NoPage.
type PageView struct {
	Folds   []string // the parts to open, as PageParts.ToOpen names them
	SeenEnd bool     // the last lines of PageParts.ToSee were in view

	// Confirms says that the page is the second one for this approval: what can do much harm is
	// not approved with one press.
	Confirms bool

	none bool
}

// NoPage is for decisions of programs: they are judged by the digest alone.
var NoPage = &PageView{none: true}

// UnconfirmedError is the error of an approval that has to be confirmed, and is right otherwise.
type UnconfirmedError struct {
	Input []byte // the edited input that would be approved; nil: as it was sent
}

func (*UnconfirmedError) Error() string { return "the approval was not confirmed" }

// MustView reports whether this request must be viewed before it is approved: on
// pages, one of high or critical risk.
func (r *Response) MustView(v *PageView) bool {
	return r.Risk.NeedsDigest() && (v == nil || !v.none)
}

// Unopened are the parts, of those that are folded, that somebody still has to open
// before approving this request: none where the risk is low or medium.
func (r *Response) Unopened(folds, openParts []string) []string {
	if !r.Risk.NeedsDigest() {
		return nil
	}
	var out []string
	for _, part := range folds {
		if !slices.Contains(openParts, part) {
			out = append(out, part)
		}
	}
	return out
}

// CheckOpened refuses to let through what can do much harm while a part of it is
// still folded. CodeInvalid.
func (r *Response) CheckOpened(folds, openParts []string) error {
	switch n := len(r.Unopened(folds, openParts)); n {
	case 0:
		return nil
	case 1:
		return Errorf(CodeInvalid, "Nothing was decided: a section of this request is closed. Open it, then approve.")
	default:
		return Errorf(CodeInvalid, "Nothing was decided: %d sections of this request are closed. Open them, then approve.", n)
	}
}

// CheckViewed refuses to approve what can do much harm before all of it was opened, the approval
// was shown once more, and its last lines were seen there. CodeInvalid; *UnconfirmedError.
func (r *Response) CheckViewed(v *PageView, openParts []string) error {
	switch {
	case !r.MustView(v):
		return nil
	case v == nil:
		return endNotSeen()
	}
	if err := r.CheckOpened(v.Folds, openParts); err != nil {
		return err
	}
	switch {
	case !v.Confirms:
		return &UnconfirmedError{}
	case !v.SeenEnd:
		return endNotSeen()
	}
	return nil
}

func endNotSeen() error {
	return Errorf(CodeInvalid,
		"Nothing was decided: the end of this request was not shown yet. Scroll to the end first, then approve.")
}
