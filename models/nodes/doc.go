// Package nodes keeps what the servers of one installation have to know of each other: which there are, who does the work
// that only one may do, and where agents wait.
//
// A node says each few seconds that it is there (Beat), and takes its row away when it ends (Leave). One that is not seen
// for models.NodeSilent counts as gone; after a day its row goes too. A lease is the right to do what one server does at
// a time: its holder renews it, and every write under it checks it (Holds). On SQLite a lock tells at once that the
// holder has ended, elsewhere the lease's time does.
//
// None of it is a change in the sense of I7: it is bookkeeping, without entries in the ledger.
package nodes
