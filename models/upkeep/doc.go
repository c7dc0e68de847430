// Package upkeep is what an installation needs beside its work: backup and restore, moving to another database (Move),
// doctor (Inspect), the figures of the system page, comparing all rows with the ledger,
// removing contents (Purge) and giving space back.
//
// Upkeep works on an open store; Inspect and Backup on an installation, whether or not a server has it open; Restore and
// Move keep servers off. models/proof says of each column how the ledger proves it (rows_*.go) and whether it holds
// contents that a purge removes (purge_*.go).
package upkeep
