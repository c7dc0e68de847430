// Package live is the one stream of a page. It sends the names of what changed, only those that concern its reader,
// and never content: elements refetch themselves, with the rights that their reader has then.
//
// A stream begins with the events since its page was made (Mark), merges events that arrive within a moment, and ends
// within a second when its session does. It checks at each event whether the reader may see the conversation, for a
// person may lose that right while the page is open.
package live
