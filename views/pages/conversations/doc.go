// Package conversations holds the pages of what agents and people said: the list, one conversation with its history and
// composer, batches of calls of a run, and one call.
//
// A pending entry holds the forms of its request, drawn by requests; the rows of pending requests elsewhere are those
// of the inbox. One page of a long history is drawn, and new entries are added at its end.
package conversations
