package pages

import (
	"fmt"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
)

// deskFields are what the document says of how requests are decided, in words.
func deskFields(d policy.Document) []PolicyField {
	grants := "Owners and admins may allow further calls like one that they look at."
	if !d.GrantsEnabled {
		grants = "Nobody may allow calls ahead, and what was allowed ahead does not count."
	}
	return []PolicyField{
		{"undo_seconds", d.UndoSeconds.String(), undoText(d.UndoSeconds)},
		{"max_pause_minutes", strconv.Itoa(d.MaxPauseMinutes), "How long a question to the agent may stop the clock of a request."},
		{"grants_enabled", strconv.FormatBool(d.GrantsEnabled), grants},
		{"grant_max_hours", views.Number(int64(d.GrantMaxHours)), "The longest that one grant may last."},
		{"grant_max_uses", views.Number(int64(d.GrantMaxUses)), "The most calls that one grant may cover."},
	}
}

// undoText says which approvals can be taken back, and for how long.
func undoText(u policy.UndoSeconds) string {
	var held []string
	for _, risk := range models.Risks() {
		if window := u.For(risk); window > 0 {
			held = append(held, fmt.Sprintf("%s risk for %s", risk, models.SpokenDuration(window)))
		}
	}
	if len(held) == 0 {
		return "Approvals are sent at once and can't be undone."
	}
	return "You can undo an approval before it is sent: " + strings.Join(held, ", ") + "."
}
