package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

const (
	// blockMost is how long a member may be to be shown a second time, decoded.
	blockMost = 16 << 10
	// editMost is how long an input may be to be edited on the page.
	editMost = 64 << 10
)

// inputView is a request's input in the forms that a decider reads.
type inputView struct {
	blocks   []ui.Code // members that are programs or texts, decoded
	whole    ui.Code   // all of it, indented; members and number literals kept
	raw      ui.Code   // the bytes that are hashed
	edit     string    // for the editor; empty if too long
	found    models.Findings
	tampered bool // the bytes do not give the stored digest
}

func newInputView(r *models.Response) inputView {
	var v inputView
	canonical, hashed := canonicalOf(r)
	v.tampered = (hashed == nil || models.Digest(hashed) != r.Digest) && !digestedElse(r)
	_, v.found = models.Reveal(string(hashed), false)
	v.raw = ui.Code{ID: "raw", Label: "The bytes that are hashed", Text: string(hashed)}
	if digestedElse(r) {
		v.raw.Label = "What is kept; the digest is over more than this"
	}
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		_, v.found = models.Reveal(r.Content, true)
		v.whole = ui.Code{ID: "whole", Label: "Content", Text: r.Content, Numbers: true}
		return v
	}
	indented := indent(canonical)
	v.whole = ui.Code{ID: "whole", Label: "Whole input", Size: views.Bytes(len(r.ToolInputJSON)) + " as sent", Text: indented, Numbers: true}
	v.blocks = blocks(canonical)
	if r.InputBytes != nil {
		v.whole.Label, v.whole.Size = "Beginning of the input", "of "+views.Number(*r.InputBytes)+" bytes"
	}
	if len(indented) <= editMost && r.Kind != models.KindBudget {
		v.edit = visibleJSON(indented)
	}
	return v
}

// digestedElse reports whether a request's digest is over more than is kept as
// its input: what was cut, and a question of another system, which is told apart
// by its id there.
func digestedElse(r *models.Response) bool {
	return r.InputBytes != nil || r.UpstreamID != nil && r.Kind == models.KindQuestion
}

// canonicalOf returns the canonical input and the whole canonical form that the
// digest is over; nil where stored bytes are not what an ask would have stored.
func canonicalOf(r *models.Response) (input, hashed []byte) {
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		hashed, err := models.CanonicalContent(r.Kind, r.Content)
		if err != nil {
			return nil, nil
		}
		return nil, hashed
	}
	raw := []byte(r.ToolInputJSON)
	input, err := models.CanonicalJSON("input", raw)
	if err != nil {
		return raw, nil
	}
	hashed, err = models.Canonical(r.Kind, r.ToolName, raw)
	if err != nil {
		return input, nil
	}
	return input, hashed
}

// indent lays JSON out without touching a member, a string or a number literal.
func indent(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

// programs are members that are code however short they are.
var programs = [...]string{"command", "cmd", "script", "code", "sql", "query"}

// blocks takes out the members that read better decoded: programs, and strings
// of several lines. The whole input is shown besides, so nothing hides here.
func blocks(input []byte) []ui.Code {
	members, ok := objectOf(input)
	if !ok {
		return nil
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if pa, pb := slices.Index(programs[:], a) >= 0, slices.Index(programs[:], b) >= 0; pa != pb {
			if pa {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var out []ui.Code
	for _, name := range names {
		s, ok := stringOf(members[name])
		program := slices.Contains(programs[:], name)
		if !ok || s == "" || len(s) > blockMost || !program && !strings.Contains(s, "\n") {
			continue
		}
		out = append(out, ui.Code{
			ID: fmt.Sprintf("block-%d", len(out)+1), Label: models.RevealString(name, false), Text: s, Numbers: true,
		})
		if len(out) == 8 {
			break
		}
	}
	return out
}

// visibleJSON writes characters that an editor would not show as JSON escapes,
// which mean the same.
func visibleJSON(s string) string {
	segments, found := models.Reveal(s, true)
	if !found.Any() {
		return s
	}
	var b strings.Builder
	rest := s
	for _, seg := range segments {
		if !seg.Escape {
			b.WriteString(seg.Text)
			rest = rest[len(seg.Text):]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		switch {
		case r == '⟨':
			b.WriteRune(r)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
