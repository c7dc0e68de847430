// Package upkeep is what an installation needs beside its work: backup and restore,
// doctor (Inspect), the figures of the system page, comparing all rows with the ledger,
// removing contents (Purge) and giving space back.
//
// Upkeep works on an open store; Inspect, Backup and Restore on a data folder, whether or
// not a server has it open. columns_list.go and columns_*.go say of each column how the ledger proves it
// (rows_*.go) and whether it holds contents that a purge removes (purge_*.go).
package upkeep
