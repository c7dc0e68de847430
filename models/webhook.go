package models

import (
	"slices"
	"strings"
	"time"
)

// Limits of webhooks.
const (
	MaxWebhooks       = 50
	MaxWebhookBlocks  = 100       // streams of an endpoint that wait for one event of theirs each; then all of it waits
	WebhookAnswers    = 20        // of an endpoint, that are kept
	MaxWebhookInput   = 256 << 10 // bytes of an input that is sent; a larger one is left out
	MaxSkipReason     = 500
	WebhookGiveUp     = 24 * time.Hour // after its first attempt a refused event pauses its endpoint
	WebhookOldKeyLife = 24 * time.Hour // so long the key before still signs
	WebhookFirstPause = time.Second    // after a first refusal; doubled with each
	WebhookLongPause  = 15 * time.Minute
	// refusals of different streams without a success between, after which an endpoint counts as down
	WebhookDownAfter = 3
)

// WebhookID names a Webhook.
type WebhookID string

// WebhookPause says why an endpoint is sent nothing.
type WebhookPause string

// The reasons of a pause; empty: it is not paused.
const (
	PausedByPerson WebhookPause = "by_person"
	PausedFailing  WebhookPause = "failing" // one event was refused for WebhookGiveUp
	PausedGone     WebhookPause = "gone"    // it answered 410: it wants nothing more
)

// WebhookPauses is the list of all reasons.
func WebhookPauses() []WebhookPause { return []WebhookPause{PausedByPerson, PausedFailing, PausedGone} }

// Webhook is an endpoint that gets the ledger's events. It holds no secret.
type Webhook struct {
	ID      WebhookID `gorm:"primaryKey"`
	Name    string
	Label   string   // scheme and host of its address: never a path, which may be a secret
	OwnerID UserID   // who added it, and hears when it is paused; empty: the command line
	Types   []string `gorm:"-"` // of events that it gets; none: all
	// TypesJSON is how Types are stored; use Types.
	TypesJSON string `gorm:"column:types"`
	Inputs    bool   // it gets inputs of requests too
	// Cursor is the number of an entry: all that it gets up to there was accepted, was skipped,
	// or is of a stream that is blocked.
	Cursor    int64
	CreatedAt time.Time `gorm:"autoCreateTime:false"`

	PausedAt  *time.Time
	PausedWhy WebhookPause
	PausedBy  string // name of the person; empty: the worker

	OldKeyUntil    *time.Time // until then the key before signs too; nil: there is none
	LastAcceptedAt *time.Time
}

// Wants reports whether it gets events of a type.
func (w *Webhook) Wants(action string) bool {
	return len(w.Types) == 0 || slices.Contains(w.Types, action)
}

// WebhookInput is what an endpoint is added with, or changed to.
type WebhookInput struct {
	Name   string
	URL    string   // at a change: empty keeps the one that there is
	Types  []string // none: all
	Inputs bool
}

// WebhookState is an endpoint with where it is.
type WebhookState struct {
	Webhook

	Owner    string     // name of the owner; empty: there is none
	Behind   int64      // entries after the cursor, of all types
	OldestAt *time.Time // of what it gets and has not got; nil: nothing
	Blocked  int        // streams
	Last     *WebhookAnswer
}

// WebhookPage is all that there is to show of an endpoint.
type WebhookPage struct {
	WebhookState

	Answers  []WebhookAnswer // newest first
	Blocks   []WebhookBlock  // oldest first
	Skips    []WebhookSkip   // newest first, a page of them
	NextSkip string          // where the next page goes on; empty: there is none
}

// WebhookAnswer is how one attempt to send an event ended.
type WebhookAnswer struct {
	At      time.Time
	Seq     int64 // of the entry; 0: a test
	Type    string
	Attempt int // from 1
	Took    time.Duration
	Class   SendClass
	Status  int    // 0: no answer came
	Body    []byte // at most 1 KiB of it
}

