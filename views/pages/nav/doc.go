// Package nav holds the pages that lead elsewhere: the palette's list of places, agents,
// conversations and requests (Go), the menu of narrow screens, the page without a connection,
// and the Failure, which says what went wrong and what to do next.
package nav
