// Package ledger keeps the append-only, hash-chained list of what happened: the audit trail, and the source of every
// stream of events.
//
// An entry says who did what to whom and when; it holds digests and outcomes, never inputs (I7). Append is the only way
// to write one, within the transaction that makes the change. The head (number and hash of the last entry) is
// remembered by the writer and stored once a commit. Each entry's hash covers its bytes and the hash before it, so that
// Verify, or anybody with an export, finds later changes.
//
// Reading is for admins, but for what other rooms ask on behalf of a person (PageIn).
package ledger
