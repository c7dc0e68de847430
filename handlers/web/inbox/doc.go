// Package inbox shows the requests that wait for a person: the list, the request beside it, bulk decisions, and a line
// for each request that has left the list.
//
// One place has one address (request.ReadPlace). A list that refetches itself carries the time of its read (asOf), so
// that a page ignores an older answer. A bulk decision decides each request separately, with the digest that was
// shown, so that one that fails stops no other. A request whose line does not show all of it must be opened first.
package inbox
