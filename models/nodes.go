package models

import "time"

// A node that was not seen for so long has ended, or can't write: another takes its work over.
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
