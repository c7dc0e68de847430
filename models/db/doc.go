// Package db is the kernel of the data layer: one SQLite file, one writer, many readers. It is the only package that
// knows a driver or a dialect of SQL, and it knows nothing of the rows' meaning: the rooms above it (ledger, people,
// store, upkeep) declare that in a Room, which they register before the first write.
//
// A change is a function that DB.Write runs in a transaction, as one of those that have queued up meanwhile: they share
// a commit, so that they share its fsync (I2). It gets a Tx: its time, prepared statements, GORM, and functions to run
// after the commit. A read uses DB.Reads, or DB.Gorm; it never waits for a writer.
//
// The rows of a table are defined once, as a struct in models; RowOf reads GORM's schema of it, from which the lists of
// columns, the places they are scanned into and the INSERTs follow. A list with pages is a List: a declaration of the
// indexes along which its keys are walked, of their order, and of the rows.
//
// Whatever SQLite says in its own way has a name here: dialect.go, hints.go.
package db
