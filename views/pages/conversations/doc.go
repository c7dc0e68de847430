// Package conversations holds the pages of what agents and people said: the list, one
// conversation with its history and composer, batches of calls of a run, and one call.
//
// An entry that waits holds the forms of its request, drawn by requests; the rows of what waits
// elsewhere are those of the inbox. Of a long history one page is drawn, and what grows is added
// at its end.
package conversations
