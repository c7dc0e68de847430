package models

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
