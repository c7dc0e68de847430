package models

// RevealName is RevealString of a name on one line, for surfaces that have no
// styling: where it mixes scripts or has look-alikes, that is said behind it.
func RevealName(s string) string {
	shown := RevealString(s, false)
	if note := ScriptNote(s); note != "" {
		shown += " (" + note + ")"
	}
	return shown
}

// HiddenIn is a line that says which characters of a text are not seen and were
// written out; empty if there are none.
func HiddenIn(s string) string {
	_, found := Reveal(s, true)
	if !found.Any() {
		return ""
	}
	return "Hidden characters, written out in place: " + found.String() + "."
}
