package conversations

import (
	"maps"
	"slices"
	"strings"

	"countersign/models"
	"countersign/views"
)

// SayForm is the message that a person had written, with its errors by field: content, or "" for all.
type SayForm struct {
	Sent    bool // the message is as sent, not as the form begins
	Content string
	Errors  map[string]string
}

// Composer is the form at the end of a conversation: it sends words. A pending request is decided on its card, and the
// budget is changed in its popover.
type Composer struct {
	URL, NoteURL, Topic string
	Label               string
	Note                string // what becomes of a message
	Form                SayForm
}

// NewComposer makes the composer of a conversation.
func NewComposer(c *models.ConversationView, form SayForm) Composer {
	return Composer{
		URL: views.SayURL(c.ID), NoteURL: views.ConversationPartURL(c.ID, "note"), Topic: views.ConversationTopic(c.ID),
		Label: "Message to " + models.RevealString(c.AgentName, false), Note: messageNote(c), Form: form,
	}
}

// messageNote says what becomes of a message; empty: the agent reads it at once.
func messageNote(c *models.ConversationView) string {
	switch {
	case c.PausedAt != nil:
		return "Your message waits until the conversation resumes. Decisions take effect at once."
	case !c.BuiltIn:
		return "Your message waits here until the agent fetches it."
	case c.Status == models.ConversationFailed:
		return "Your message restarts the conversation."
	case c.Status == models.ConversationCompleted:
		return "Your message reopens the conversation."
	}
	return ""
}

// otherErrors are the errors beside that of the message.
func (v Composer) otherErrors() string { return errorsBut(v.Form.Errors, "content") }

// NewConversationForm begins a conversation.
type NewConversationForm struct {
	Content, Budget string
	Errors          map[string]string
}

func (f NewConversationForm) otherErrors() string { return errorsBut(f.Errors, "content", "budget") }

// errorsBut are the texts of all errors, in the order of their fields, but those that
// are shown at a field.
func errorsBut(errors map[string]string, names ...string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		if !slices.Contains(names, name) {
			out = append(out, errors[name])
		}
	}
	return strings.Join(out, " ")
}
