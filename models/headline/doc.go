// Package headline says in one sentence what a request would do.
//
// A headline never claims more than the input says. A verb is used only where tool and input
// are of a kind that is listed here, name by name and member by member; whatever else is there
// makes the call one of a tool, told by its name and its most telling members. Numbers are
// shown as they were sent. Where, on what and to which account it is done is part of the
// sentence; what it leaves out of a known kind is a list that a test holds.
//
// No text of an agent can make another headline of its own: what it wrote is quoted unless it
// is one plain word, or it comes last; and the name of a tool is quoted where it could be read
// as one of the verbs.
package headline
