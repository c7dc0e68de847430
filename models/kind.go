package models

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Kind is what a response is.
type Kind string

// The kinds of response.
const (
	KindReply    Kind = "reply"
	KindProposal Kind = "proposal"
	KindToolCall Kind = "tool_call"
	KindQuestion Kind = "question"
	KindBudget   Kind = "budget"
)

// Kinds is the list of all kinds.
func Kinds() []Kind {
	return []Kind{KindReply, KindProposal, KindToolCall, KindQuestion, KindBudget}
}

// Word is the kind as people say it.
func (k Kind) Word() string {
	switch k {
	case KindToolCall:
		return "tool call"
	case KindBudget:
		return "budget request"
	case KindReply, KindProposal, KindQuestion:
	}
	return string(k)
}

// Spoken reports whether a request of this kind is one of a conversation's messages: it is decided there, also without
// being named.
func (k Kind) Spoken() bool { return k == KindProposal || k == KindBudget }

// CheckOptions refuses options that a person could take for one another: two whose
// name or title reads the same but for spaces around it, case and compatible
// characters. So no button that reads "No" can release "yes". list is what an error calls them.
func CheckOptions(list string, options []Option) error {
	seen := make(map[string]int, 2*len(options))
	for i, o := range options {
		for _, label := range [...]struct{ field, text string }{{"name", o.Name}, {"title", o.Title}} {
			if label.text == "" {
				continue
			}
			reads := folded(label.text)
			if other, ok := seen[reads]; ok && other != i {
				return Invalid(fmt.Sprintf("%s[%d].%s", list, i, label.field),
					"reads like option %d; a person could not tell them apart", other)
			}
			seen[reads] = i
		}
	}
	return nil
}

// folded is what a label reads as: trimmed, NFKC, without case.
func folded(label string) string {
	return strings.TrimSpace(norm.NFKC.String(cases.Fold().String(norm.NFKC.String(label))))
}
