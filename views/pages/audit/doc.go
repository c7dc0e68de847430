// Package audit holds the pages of what happened: the trail of one request or conversation, on screen and on paper, the
// history of decisions, the whole ledger with its entries, and the state of the chain.
//
// Entries hold digests and outcomes, never inputs (I7).
package audit
