package models

import "time"

// SystemState is an admin's view of the whole: its size, growth and queues. Counts stop at StatsCap unless their own
// line says otherwise.
type SystemState struct {
	Database string // which it is, and its version
	Schema   int64  // number of the last migration

	Nodes []Node // the servers on it

	DatabaseBytes int64 // of the file
	FreeBytes     int64 // within it, for later rows
	LogBytes      int64 // write-ahead log beside it

	Head      Head
	Entries   int64 // of the ledger: exact
	Day, Week int64 // entries of the last day and the last seven: exact
	Responses int64 // exact

	People, Agents, Conversations int

	RowCheck RowCheck // of all rows with the ledger, each week

	Pending int
	Oldest  *PendingRef // the longest waiting; nil without any
	Waiters int         // callers that sleep until an approval settles: exact

	AdminOnly []PendingRef // only an admin can decide; at most StrandedMost
	// StrandedMore says that there are more than are listed.
	StrandedMore bool
}

// StrandedMost is how many of the requests that only admins can decide are listed.
const StrandedMost = 20

// PendingRef names a pending request and since when it waits.
type PendingRef struct {
	ID        ResponseID
	Kind      Kind
	ToolName  string
	AgentName string
	OwnerName string
	AskedAt   time.Time
	Deadline  time.Time
}
