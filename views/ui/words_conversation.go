package ui

import (
	"countersign/models"
	"countersign/views"
)

// ConversationWord names the status of a conversation.
func ConversationWord(s models.ConversationStatus) Word {
	switch s {
	case models.ConversationRunning:
		return Word{"running", views.ToneAccent, ""}
	case models.ConversationWaitingInput:
		return Word{"waiting for you", views.ToneWarn, "clock"}
	case models.ConversationCompleted:
		return Word{"completed", views.ToneGood, "check"}
	case models.ConversationFailed:
		return Word{"failed", views.ToneBad, "x"}
	}
	return Word{Text: string(s), Tone: views.ToneNeutral}
}
