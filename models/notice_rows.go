package models

import "time"

// DueNotice is that a person or group is to be told of a request at a moment.
type DueNotice struct {
	ResponseID ResponseID  `gorm:"primaryKey"` // empty: the digest
	Recipient  RecipientID `gorm:"primaryKey"`
	Moment     NoticeKind  `gorm:"primaryKey"`
	DueAt      time.Time
}

// TableName is the table of due notices.
func (DueNotice) TableName() string { return "notices" }

// NoticeSend is a message on its way by one channel.
type NoticeSend struct {
	ID         string `gorm:"primaryKey"` // the message's, the same at each attempt
	ChannelID  ChannelID
	Kind       NoticeKind
	ResponseID ResponseID // empty: it is of no single request
	About      ChannelID  // channel_failing: the one that fails; webhook_paused: the webhook's id; ledger_head: the number of the entry that has it
	At         time.Time  // when it was put here
	DueAt      time.Time  // of the next attempt
	Attempts   int        // that were begun
}

// Notified is that a channel was told of a request.
type Notified struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	ChannelID  ChannelID  `gorm:"primaryKey"`
	FirstAt    time.Time
	Burst      bool       // only among others
	Waiting    bool       // the request is pending
	SentAt     *time.Time // when the first message about it went out; nil: not yet
}

// TableName is the table of who was told.
func (Notified) TableName() string { return "notified" }

// SeenRequest is that a person has looked at a request.
type SeenRequest struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	UserID     UserID     `gorm:"primaryKey"`
	FirstAt    time.Time
	ActiveAt   time.Time
}

// TableName is the table of who has seen what.
func (SeenRequest) TableName() string { return "seen" }

// ToldHeadline is that messages about a request may carry its headline (I12: as its rule said
// when it was asked).
type ToldHeadline struct {
	ResponseID ResponseID `gorm:"primaryKey"`
}

// TableName is the table of requests whose headline may be told.
func (ToldHeadline) TableName() string { return "told_headlines" }

// GivenAnswer is which call of a client's session has the allowing answer to a request that a
// permission prompt asked.
type GivenAnswer struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	Taker      string     // empty: none yet
}

// TableName is the table of answers that were given.
func (GivenAnswer) TableName() string { return "given_answers" }

// NotificationCode is that a code was sent, for the limits.
type NotificationCode struct {
	ID            string `gorm:"primaryKey"`
	UserID        UserID
	AddressDigest string
	At            time.Time
}

// NotificationSettingsRow is how settings are stored.
type NotificationSettingsRow struct {
	UserID                UserID `gorm:"primaryKey"`
	Moments               string // JSON: Moments by risk
	DigestAt              ClockTime
	QuietFrom, QuietTo    ClockTime
	Zone                  string
	CriticalBreaksThrough bool
}

// TableName is the table of settings.
func (NotificationSettingsRow) TableName() string { return "notification_settings" }

// Sending is a message with where it goes: what an attempt to send it needs.
type Sending struct {
	Send    NoticeSend
	Channel Channel
	Target  ChannelTarget
	Notice  Notice
}
