package models

import (
	"regexp"
	"strings"
	"time"
)

// Limits of groups. A request is put into the inbox of each member, one by one.
const (
	MaxGroups    = 200 // that are in use
	MaxMembers   = 200 // of one group
	MaxGroupNote = 500 // bytes
)

// Group is a named set of people: a policy may name it wherever it names a reviewer. Its
// name is what a request freezes (I12), so that it never changes.
type Group struct {
	ID        GroupID `gorm:"primaryKey"`
	Name      string  // unique among those in use
	Note      string  // what it is for
	CreatedAt time.Time
	RemovedAt *time.Time // nil: it is in use

	// Members is how many people are in it; read beside the row.
	Members int `gorm:"->"`
}

// GroupMember is that a person is in a group, or was.
type GroupMember struct {
	ID       GroupMemberID `gorm:"primaryKey"`
	GroupID  GroupID
	UserID   UserID
	JoinedAt time.Time
	LeftAt   *time.Time // nil: they are in it
}

// groupPrefix begins the name of a group where a reviewer is named.
const groupPrefix = "group:"

// GroupReviewer names a group as the policy does among reviewers.
func GroupReviewer(name string) string { return groupPrefix + name }

// GroupOf is the group that an entry of a rule's reviewers names; false: it names a person.
func GroupOf(reviewer string) (name string, ok bool) { return strings.CutPrefix(reviewer, groupPrefix) }

var groupName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckGroupName is CodeInvalid, naming the field, for what can't be the name of a group.
func CheckGroupName(field, name string) error {
	if groupName.MatchString(name) {
		return nil
	}
	return Invalid(field, "%s", GroupNameWanted)
}

// CheckGroupNote is CodeInvalid, naming the field, for what can't say what a group is for.
// It is edited as it is written, so that nothing in it may be hidden.
func CheckGroupNote(field, note string) error {
	if _, hidden := Reveal(note, false); hidden.Any() {
		return Invalid(field, "must not contain invisible characters: it has %s", hidden)
	}
	return CheckText(field, note, MaxGroupNote)
}

// GroupNameWanted says what the name of a group looks like.
const GroupNameWanted = "must be 1 to 63 lower-case letters, digits, dots, hyphens or underscores, and begin with a letter or digit, such as finance"
