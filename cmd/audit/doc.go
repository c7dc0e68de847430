// Package audit has the commands about the ledger: verify it, with or without the rows beside it, and export it.
//
// They only read. Verifying migrates nothing: evidence stays unchanged.
package audit
