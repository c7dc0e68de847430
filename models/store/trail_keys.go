package store

import (
	"slices"
	"strings"

	"countersign/models/ledger"
	"countersign/models"
)

// TrailPart is a kind of entries that a trail can be narrowed to.
type TrailPart string

// The parts of a trail.
const (
	TrailDecisions     TrailPart = "decisions" // that the person made
	TrailRequests      TrailPart = "requests"
	TrailConversations TrailPart = "conversations"
	TrailRules         TrailPart = "rules"
	TrailAccess        TrailPart = "access"
)

// trailParts are the actions of each part. The + keeps the planner from taking the
// index of all actions: a person's own entries are fewer.
var trailParts = map[TrailPart]string{
	TrailDecisions:     `+action IN ('approval.approved', 'approval.rejected', 'approval.voted', 'approval.taken_back', 'approval.withdrawn', 'approval.cancelled')`,
	TrailRequests:      `+action GLOB 'approval.*'`,
	TrailConversations: `(+action GLOB 'conversation.*' OR +action GLOB 'message.*' OR +action GLOB 'response.*' OR +action GLOB 'call.*')`,
	TrailRules:         `(+action GLOB 'policy.*' OR +action GLOB 'grant.*' OR +action GLOB 'upstream.*')`,
	TrailAccess: `(+action GLOB 'user.*' OR +action GLOB 'session.*' OR +action GLOB 'token.*' OR +action GLOB 'agent.*' OR +action GLOB 'invite.*'` +
		` OR +action GLOB 'setup_link.*')`,
}

// TrailOutcome is how a request ended: a final status, or TrailLetThrough.
type TrailOutcome string

// TrailLetThrough is the outcome of calls that ran without a person.
const TrailLetThrough TrailOutcome = "let_through"

// TrailOutcomes is the list of the outcomes that a trail can be narrowed to: the
// final statuses and TrailLetThrough.
func TrailOutcomes() []TrailOutcome {
	var out []TrailOutcome
	for _, status := range models.FinalStatuses() {
		out = append(out, TrailOutcome(status))
	}
	return append(out, TrailLetThrough)
}

// action is that of the entries of this outcome: each outcome is one entry.
func (o TrailOutcome) action() string { return "approval." + string(o) }

// keys is the driving part: numbers of entries from low to before high, newest
// first, through one index or two.
func (q TrailQuery) keys(low, high int64, page int) (text string, args []any) {
	most := page
	if picks, _ := q.picks(); picks != "" {
		most = trailLook
	}
	through := func(value any) []any { return []any{value, low, high, most} }
	switch {
	case q.Conversation != "":
		return ledger.KeysThrough("ledger_conversation", "conversation_id"), through(q.Conversation)
	case q.What == TrailDecisions:
		return ledger.KeysThrough("ledger_actor", "actor_id"), through(q.Person)
	}
	return ledger.Concerning, append(slices.Concat(through(q.Person), through(q.Person)), most)
}

// picks are the filters that do not drive.
func (q TrailQuery) picks() (string, []any) {
	var text strings.Builder
	var args []any
	and := func(pick string, values ...any) {
		text.WriteString(` AND ` + pick)
		args = append(args, values...)
	}
	if q.Conversation != "" {
		if q.What == TrailDecisions {
			and(`+actor_id = ?`, q.Person)
		} else {
			and(`(+actor_id = ? OR +owner_id = ?)`, q.Person, q.Person)
		}
	}
	if q.What != "" {
		and(trailParts[q.What])
	}
	if q.Outcome != "" {
		and(`+action = ?`, q.Outcome.action())
	}
	if q.Agent != "" {
		and(`(+actor_id = ? OR EXISTS (SELECT 1 FROM conversations c WHERE c.id = ledger.conversation_id AND c.agent_id = ?))`, q.Agent, q.Agent)
	}
	return text.String(), args
}