// WebhookBlock is a stream of events whose next one was refused.
type WebhookBlock struct {
	Stream         string         // id of the conversation or else of the request; empty: neither
	ConversationID ConversationID // if the stream is one
	ResponseID     ResponseID     // of the event that is refused, if it is about a request
	Seq            int64          // of the entry that is refused
	Type           string
	Since          time.Time // of the first attempt
	DueAt          time.Time // of the next
	Attempts       int
	Class          SendClass // of the last attempt
	Status         int
}

// WebhookSkip is an event that an admin gave up: a dead letter.
type WebhookSkip struct {
	ID         string
	Seq        int64
	Type       string
	At         time.Time
	By, Reason string
	Class      SendClass // of the last attempt
	Status     int
}

// WebhookFrom is the point from which events are sent again: an entry or a moment.
type WebhookFrom struct {
	Seq int64     // its number; 0: At says it
	At  time.Time // of the first entry that is not older
}

// WebhookReplay is what sending again from a point means.
type WebhookReplay struct {
	Seq     int64 // of the first entry
	Entries int64 // of all types, from there to the head
}

// EventType is a kind of entry that the ledger has.
type EventType struct {
	Name string // such as approval.approved
	Text string // the event, in a sentence
}

// Family is the first part of its name, such as approval.
func (t EventType) Family() string { return FamilyOf(t.Name) }

// FamilyOf is the first part of an event's name.
func FamilyOf(event string) string {
	family, _, _ := strings.Cut(event, ".")
	return family
}

// WebhookTest is the type of the event that tries an endpoint. No entry has it.
const WebhookTest = "webhook.test"

// IsEventType reports whether the ledger has entries of that name.
func IsEventType(name string) bool {
	_, found := slices.BinarySearchFunc(eventTypes, name,
		func(t EventType, name string) int { return strings.Compare(t.Name, name) })
	return found
}

// EventTypes is the list of all kinds of entries, by name: what the ledger's writers may
// append, and what endpoints may choose.
func EventTypes() []EventType { return slices.Clone(eventTypes) }

