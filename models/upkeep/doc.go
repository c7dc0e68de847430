// Package upkeep is what an installation needs beside its work: backup and restore,
// doctor (Inspect), the figures of the system page, comparing all rows with the ledger,
// removing contents (Purge) and giving space back.
//
// Upkeep works on an open store; Inspect, Backup and Restore on a data folder, whether or
// not a server has it open. Each table has one file here that says how its columns are
// proven by the ledger (rows_*.go) and which of them hold contents (purge_columns.go).
package upkeep
