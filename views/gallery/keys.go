package gallery

import (
	"countersign/views/pages/inbox"
)

func keysStates() []State {
	frame := Frame("Inbox", "/")
	frame.KeysOpen = true
	return []State{{
		Page: "keys", Name: Usual, Note: "Each key with what it does; the switches can be reached without keys",
		Component: inbox.Page(frame, inbox.New(inbox.Input{}, Now)),
	}}
}