var eventTypes = []EventType{
	{"absence.begun", "A person is away from now on, and their requests go to a substitute as well."},
	{"absence.ended", "A person is back, or will not be away after all."},
	{"absence.planned", "A person said when they will be away."},
	{"agent.allowance", "The daily energy of an agent was changed."},
	{"agent.registered", "An agent was added to a person."},
	{"agents.resumed", "Agents that were stopped may work again."},
	{"agents.stopped", "An agent, or all of them, were stopped."},
	{"approval.approved", "A request was approved, or a question answered."},
	{"approval.asked_back", "A reviewer asked the agent about a request, which waits for the answer."},
	{"approval.cancelled", "A request was cancelled."},
	{"approval.escalated", "An agent asked for more attention to its request."},
	{"approval.escalated_by_rule", "A rule asked further people, because nobody had decided in time."},
	{"approval.expired", "Nobody decided a request in time."},
	{"approval.extended", "The deadline of a request was moved."},
	{"approval.hand_over_taken_back", "A request that was handed to somebody is no longer theirs."},
	{"approval.handed_over", "A request was handed to another person as well."},
	{"approval.let_through", "A call was allowed without a person."},
	{"approval.linked", "Another system's request was found to be one that the agent reported."},
	{"approval.note_added", "Somebody added a note to a request."},
	{"approval.ran", "A client reported a call that it ran without an answer; nobody approved it."},
	{"approval.refused", "Another system refused a decision; the request waits again or is over."},
	{"approval.rejected", "A request was rejected, by a person or as it came."},
	{"approval.requested", "A request waits for a person."},
	{"approval.resolved", "A request was settled elsewhere."},
	{"approval.routed", "A request goes to other people, because a group or an absence has changed."},
	{"approval.taken_back", "A decision was undone before it was the outcome."},
	{"approval.voted", "A person decided a request; the outcome follows."},
	{"approval.withdrawn", "Another system was told nothing of a decision, because it no longer counts."},
	{"call.closed", "A reported call ended."},
	{"channel.added", "A channel of notifications was added."},
	{"channel.disabled", "A channel's service said that its address is gone."},
	{"channel.removed", "A channel of notifications was removed."},
	{"channel.verified", "A channel of notifications was verified."},
	{"contents.removed", "Contents were removed; their digests stay."},
	{"conversation.archived", "A conversation was archived."},
	{"conversation.budget", "The energy budget of a conversation was changed."},
	{"conversation.described", "What follows a rejection in a conversation was changed."},
	{"conversation.opened", "A conversation was opened."},
	{"conversation.paused", "A conversation was paused."},
	{"conversation.renamed", "A conversation was renamed."},
	{"conversation.resumed", "A paused conversation goes on."},
	{"conversation.status", "The status of a conversation was changed."},
	{"conversation.unarchived", "A conversation was taken out of the archive."},
	{"grant.made", "A pre-approval was made."},
	{"grant.revoked", "A pre-approval was revoked."},
	{"group.added", "A group was added."},
	{"group.described", "What a group is for was changed."},
	{"group.joined", "A person joined a group."},
	{"group.left", "A person left a group."},
	{"group.removed", "A group was removed."},
	{"invite.made", "A link to invite somebody was made."},
	{"invite.used", "Somebody joined by an invitation."},
	{"invite.withdrawn", "A link to invite somebody was cancelled."},
	{"ledger.head", "The ledger's last entry, once a day if there is a new one: keep its number and hash."},
	{"ledger.loss_accepted", "The server was started although entries of the ledger are missing."},
	{"ledger.rows_sealed", "Rows of a database from an older version were listed, so that changes to them are found."},
	{"message.added", "A message was added to a conversation."},
	{"notification_host.allowed", "A host was allowed for notifications and webhooks."},
	{"notification_host.removed", "A host is no longer allowed for notifications and webhooks."},
	{"notifications.changed", "A person changed when they are notified."},
	{"policy.changed", "A new version of the policy was saved."},
	{"response.added", "An agent added a reply or a report to a conversation."},
	{"response.adopted", "A reported call became part of another conversation or request."},
	{"run.reported", "A run of an agent was reported."},
	{"session.closed", "A person signed out, or was signed out."},
	{"session.opened", "A person signed in."},
	{"setup_link.made", "The link for the first admin was made."},
	{"setup_link.used", "The first admin was made."},
	{"substitute.accepted", "An admin accepted a substitute for a person."},
	{"substitute.asked", "A person named a substitute, whom an admin has to accept."},
	{"substitute.removed", "A substitute was removed."},
	{"token.added", "A token was made."},
	{"token.revoked", "A token was revoked."},
	{"upstream.added", "Another system was connected."},
	{"upstream.disabled", "A connected system was disabled."},
	{"upstream.enabled", "A connected system was enabled."},
	{"upstream.key_changed", "The key for a connected system was changed."},
	{"upstream.paused", "A connected system was paused after failures."},
	{"upstream.resumed", "A connected system is asked again."},
	{"user.added", "A person was added."},
	{"user.disabled", "A person was disabled."},
	{"user.enabled", "A person was enabled."},
	{"user.password_changed", "A person's password was changed."},
	{"user.role_changed", "A person's role was changed."},
	{"user.unlocked", "A person may try to sign in again."},
	{"webhook.added", "A webhook was added."},
	{"webhook.changed", "A webhook was changed."},
	{"webhook.key_retired", "The old key of a webhook no longer signs."},
	{"webhook.key_rotated", "A webhook got a new key."},
	{"webhook.paused", "A webhook was paused, by an admin or after failures."},
	{"webhook.removed", "A webhook was removed."},
	{"webhook.replayed", "A webhook is sent earlier events again."},
	{"webhook.resumed", "A paused webhook goes on."},
	{"webhook.skipped", "An event that a webhook refused was given up."},
}
