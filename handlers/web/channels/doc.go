// Package channels is where, when and how people and groups are told of what waits: their channels,
// the times they set, and the hosts that an admin allows.
//
// The same acts serve a person and a group: Place says whose channels a form is about, and InPlace
// makes a handler of an act and a place. A channel gets nothing but a code until it is verified.
// No link in a message decides anything (I4).
package channels
