// Package agentsettings edits the settings file of a coding agent as text: it adds hooks
// and takes them away again, and keeps every other byte, comments included. What it cannot
// read whole it refuses.
package agentsettings
