// Package inbox holds the pages of a person's pending requests: the list with its groups, filters and rows, the detail
// beside it, which is the card of requests, and deciding several at once.
//
// Rows form a group only where they are alike, and a request that needs a look of its own (LookFirst) is in no group
// and not decided in bulk. The list refetches itself by the names of the changes; a form that is half filled in is
// never replaced.
package inbox
