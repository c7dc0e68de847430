// Package live is the one stream of a page. It tells the names of what changed, only those that
// concern its reader, and never content: elements read themselves again, with the rights that
// their reader has then.
//
// A stream begins with what happened since its page was made (Mark), merges what comes within a
// moment, and ends within a second when its session does. Whether a conversation may be heard of
// is judged at each event, for a person may lose the right to it while the page is open.
package live
