// Package inbox holds the pages of what waits for somebody: the list with its groups, filters and
// rows, the detail beside it, which is the card of requests, and deciding several at once.
//
// Rows fold into a group only where they are alike, and what must be looked at by itself
// (LookFirst) is in no group and not decided in bulk. The list refetches itself by the names of
// what changed; a form that is half filled in is never replaced.
package inbox
