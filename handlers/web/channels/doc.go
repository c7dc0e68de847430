// Package channels sets where, when and how people and groups are notified of pending requests: their channels, their
// times, and the hosts that an admin allows.
//
// The same acts serve a person and a group: Place says whose channels a form changes, and InPlace makes a handler of
// an act and a place. A channel receives only a code until it is verified. No link in a message decides anything (I4).
package channels
