package models

import (
	"fmt"
	"time"
)

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

// NodeSilent is how long after it was last seen a node has ended, or can't write: another takes its work over.
const NodeSilent = 20 * time.Second

// Node is a server of the installation.
type Node struct {
	ID        string // it holds leases by this name
	Name      string
	Version   string
	StartedAt time.Time `gorm:"autoCreateTime:false"`
	SeenAt    time.Time // its last commit, at most a few seconds ago while it runs
	LagMS     int64     // how late it heard of the last change of another, in milliseconds

	Leases []string `gorm:"-"` // the work that it does for all
}

// Silent reports whether it was not seen for too long.
func (n *Node) Silent(now time.Time) bool { return now.Sub(n.SeenAt) >= NodeSilent }

// Wait is how an agent waits for a request at one server.
type Wait struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	NodeID     string     `gorm:"primaryKey"`
	Waits      int
	Ways       string // JSON
	Until      *time.Time
	LeftAt     *time.Time
}

// TableName is where they are.
func (*Wait) TableName() string { return "presences" }

// Move is the mark that a move leaves in a database, which no program opens as long as it is there.
type Move struct {
	ID    int64  `gorm:"primaryKey"`
	Gone  bool   // moved from here; else on the way to here
	Place string // where to, or where from
	Head  string // of the ledger that is moved
	At    time.Time
}

// Refusal says why the database is not opened, and what to do.
func (m *Move) Refusal() error {
	at := m.At.UTC().Format("2006-01-02 15:04:05Z")
	if m.Gone {
		return fmt.Errorf("this installation was moved on %s: start it at its new place, %s. To start it here all the same, without what has happened there since, run `countersign move --undo` first", at, m.Place)
	}
	return fmt.Errorf("a move to here began on %s and has not ended: run the same `countersign move` again, from %s", at, m.Place)
}
