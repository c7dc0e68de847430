package models

import "time"

// Policy is one version of the policy document, as it is kept.
type Policy struct {
	Version    int64 `gorm:"primaryKey"`
	Document   string
	AuthorID   string
	AuthorName string
	Note       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
}

// PolicyDraft is an admin's draft of the policy. It has no effect, and its document need not be valid yet.
type PolicyDraft struct {
	UserID       UserID `gorm:"primaryKey"`
	Base         int64  // the version that it began with
	Revision     int64  // counts the times that it was kept; 0: there is none
	Document     string // JSON, or the text that was typed for it
	Previous     string // what it was before, to go back to; empty: nothing
	PreviousBase int64
	ChangedAt    time.Time `gorm:"autoUpdateTime:false"`
}
