// Package connect adds our hooks to a coding agent's settings, and takes them away again: [Command]
// and [Disconnect]. *Settings* are one file in one of several *layers*, a *connection* is the note by
// which they are restored byte for byte, and a *sample* is the call that proves that the hook answers.
//
// It claims only what it saw, writes nothing without a yes, and keeps what others wrote.
package connect
