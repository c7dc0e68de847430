package models

import "time"

// Unanswered is what came of a request that expired: who was asked or told, and who saw it.
type Unanswered struct {
	People []UnansweredBy // the owner first, then by name; groups with channels of their own last
}

// UnansweredBy is somebody who could have answered.
type UnansweredBy struct {
	ID     RecipientID
	Name   string
	Group  bool
	Asked  bool       // it was in their inbox; else they only saw it, or a group's channel told it
	Told   []ToldBy   `gorm:"-"` // in the order of time
	SeenAt *time.Time // when they first had it before them
}

// ToldBy is one channel by which somebody was told of a request.
type ToldBy struct {
	Kind   ChannelKind
	At     time.Time
	Among  bool // only as one of many, in one message
	Failed bool // the message never went out
}

// Seen reports whether anybody had the request before them.
func (u *Unanswered) Seen() bool {
	for i := range u.People {
		if u.People[i].SeenAt != nil {
			return true
		}
	}
	return false
}
