package inputs

import (
	"bytes"
	"encoding/json"
	"slices"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// editMost is how long an input may be to be edited on the page.
const editMost = 64 << 10

// View is a request's input in the forms that a decider reads.
type View struct {
	Blocks   []ui.Block // the layout for its kind
	all      bool       // nothing of it is left out of the blocks
	Whole    ui.Code    // all of it, indented; members and number literals kept
	Raw      ui.Code    // the bytes that are hashed
	Edit     string     // for the editor; empty if too long
	found    models.Findings
	hosts    []string // that may be read as others, and why
	tampered bool     // the bytes do not give the stored digest
}

// Folding says how folded parts open: on the page if the URL is empty, else by a
// POST there. Parts that the reader has opened are shown in full.
type Folding struct {
	URL    string
	Opened []string
}

// Of returns a part, folded or opened.
func (f Folding) Of(c ui.Code, part string) ui.Code {
	c.Part = part
	if f.URL != "" {
		c.OpenURL, c.OpenInto, c.Opened = f.URL, "#approval", slices.Contains(f.Opened, part)
	}
	return c
}

// New makes the views of what a request asks for, folded as f says.
func New(r *models.Response, f Folding) View {
	var v View
	canonical, hash := canonicalOf(r)
	v.tampered = (hash == nil || models.Digest(hash) != r.Digest) && !r.DigestCoversMore() && !r.IsRemoved()
	_, v.found = models.Reveal(string(hash), false)
	v.Raw = ui.Code{ID: "raw", Label: "Hashed bytes", Text: string(hash)}
	if r.DigestCoversMore() {
		v.Raw.Label = "What was kept. The digest covers more than this."
	}
	if r.IsRemoved() {
		v.Raw.Label = "Placeholder. The digest covers what was removed."
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		_, v.found = models.Reveal(r.Content, true)
		v.Whole = f.Of(ui.Code{ID: "whole", Label: "Content", Text: r.Content, Numbers: true}, models.PartSource)
		v.hosts = lookAlikes(r.Content)
		return v
	}
	lines := Indent(canonical)
	v.Whole = f.Of(ui.Code{
		ID: "whole", Label: "Whole input", Size: views.Bytes(len(r.ToolInputJSON)) + " as sent", Text: lines,
		Numbers: true,
	}, models.PartSource)
	v.hosts = lookAlikes(string(canonical))
	var says string
	if v.Blocks, v.all, says = Blocks(r, canonical); says != "" {
		v.Whole.Size += ", " + says
	}
	for i := range v.Blocks {
		v.Blocks[i].Code = f.Of(v.Blocks[i].Code, v.Blocks[i].Part)
	}
	if r.IsRemoved() {
		v.Whole.Label, v.Whole.Size = "Placeholder for the input", ""
		return v
	}
	if r.InputBytes != nil {
		v.Whole.Label, v.Whole.Size = "Beginning of the input", "of "+views.Number(*r.InputBytes)+" bytes"
	}
	if r.InputBytes == nil {
		v.Whole.WholeURL, v.Raw.WholeURL = views.InputURL(r.ID), views.HashedURL(r.ID)
	}
	if r.Kind != models.KindBudget {
		v.Edit = editable(lines)
	}
	return v
}

// Editable is an input as an editor shows it; empty: it is too long.
func Editable(input string) string { return editable(IndentJSON(input)) }

func editable(lines string) string {
	if len(lines) > editMost {
		return ""
	}
	return models.VisibleJSON(lines)
}

// Blocks are the layout of an input, whether that shows all of it, and in words why there is none.
func Blocks(r *models.Response, canonical []byte) (blocks []ui.Block, all bool, says string) {
	whole := r.Kind == models.KindToolCall && r.InputBytes == nil
	blocks, all = inputBlocksFor(r.ToolName, canonical, whole)
	if whole && len(blocks) == 0 {
		blocks, says = inputTree(canonical)
		all = len(blocks) > 0
	}
	return blocks, all, says
}

// DrawnWhole reports whether the blocks draw every member of the input, every value to its
// end, and nothing in them has to be opened first.
func (v *View) DrawnWhole() bool {
	return v.all && !v.tampered && !slices.ContainsFunc(v.Blocks, ui.Block.Folds)
}

// canonicalOf returns the canonical input and the whole canonical form that the
// digest is over; nil where stored bytes are not what an ask would have stored.
func canonicalOf(r *models.Response) (input, hash []byte) {
	hash, err := r.CanonicalForm()
	if err != nil {
		hash = nil
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		return nil, hash
	}
	return CanonicalInput(r), hash
}

// CanonicalInput is the input in canonical form, or as it is stored where that
// is not what an ask would have stored.
func CanonicalInput(r *models.Response) []byte {
	input, err := models.CanonicalJSON("input", []byte(r.ToolInputJSON))
	if err != nil {
		return []byte(r.ToolInputJSON)
	}
	return input
}

// indentMost is how long JSON may be to be indented: a hundred spaces and more may precede each of its values, and of a
// longer text only both ends are drawn.
const indentMost = 256 << 10

// Indent indents JSON without touching a member, a string or a number literal. A text longer than indentMost stays
// unchanged.
func Indent(raw []byte) string {
	if len(raw) > indentMost {
		return string(raw)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

// lookAlikes are the hosts in a text that may be read as others, and why.
func lookAlikes(text string) []string {
	var out []string
	for _, host := range ui.Hosts(text, 20) {
		if why, suspicious := models.LookAlike(host); suspicious {
			out = append(out, models.RevealString(why, false))
		}
	}
	for _, why := range ui.OddAddresses(text, 20) {
		out = append(out, models.RevealString(why, false))
	}
	return out
}
