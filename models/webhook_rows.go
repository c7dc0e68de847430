package models

import "time"

// WebhookTarget is where an endpoint's events go, and with which keys they are signed: stored sealed. The first key is
// the current one; a second one is the one before.
type WebhookTarget struct {
	URL  string   `json:"url"`
	Keys []string `json:"keys"` // whsec_…
}

// WebhookSecret is the part of an endpoint's row that people never read.
type WebhookSecret struct {
	ID           WebhookID  `gorm:"primaryKey"`
	RemovedAt    *time.Time // nil: it is in use
	TargetSealed []byte
	PausedClass  SendClass // of the last attempt before the worker paused it
	Position     int64     // counts what moved the cursor and the blocks beside the worker
	Answers      int64     // how many there were
}

// TableName is the table of endpoints: it is the rest of the same row.
func (WebhookSecret) TableName() string { return "webhooks" }

// WebhookBlockRow is how a blocked stream is stored.
type WebhookBlockRow struct {
	WebhookID      WebhookID `gorm:"primaryKey"`
	Stream         string    `gorm:"primaryKey"`
	ConversationID ConversationID
	ResponseID     ResponseID
	NextSeq        int64
	Type           string
	Since, DueAt   time.Time
	Attempts       int
	Class          SendClass
	Status         int
}

// TableName is the table of blocked streams.
func (WebhookBlockRow) TableName() string { return "webhook_blocks" }

// WebhookSkipRow is how a dead letter is stored.
type WebhookSkipRow struct {
	ID        string `gorm:"primaryKey"`
	WebhookID WebhookID
	Seq       int64
	Type      string
	At        time.Time
	ByID      UserID
	ByName    string
	Reason    string
	Class     SendClass
	Status    int
}

// TableName is the table of dead letters.
func (WebhookSkipRow) TableName() string { return "webhook_skipped" }

// WebhookAnswerRow is how an answer is stored.
type WebhookAnswerRow struct {
	WebhookID WebhookID `gorm:"primaryKey"`
	Slot      int64     `gorm:"primaryKey"`
	Number    int64
	At        time.Time
	Seq       int64
	Type      string
	Attempt   int
	MS        int64 `gorm:"column:ms"`
	Class     SendClass
	Status    int
	Body      []byte
}

// TableName is the table of answers.
func (WebhookAnswerRow) TableName() string { return "webhook_answers" }
