package models

import (
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Typed ids: UUIDs in lower case. Those made here are UUIDv7; agents choose the
// ids of conversations and responses too, so that these do not sort by time.
type (
	// UserID names a person.
	UserID string
	// AgentID names an agent.
	AgentID string
	// TokenID names a bearer token; it is not its secret.
	TokenID string
	// SessionID names a signed-in browser; it is not its cookie.
	SessionID string
	// ConversationID names a conversation.
	ConversationID string
	// ResponseID names a response and its approval: the API's approvalId.
	ResponseID string
	// VoteID names a vote.
	VoteID string
	// MessageID names a message.
	MessageID string
	// NoteID names a note on a request.
	NoteID string
	// GrantID names a grant.
	GrantID string
	// StopID names a Stop.
	StopID string
	// GroupID names a Group, also one whose name was used again.
	GroupID string
	// SubstituteID names a Substitute.
	SubstituteID string
	// HandOverID names a HandOver.
	HandOverID string
	// AbsenceID names an Absence.
	AbsenceID string
	// GroupMemberID names a GroupMember.
	GroupMemberID string
)

// NewID makes a fresh UUIDv7 of the wanted type.
func NewID[T ~string]() T { return T(uuid.Must(uuid.NewV7()).String()) }

// ParseID reads a UUID in its 36-character form and folds it to lower case; the
// error names the field.
func ParseID[T ~string](field, s string) (T, error) {
	if len(s) != 36 {
		return "", Invalid(field, "must be a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057")
	}
	if _, err := uuid.Parse(s); err != nil {
		return "", Invalid(field, "must be a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057")
	}
	return T(strings.ToLower(s)), nil
}

// DerivedID is the n-th id that is made of another: always the same one. A text that is no id
// is returned as it was, to be refused where it is read.
func DerivedID(id string, n int) string {
	from, err := uuid.Parse(id)
	if err != nil {
		return id
	}
	return uuid.NewSHA1(from, []byte(strconv.Itoa(n))).String()
}
