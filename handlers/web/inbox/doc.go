// Package inbox is what waits for somebody: the list, the request beside it, deciding several at once,
// and the line that says what became of one that has left.
//
// One place has one address (request.ReadPlace). A list that refetches itself says when it was
// read (asOf), so that an answer which was overtaken changes nothing. In bulk each request is
// decided by itself, with the digest that was shown, so that one that fails stops no other; what
// its line does not say must be opened first.
package inbox
