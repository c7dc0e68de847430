package models

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DigestVersion says what the digests of new responses cover. It is stored with
// each row, and a row is always judged by its own:
//
//   - 1: the kind with tool name and input, or with the content;
//   - 2: of a question its text and all its options too, and of a proposal the
//     budget that it wishes for. All other kinds as in 1.
const DigestVersion = 2

// CanonicalQuestion is what the digest of a question is made over: what a call's
// is, with the text and the options as they are stored (a JSON array, or empty).
func CanonicalQuestion(toolName string, input []byte, text, options string) ([]byte, error) {
	return canonicalOf(struct {
		Input    jsontext.Value `json:"input"`
		Kind     Kind           `json:"kind"`
		Options  jsontext.Value `json:"options"`
		Text     string         `json:"text"`
		ToolName string         `json:"toolName"`
	}{input, KindQuestion, jsontext.Value(cmp.Or(options, "[]")), text, toolName})
}

// CanonicalProposal is what the digest of a proposal is made over: its content
// and the budget that it wishes for, null for none.
func CanonicalProposal(content string, budget *int64) ([]byte, error) {
	return canonicalOf(struct {
		Content      string `json:"content"`
		EnergyBudget *int64 `json:"energyBudget"`
		Kind         Kind   `json:"kind"`
	}{content, budget, KindProposal})
}

func canonicalOf(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, Invalid("content", "must be valid JSON in UTF-8")
	}
	return canonical("content", raw)
}

// CanonicalUnder returns the bytes that the digest of r is made over in a version.
func (r *Response) CanonicalUnder(version int) ([]byte, error) {
	switch r.Kind {
	case KindReply:
		return CanonicalContent(r.Kind, r.Content)
	case KindProposal:
		if version >= 2 {
			return CanonicalProposal(r.Content, r.EnergyBudget)
		}
		return CanonicalContent(r.Kind, r.Content)
	case KindQuestion:
		if version >= 2 {
			return CanonicalQuestion(r.ToolName, []byte(r.ToolInputJSON), r.Description, r.Options)
		}
	case KindToolCall, KindBudget:
	}
	return Canonical(r.Kind, r.ToolName, []byte(r.ToolInputJSON))
}

// CanonicalForm is CanonicalUnder the row's own version.
func (r *Response) CanonicalForm() ([]byte, error) { return r.CanonicalUnder(r.DigestVersion) }

// DigestUnder is the digest of r in a version.
func (r *Response) DigestUnder(version int) (string, error) {
	canonical, err := r.CanonicalUnder(version)
	if err != nil {
		return "", err
	}
	return Digest(canonical), nil
}

// DigestCoversMore reports whether the digest covers more than is kept, so that it
// can't be computed again: of an input that was cut, and in version 1 of a question of
// another system, whose digest included its id there.
func (r *Response) DigestCoversMore() bool {
	return r.InputBytes != nil || r.DigestVersion < 2 && r.UpstreamID != nil && r.Kind == KindQuestion
}

// StoredOptions writes options as they are stored.
func StoredOptions(options []Option) (string, error) {
	if len(options) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(options)
	if err != nil {
		return "", Invalid("options", "must be valid text")
	}
	return string(raw), nil
}

// DigestOfText is the digest of a text as a JSON string; empty for none.
func DigestOfText(s string) string {
	if s == "" {
		return ""
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return Digest(raw)
}
