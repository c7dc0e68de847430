package models

import (
	"strings"

	"github.com/google/uuid"
)

// Typed ids: all are UUIDv7 in lower case, so that they sort by creation. A
// ResponseID may be any UUID, since agents choose their own approvalId.
type (
	UserID         string
	AgentID        string
	TokenID        string
	SessionID      string
	ConversationID string
	ResponseID     string
	VoteID         string
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
