package models

import (
	"slices"
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

	Owner      string     // name of the owner; empty: there is none
	Behind     int64      // entries after the cursor, of all types
	OldestAt   *time.Time // of what it gets and has not got; nil: nothing
	BlockCount int        // streams
	Last       *WebhookAnswer
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

// WebhookTest is the type of the event that tries an endpoint. No entry has it.
const WebhookTest = "webhook.test"
